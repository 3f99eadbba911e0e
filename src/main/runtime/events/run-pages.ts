import type { SessionEvent } from '../../../shared/events.ts'
import { createPace } from '../../platform/index.ts'
import type { RuntimeContext } from '../context.ts'

const PAGE_EVENTS = 500
const PAGE_BYTES = 512 * 1024

/** All that the log has of a run, in parts: the longest of runs keeps nobody waiting. */
export async function* pagesOfRun(
  { clock, tables }: Pick<RuntimeContext, 'clock' | 'tables'>,
  runId: string,
): AsyncGenerator<readonly SessionEvent[], void, undefined> {
  const pace = createPace(clock)
  for (let afterSeq = 0; ;) {
    const events = tables.events.pageOfRun({ runId, afterSeq, limit: PAGE_EVENTS, maxBytes: PAGE_BYTES })
    const last = events.at(-1)
    if (last === undefined) return
    yield events
    afterSeq = last.seq
    await pace()
  }
}
