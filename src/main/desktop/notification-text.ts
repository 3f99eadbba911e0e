import type { DecisionView, DecisionOutcome } from '../../shared/bridge/index.ts'
import { assertNever } from '../../shared/errors.ts'
import { revealText } from '../../shared/reveal.ts'

/** So much of a command leaves for the system's own notification centre, and no content of a file. */
export const BODY_CHARS = 120
export const TITLE_CHARS = 60

/** What stands before the command's name: its value is environment, and stays here. */
const ASSIGNMENTS = /^(?:\s*[A-Za-z_]\w*=(?:"[^"]*"|'[^']*'|[^\s"'])*\s+)+/

/** What the agent wants, in one short line. */
export function decisionLine(decision: DecisionView): string {
  const { action } = decision
  if (decision.kind === 'question') return readable(decision.title)
  switch (action.kind) {
    case 'command':
      return readable(withoutEnvironment(action.command))
    case 'edit': {
      const [first] = action.changes
      if (first === undefined) return readable(decision.title)
      const more = action.changes.length > 1 ? ` and ${action.changes.length - 1} more` : ''
      return `Edit ${shortened(readable(first.path), BODY_CHARS - 20)}${more}`
    }
    case 'mcp':
      return readable(`Use ${action.tool} of ${action.server}`)
    case 'other':
      return readable(decision.title)
    default:
      return assertNever(action)
  }
}

export function decisionTitle({ kind, sessionTitle }: DecisionView): string {
  const asks = kind === 'question' ? 'asks you' : 'wants to go on'
  return `${shortened(readable(sessionTitle), TITLE_CHARS)} ${asks}`
}

/** Why a button of a notification did nothing. */
export function settledLine(outcome: Exclude<DecisionOutcome, { kind: 'resolved' }>): string {
  if (outcome.kind === 'closed') return 'It is no longer waiting for an answer.'
  const allowed = 'option' in outcome.answer && outcome.answer.option.startsWith('allow')
  const what = 'option' in outcome.answer ? (allowed ? 'Allowed' : 'Denied') : 'Answered'
  return `${what} before, ${WHERE[outcome.by.via]}.`
}

const WHERE: Readonly<Record<Extract<DecisionOutcome, { kind: 'already_resolved' }>['by']['via'], string>> = {
  window: 'in a window',
  browser: 'in a browser',
  notification: 'by a notification',
  tray: 'in the tray',
  cli: 'in a terminal',
  acp: 'in another app',
  policy: 'by a rule',
  recovery: 'after a restart',
  agent: 'by the agent',
}

/** At most so many characters; an ellipsis stands for a lost end. */
export function shortened(text: string, chars: number): string {
  const letters = Array.from(text)
  return letters.length <= chars ? text : `${letters.slice(0, chars - 1).join('')}…`
}

export function readable(text: string): string {
  return revealText(text.replace(/\s*\n\s*/g, ' ⏎ ').replaceAll('\t', ' ')).trim()
}

const withoutEnvironment = (command: string): string =>
  command.replace(ASSIGNMENTS, (text) => text.replace(/=(?:"[^"]*"|'[^']*'|[^\s"'])*/g, '=…'))
