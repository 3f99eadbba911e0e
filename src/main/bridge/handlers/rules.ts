import type { RuleView } from '../../../shared/bridge/index.ts'
import type { ruleProcedures } from '../../../shared/bridge/rules.ts'
import type { Runtime } from '../../runtime/index.ts'
import type { HandlersOf } from '../types.ts'
import { titleOf } from '../views.ts'

export function ruleHandlers({ runtime }: { runtime: Runtime }): HandlersOf<typeof ruleProcedures> {
  return {
    'rules.list': () => ({ rules: ruleViews(runtime) }),
    'rules.delete': async ({ ruleId }) => ({ deleted: await runtime.rules.delete(ruleId) }),
  }
}

export function ruleViews(runtime: Runtime): RuleView[] {
  return runtime.rules.list().map(({ sessionId, ...rule }) => ({
    ...rule,
    sessionId,
    scope: sessionId === null ? 'project' : 'session',
    sessionTitle: sessionId === null ? null : titleOf(runtime, sessionId),
  }))
}
