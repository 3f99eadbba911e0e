import { createTestRuntime, quiet } from '../main/runtime/support/runtime.ts'
import { createTempDir } from '../support/dir.ts'
import { openBare, quantile, timed, timedAsync } from './compare.ts'
import { median } from './types.ts'
import type { Benchmark, Figure } from './types.ts'

const ROUNDS = 5
const ADMISSIONS = 60

/** A prompt from the call until it is on disk, over the two bare transactions that it stands for. */
export const admission: Benchmark = {
  name: 'runtime-admission',
  group: 'runtime',
  how: `An admission (lookup, snapshot, lease, intent, run, turn, entries, events) over two bare transactions of 1 and 8 rows, ${ROUNDS} alternating rounds of ${ADMISSIONS} in one process. The agent is a fake that accepts at once, and not counted.`,
  async run() {
    await using t = await createTestRuntime()
    using dir = createTempDir()
    const db = openBare(dir.at('raw.db'))
    db.exec('CREATE TABLE rows (id INTEGER PRIMARY KEY, session_id TEXT NOT NULL, body TEXT NOT NULL) STRICT')
    const insert = db.prepare('INSERT INTO rows (session_id, body) VALUES (?, ?)')
    const body = JSON.stringify({ text: 'x'.repeat(300) })
    const write = db.transaction((count: number) => {
      for (let n = 0; n < count; n++) insert.run(t.session.id, body)
    })
    const raw = (): number =>
      timed(() => {
        write(1)
        write(8)
      })
    const ours = async (): Promise<number> => {
      const { id } = await t.runtime.sessions.create({ agentId: 'claude', workDir: t.dir, createdVia: 'desktop' })
      const ms = await timedAsync(() => t.submit({ sessionId: id, key: id }))
      await quiet()
      t.executor.last().end()
      await quiet()
      return ms
    }
    const middles: number[] = []
    const tails: number[] = []
    for (let round = 0; round <= ROUNDS; round++) {
      const [mine, bare]: [number[], number[]] = [[], []]
      for (let n = 0; n < ADMISSIONS; n++) {
        if (n % 2 === 0) mine.push(await ours())
        bare.push(raw())
        if (n % 2 === 1) mine.push(await ours())
      }
      // The first round warms both up.
      if (round === 0) continue
      middles.push(median(mine) / median(bare))
      tails.push(quantile(mine, 0.95) / quantile(bare, 0.95))
    }
    db.close()
    return [atMost('admission, p50', middles, 3), atMost('admission, p95', tails, 4)]
  },
}

function atMost(name: string, samples: readonly number[], times: number): Figure {
  return { name, unit: 'times', value: median(samples), samples, target: { kind: 'at_most', value: times } }
}
