/** Who is live or HELD: the list of workers, and the number of them that is allowed. */
import type { Clock } from '../platform/types.ts'
import { WorkerError } from './errors.ts'
import { LIMITS } from './limits.ts'
import type { WorkerStages } from './start.ts'
import type { CloseOptions, DriverName, ReleaseOutcome, WorkerRecord } from './types.ts'

export interface Slot {
  record: WorkerRecord
  /** The conversation it has open; two workers never share one. */
  conversation: string | null
  /** Null while starting, and for one that an earlier host left behind. */
  release: ((options?: CloseOptions) => Promise<ReleaseOutcome>) | null
  /** Ends a start that is under way. */
  abort: AbortController
  /** Resolves when the start is over, whether it worked or not. */
  begun: PromiseWithResolvers<void>
}

export interface Slots extends WorkerStages {
  /** @throws WorkerError `workers_full`, `session_in_use`, `worker_unusable` (the id is taken). */
  take(asked: {
    workerId: string
    runId: string
    driver: DriverName | null
    product: string
    conversation: string | null
  }): Slot
  /** A start ended without leaving anything that could still live. */
  drop(workerId: string): void
  /** One of an earlier host that could not be proven gone. */
  keepHeld(workerId: string, outcome: Extract<ReleaseOutcome, { kind: 'held' }>): void
  get(workerId: string): Slot | undefined
  all(): readonly Slot[]
  list(): readonly WorkerRecord[]
}

export function createSlots(clock: Clock): Slots {
  const slots = new Map<string, Slot>()

  const since = (): { sinceMs: number } => ({ sinceMs: clock.nowMs() })

  const idle = (): Pick<Slot, 'release' | 'abort' | 'begun'> => ({
    release: null,
    abort: new AbortController(),
    begun: Promise.withResolvers<void>(),
  })

  function update(workerId: string, change: Partial<WorkerRecord>): void {
    const slot = slots.get(workerId)
    if (slot !== undefined) slot.record = { ...slot.record, ...change }
  }

  return {
    take({ conversation, ...asked }) {
      if (slots.has(asked.workerId)) {
        throw new WorkerError('worker_unusable', 'This worker exists already.', { started: 'never' })
      }
      if (slots.size >= LIMITS.workers) {
        throw new WorkerError('workers_full', `At most ${LIMITS.workers} agents run at once. End one first.`, {
          started: 'never',
        })
      }
      if (conversation !== null && [...slots.values()].some((slot) => slot.conversation === conversation)) {
        throw new WorkerError('session_in_use', 'Another agent has this conversation open.', { started: 'never' })
      }
      const slot: Slot = {
        record: { ...asked, process: null, state: { kind: 'starting', ...since() } },
        conversation,
        ...idle(),
      }
      slots.set(asked.workerId, slot)
      return slot
    },
    drop: (workerId) => void slots.delete(workerId),
    started: (workerId, process) => update(workerId, { process, state: { kind: 'live', ...since() } }),
    releasing: (workerId) => update(workerId, { state: { kind: 'releasing', ...since() } }),
    released(workerId, outcome) {
      if (outcome.kind === 'gone') slots.delete(workerId)
      else update(workerId, { state: { kind: 'held', reason: outcome.reason, ...since() } })
    },
    keepHeld(workerId, outcome) {
      const slot = slots.get(workerId)
      const state = { kind: 'held', reason: outcome.reason, ...since() } as const
      if (slot !== undefined) slot.record = { ...slot.record, state }
      else {
        const record = { workerId, runId: '', driver: null, product: '', process: null, state }
        slots.set(workerId, { record, conversation: null, ...idle() })
      }
    },
    get: (workerId) => slots.get(workerId),
    all: () => [...slots.values()],
    list: () => [...slots.values()].map((slot) => slot.record),
  }
}
