import type { runProcedures } from '../../../shared/bridge/runs.ts'
import type { Runtime } from '../../runtime/index.ts'
import { compact } from '../compact.ts'
import type { HandlersOf } from '../types.ts'
import type { Views } from '../views.ts'
import { sourceOf } from './sessions.ts'

export function runHandlers({ runtime, views }: { runtime: Runtime; views: Views }): HandlersOf<typeof runProcedures> {
  return {
    'runs.submit': async ({ sessionId, text, inputs, key, mode, failover }, { connection, signal }) => {
      const source = sourceOf(connection)
      const admission = await runtime.runs.submit(
        { sessionId, text, inputs, source, ...compact({ key, requestedMode: mode, failover }) },
        signal,
      )
      return { runId: admission.runId, state: admission.state, replayed: admission.replayed }
    },
    'runs.lookup': ({ sessionId, text, inputs, key, mode, failover }, { connection }) => {
      const found = runtime.runs.lookup({
        sessionId,
        text,
        inputs,
        key,
        source: sourceOf(connection),
        ...compact({ requestedMode: mode, failover }),
      })
      return { run: found === null ? null : { runId: found.runId, state: found.state, replayed: found.replayed } }
    },
    'runs.stop': async ({ sessionId, expectedRunId }) => {
      const { code } = await runtime.runs.stop({ sessionId, ...compact({ expectedRunId }) })
      return { code }
    },
    'runs.retry': async ({ runId, key, acknowledgeSideEffects }, { connection, signal }) => {
      const source = sourceOf(connection)
      const admission = await runtime.runs.retry({ runId, source, acknowledgeSideEffects, ...compact({ key }) }, signal)
      return { runId: admission.runId, state: admission.state, replayed: admission.replayed }
    },
    'runs.steer': ({ sessionId, expectedRunId, text, key }, { signal }) =>
      runtime.runs.steer({ sessionId, expectedRunId, text, ...compact({ key }) }, signal),
    'runs.aside': (input, { signal }) => runtime.runs.aside(input, () => undefined, signal),
    'runs.get': ({ runId }) => runtime.runs.view(runId),
    'runs.events': ({ sessionId, afterSeq, limit }) => runtime.events.read({ sessionId, afterSeq, limit }),
    'decisions.pending': () => ({ decisions: views.decisions(runtime.decisions.pending(null)) }),
    'decisions.history': ({ limit, ...query }) => {
      const found = runtime.decisions.history({ ...compact(query), limit: limit + 1 })
      const page = found.slice(0, limit)
      return { decisions: views.decisions(page), next: found.length > limit ? (page.at(-1)?.id ?? null) : null }
    },
    'decisions.resolve': ({ decisionId, answer }, { actor, signal }) =>
      runtime.decisions.resolve({ decisionId, answer, by: actor }, signal),
    'decisions.preview': ({ decisionId, offset }) => runtime.decisions.preview(decisionId, offset),
  }
}
