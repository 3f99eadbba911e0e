import { projectRun } from '../../src/shared/projection/index.ts'
import type { SessionEvent } from '../../src/shared/events.ts'
import { createTestRuntime, quiet } from '../main/runtime/support/runtime.ts'
import { timed } from './compare.ts'
import { median } from './types.ts'
import type { Benchmark } from './types.ts'

const ROUNDS = 5
const MANY = 100_000
const PAGE = 1_000

/** The whole log of a long session, as a window that opens it reads it. */
export const reading: Benchmark = {
  name: 'runtime-reading',
  group: 'runtime',
  how: `${MANY} events read in pages of ${PAGE} and parsed, over a bare \`iterate\` of the same rows, ${ROUNDS} alternating rounds in one process; the longest single page; and the projection of the run that they are of.`,
  async run() {
    await using t = await createTestRuntime()
    const sessionId = t.session.id
    const { runId } = await t.submit()
    await quiet()
    const { headSeq } = t.runtime.sessions.get(sessionId)
    t.store.db.exec(`
      WITH RECURSIVE n(i) AS (SELECT ${headSeq} + 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MANY})
      INSERT INTO run_events (session_id, seq, run_id, type, at, data)
      SELECT '${sessionId}', i, '${runId}', 'output_text', i, json_object('messageId', 'm' || (i / 1000), 'text', 'word ' || i) FROM n;
      UPDATE sessions SET last_event_seq = ${MANY} WHERE id = '${sessionId}'`)
    const all = t.store.db.prepare(
      'SELECT session_id, seq, run_id, type, state, at, data FROM run_events WHERE session_id = ? ORDER BY seq',
    )
    const raw = (): number =>
      timed(() => {
        let count = 0
        for (const _row of all.iterate(sessionId)) count++
        if (count !== MANY) throw new Error(`${count} rows`)
      })
    const longest: number[] = []
    let events: SessionEvent[] = []
    const ours = (): number => {
      const read: SessionEvent[] = []
      let ms = 0
      let worst = 0
      const readOne = (): boolean => {
        const page = t.runtime.events.read({ sessionId, afterSeq: read.at(-1)?.seq ?? 0, limit: PAGE })
        for (const event of page.events) read.push(event)
        return page.hasMore
      }
      for (;;) {
        const began = performance.now()
        const hasMore = readOne()
        const spent = performance.now() - began
        ms += spent
        worst = Math.max(worst, spent)
        if (!hasMore) break
      }
      if (read.length !== MANY) throw new Error(`${read.length} events`)
      longest.push(worst)
      events = read
      return ms
    }
    const shares: number[] = []
    const projections: number[] = []
    for (let round = 0; round <= ROUNDS; round++) {
      const bareFirst = round % 2 === 0 ? raw() : 0
      const mine = ours()
      const bare = bareFirst === 0 ? raw() : bareFirst
      const projecting = timed(() => projectRun(runId, events))
      if (round === 0) longest.length = 0
      if (round === 0) continue
      shares.push(bare / mine)
      projections.push(projecting / mine)
    }
    return [
      {
        name: 'events read in pages, against a bare iterate',
        unit: 'times',
        value: median(shares),
        samples: shares,
        target: { kind: 'at_least', value: 0.4 },
      },
      {
        name: 'the longest page of all, at once',
        unit: 'ms',
        value: median(longest),
        samples: longest,
        target: { kind: 'at_most', value: 50 },
      },
      {
        name: 'projectRun, against the read',
        unit: 'times',
        value: median(projections),
        samples: projections,
        target: { kind: 'at_most', value: 2 },
      },
    ]
  },
}
