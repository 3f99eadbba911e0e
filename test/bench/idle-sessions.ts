import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createTestRuntime } from '../main/runtime/support/runtime.ts'
import type { Benchmark } from './types.ts'

const SESSIONS = 200
const IDLE_MS = 60_000

/** What a session costs while nothing happens in it. */
export const idleSessions: Benchmark = {
  name: 'runtime-idle',
  group: 'runtime',
  how: `The heap of ${SESSIONS} idle sessions above that of one, after a full collection; timers that they hold, and transactions in ${IDLE_MS / 1_000} s of a clock that is moved by hand.`,
  async run() {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    await using t = await createTestRuntime()
    t.runtime.start()
    await t.clock.advance(10_000)
    const heap = (): number => {
      collect()
      return process.memoryUsage().heapUsed
    }
    const before = heap()
    const timers = t.clock.pending()
    for (let n = 1; n < SESSIONS; n++) {
      await t.runtime.sessions.create({
        agentId: 'claude',
        workDir: t.dir,
        createdVia: 'desktop',
        title: `Session ${n}`,
      })
    }
    const megabytes = Math.max(0, (heap() - before) / 1_048_576)
    const held = t.clock.pending() - timers
    const commits = t.commits()
    await t.clock.advance(IDLE_MS)
    const written = t.commits() - commits
    const none = { kind: 'at_most', value: 0 } as const
    return [
      {
        name: `heap of ${SESSIONS} sessions above one`,
        unit: 'MB',
        value: megabytes,
        samples: [megabytes],
        target: { kind: 'at_most', value: 10 },
      },
      { name: 'timers of their own', unit: 'count', value: held, samples: [held], target: none },
      { name: 'transactions in a minute', unit: 'commits', value: written, samples: [written], target: none },
    ]
  },
}
