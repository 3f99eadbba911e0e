import type { CloseOptions, ReleaseOutcome } from '../workers/index.ts'
import { closeRecord } from './open-worker.ts'
import type { LiveWorker, Parts } from './types.ts'

/** Idle workers kept for the next prompt of their session, and for how long. */
export const MAX_IDLE = 4
export const IDLE_MS = 600_000

interface Slot {
  worker: LiveWorker
  /** Null while a run has borrowed it. */
  idleSinceMs: number | null
  expiry: Disposable | null
  release: Promise<ReleaseOutcome> | null
}

export interface WorkerPool {
  /** The session's worker, whoever has it. */
  get(sessionId: string): LiveWorker | null
  /** Marks it borrowed. Null: it has none, or it is being released. */
  borrow(sessionId: string): LiveWorker | null
  /** A fresh worker, borrowed from the start. */
  add(worker: LiveWorker): void
  /** Back from a run: kept warm, or released if it is no good any more. */
  giveBack(worker: LiveWorker): void
  /** Ends the worker; every caller gets the same outcome. */
  release(worker: LiveWorker, options?: CloseOptions): Promise<ReleaseOutcome>
  /** Resolves once a release of that session's worker that is under way has ended. */
  settled(sessionId: string): Promise<void>
  list(): readonly { worker: LiveWorker; idleSinceMs: number | null; releasing: boolean }[]
  closeAll(options: CloseOptions): Promise<void>
}

/** Workers outlive their runs: a prompt on a warm one pays for no process, no handshake and no route. */
export function createWorkerPool(parts: Parts, onChange: () => void): WorkerPool {
  const { clock, log } = parts
  const slots = new Map<string, Slot>()

  const forgetTimer = (slot: Slot): void => {
    slot.expiry?.[Symbol.dispose]()
    slot.expiry = null
  }

  const release = (worker: LiveWorker, options?: CloseOptions): Promise<ReleaseOutcome> => {
    const slot = slots.get(worker.sessionId)
    if (slot?.worker !== worker) return worker.session.close(options)
    if (slot.release !== null) return slot.release
    forgetTimer(slot)
    slot.release = (async () => {
      const outcome = await worker.session.close(options)
      try {
        await closeRecord(parts, worker.workerId, outcome)
      } catch (error) {
        // The record stays open: the next start looks for the worker again, and finds nothing.
        log.error('what became of a worker could not be written', { workerId: worker.workerId, error })
      } finally {
        slots.delete(worker.sessionId)
        onChange()
      }
      return outcome
    })()
    onChange()
    return slot.release
  }

  const trim = (): void => {
    const idle = [...slots.values()].filter((slot) => slot.idleSinceMs !== null && slot.release === null)
    idle.sort((a, b) => (a.idleSinceMs ?? 0) - (b.idleSinceMs ?? 0))
    for (const slot of idle.slice(0, Math.max(0, idle.length - MAX_IDLE))) void release(slot.worker)
  }

  return {
    get: (sessionId) => slots.get(sessionId)?.worker ?? null,
    borrow(sessionId) {
      const slot = slots.get(sessionId)
      if (slot === undefined || slot.release !== null) return null
      forgetTimer(slot)
      slot.idleSinceMs = null
      onChange()
      return slot.worker
    },
    add(worker) {
      slots.set(worker.sessionId, { worker, idleSinceMs: null, expiry: null, release: null })
      // A process that goes by itself while nobody uses it is released at once, so that its record closes.
      void worker.session.exited.then(() => {
        const slot = slots.get(worker.sessionId)
        if (slot?.worker === worker && slot.idleSinceMs !== null) void release(worker)
      })
      onChange()
    },
    giveBack(worker) {
      const slot = slots.get(worker.sessionId)
      if (slot?.worker !== worker || slot.release !== null) return
      if (worker.exited()) {
        void release(worker)
        return
      }
      slot.idleSinceMs = clock.monotonicMs()
      slot.expiry = clock.after(IDLE_MS, () => void release(worker))
      trim()
      onChange()
    },
    release,
    async settled(sessionId) {
      await slots.get(sessionId)?.release
    },
    list: () =>
      [...slots.values()].map(({ worker, idleSinceMs, release }) => ({
        worker,
        idleSinceMs,
        releasing: release !== null,
      })),
    async closeAll(options) {
      await Promise.all([...slots.values()].map((slot) => release(slot.worker, options)))
    },
  }
}
