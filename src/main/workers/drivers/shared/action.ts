import { assertNever } from '../../../../shared/errors.ts'
import type { PermissionAction } from '../../../../shared/vocabulary.ts'
import type { Limits } from '../../limits.ts'
import type { Redactor } from '../../types.ts'

/**
 * The action as the policy and the person will see it: exact but for registered secrets, since a pattern that blurs a
 * path or a token would have them approve something else. `complete` is false once anything was cut.
 */
export function exactAction(
  action: PermissionAction,
  redactor: Redactor,
  limits: Limits,
): { action: PermissionAction; complete: boolean } {
  let left: number = limits.actionBytes
  let complete = true
  const take = (text: string): string => {
    const exact = redactor.exact(text)
    const kept = exact.length <= left ? exact : exact.slice(0, left).toWellFormed()
    if (kept.length < exact.length) complete = false
    left -= kept.length
    return kept
  }
  const takeOrNull = (text: string | null): string | null => (text === null ? null : take(text))

  const taken = ((): PermissionAction => {
    switch (action.kind) {
      case 'command':
        return {
          kind: 'command',
          command: take(action.command),
          cwd: take(action.cwd),
          wrapper: takeOrNull(action.wrapper),
        }
      case 'edit':
        return {
          kind: 'edit',
          changes: action.changes.map(({ path, oldText, newText }) => ({
            path: take(path),
            oldText: takeOrNull(oldText),
            newText: takeOrNull(newText),
          })),
        }
      case 'mcp':
        return { kind: 'mcp', server: take(action.server), tool: take(action.tool), input: take(action.input) }
      case 'other':
        return { kind: 'other', text: take(action.text) }
      default:
        return assertNever(action)
    }
  })()
  return { action: taken, complete }
}
