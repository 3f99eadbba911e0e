import { createPace } from '../../platform/index.ts'
import type { RuntimeContext } from '../context.ts'

/** So much of a log is looked through at once. */
const WINDOW = 2_000

/** Whether a tool call of the run began and never ended. */
export async function hasOpenTool(
  { clock, tables }: Pick<RuntimeContext, 'clock' | 'tables'>,
  runId: string,
): Promise<boolean> {
  const began = new Set<string>()
  const ended = new Set<string>()
  const span = tables.events.spanOf(runId)
  if (span === null) return false
  const pace = createPace(clock)
  for (let from = span.first; from <= span.last; from += WINDOW) {
    for (const { id, finished } of tables.events.toolSteps({ runId, from, to: from + WINDOW - 1 })) {
      if (id !== null) (finished === 1 ? ended : began).add(id)
    }
    await pace()
  }
  return began.difference(ended).size > 0
}
