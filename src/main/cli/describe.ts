import { assertNever } from '../../shared/errors.ts'
import { formText } from '../../shared/questions.ts'
import { revealText } from '../../shared/reveal.ts'
import type { EventData } from '../../shared/events.ts'

/**
 * What the agent wants, exactly, with control characters made visible: it is hostile until a person says otherwise.
 * `whole` where the event holds only a beginning and an end of it.
 */
export function describeAction(asked: EventData<'decision_requested'>, whole: string | null): string {
  const risk =
    asked.risk === null ? '' : ` (${asked.risk} risk${asked.riskReason === '' ? '' : `: ${asked.riskReason}`})`
  const cut = asked.complete
    ? ''
    : '\nThe agent did not say all of it: what is missing is not known to Wheelhouse either.'
  if (asked.action.kind === 'question') return revealText(`The agent asks you:\n${formText(asked.action.form)}`)
  return revealText(`The agent asks${risk}:\n${whole ?? actionText(asked.action)}${cut}`)
}

function actionText(action: EventData<'decision_requested'>['action']): string {
  switch (action.kind) {
    case 'command':
      return `  ${action.command.replaceAll('\n', '\n  ')}\n  in ${action.cwd}`
    case 'edit':
      return action.changes.map(changeText).join('\n')
    case 'mcp':
      return `  ${action.server}: ${action.tool} ${action.input}`
    case 'other':
      return `  ${action.text}`
    case 'question':
      return formText(action.form)
    default:
      return assertNever(action)
  }
}

function changeText(change: { path: string; oldText: string | null; newText: string | null }): string {
  const lines = (text: string | null, mark: string): string[] =>
    text === null ? [] : text.split('\n').map((line) => `  ${mark} ${line}`)
  return [`  ${change.path}`, ...lines(change.oldText, '-'), ...lines(change.newText, '+')].join('\n')
}
