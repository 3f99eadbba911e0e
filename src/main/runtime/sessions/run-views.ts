/** What a run looks like, worked out from its log in parts, so that the longest of runs keeps nobody waiting; kept once it has ended. */
import type { SessionEvent } from '../../../shared/events.ts'
import { emptyRun, extendRun, RunViewSchema } from '../../../shared/projection/index.ts'
import type { RunView } from '../../../shared/projection/index.ts'
import { isTerminal } from '../../../shared/vocabulary.ts'
import type { RuntimeContext } from '../context.ts'
import { pagesOfRun } from '../events/run-pages.ts'
import { readJson } from '../store/json.ts'
import type { RunReplay, RunRow } from '../types.ts'
import { fitTurn } from './fit-turn.ts'

/** A longer view is worked out each time: to read it back would take as long. */
const KEPT_BYTES = 700 * 1024

export interface RunViews {
  /** `kept`: it is on record. */
  of(run: RunRow): Promise<{ view: RunView; kept: boolean }>
  /** Puts on record what has ended and is short. Never rejects. */
  keep(views: readonly RunView[]): Promise<void>
  /** All that the log has of a run. */
  replay(run: RunRow): Promise<RunReplay>
}

export function createRunViews(ctx: RuntimeContext): RunViews {
  const { store, tables, log } = ctx

  /** Null: none was kept, or it cannot be read. The log has it all. */
  function readKept(runId: string): RunView | null {
    const kept = tables.records.view(runId)
    try {
      return kept === null ? null : readJson(RunViewSchema, kept.view, `run_views.view of ${runId}`)
    } catch (error) {
      log.warn('A finished view that was kept cannot be read, and is worked out anew.', { error, runId })
      return null
    }
  }

  return {
    async of(run) {
      const kept = isTerminal(run.state) ? readKept(run.id) : null
      if (kept !== null) return { view: kept, kept: true }
      let view = emptyRun(run.id)
      for await (const events of pagesOfRun(ctx, run.id)) view = extendRun(view, events)
      return { view, kept: false }
    },
    async keep(views) {
      const rows = views.flatMap((view) => {
        if (!isTerminal(view.state) || fitTurn(view, KEPT_BYTES) !== view) return []
        return [{ runId: view.runId, lastSeq: view.lastSeq, text: JSON.stringify(view) }]
      })
      if (rows.length === 0) return
      try {
        await store.writeTx(() => {
          for (const { runId, lastSeq, text } of rows) {
            // Reopened meanwhile, or deleted: then this is not its end.
            if (tables.events.lastOf(runId) === lastSeq) tables.records.putView(runId, lastSeq, text)
          }
        })
      } catch (error) {
        log.warn('Finished views could not be kept.', { error, count: rows.length })
      }
    },
    async replay({ id: runId, sessionId, state }) {
      const events: SessionEvent[] = []
      for await (const page of pagesOfRun(ctx, runId)) events.push(...page)
      return { sessionId, runId, state, terminal: isTerminal(state), events }
    },
  }
}
