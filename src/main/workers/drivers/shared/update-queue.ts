import type { Clock } from '../../../platform/types.ts'
import { WorkerError } from '../../errors.ts'
import type { Update, UpdateBody } from '../../types.ts'

/** Updates for one consumer. Full: the incoming one is dropped and counted, since the agent is never paused for it. */
export interface UpdateQueue {
  push(body: UpdateBody): void
  /** What is buffered is still delivered. */
  end(): void
  /** @throws WorkerError `updates_taken` on a second call. */
  iterate(): AsyncIterable<Update>
  readonly dropped: number
}

export function createUpdateQueue(clock: Clock, capacity: number): UpdateQueue {
  const buffer: Update[] = []
  let seq = 0
  let dropped = 0
  let ended = false
  let taken = false
  let wake: (() => void) | null = null

  /** Two adjacent pieces of text, or two adjacent counts, are one. */
  function merged(body: UpdateBody): boolean {
    const last = buffer.at(-1)
    if (last === undefined) return false
    if (body.kind === 'agent_message_chunk' && last.kind === 'agent_message_chunk') {
      last.chars += body.chars
      return true
    }
    if (body.kind === 'usage' && last.kind === 'usage') {
      last.usage = body.usage
      return true
    }
    return false
  }

  async function* deliver(): AsyncGenerator<Update> {
    for (;;) {
      const next = buffer.shift()
      if (next !== undefined) yield next
      else if (ended) return
      else await new Promise<void>((resolve) => (wake = resolve))
    }
  }

  return {
    push(body) {
      if (ended || merged(body)) return
      seq += 1
      if (buffer.length >= capacity) {
        dropped += 1
        return
      }
      buffer.push({ ...body, seq, atMs: clock.nowMs() })
      wake?.()
    },
    end() {
      ended = true
      wake?.()
    },
    iterate() {
      if (taken) throw new WorkerError('updates_taken', 'The updates of this session are being read already.')
      taken = true
      return deliver()
    },
    get dropped() {
      return dropped
    },
  }
}
