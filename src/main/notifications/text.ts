import type { DecisionView, DecisionOutcome } from '../../shared/bridge/index.ts'
import { assertNever } from '../../shared/errors.ts'
import { revealText } from '../../shared/reveal.ts'
import { desktop } from '../../shared/strings/desktop.ts'

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
      const path = shortened(readable(first.path), BODY_CHARS - 20)
      return desktop.notifications.edit(path, action.changes.length - 1)
    }
    case 'mcp':
      return readable(desktop.notifications.use(action.tool, action.server))
    case 'other':
    case 'question':
      return readable(decision.title)
    default:
      return assertNever(action)
  }
}

export function decisionTitle({ kind, sessionTitle }: DecisionView): string {
  return desktop.notifications.asks(shortened(readable(sessionTitle), TITLE_CHARS), kind === 'question')
}

/** Why a button of a notification did nothing. */
export function settledLine(outcome: Exclude<DecisionOutcome, { kind: 'resolved' }>): string {
  if (outcome.kind === 'closed') return desktop.notifications.noLonger
  const { answer, by } = outcome
  if (!('option' in answer)) return desktop.notifications.before('answered', by.via)
  return desktop.notifications.before(answer.option.startsWith('allow') ? 'allowed' : 'denied', by.via)
}

/** At most so many characters; an ellipsis stands for a lost end. */
export function shortened(text: string, chars: number): string {
  const letters = Array.from(text)
  return letters.length <= chars ? text : `${letters.slice(0, chars - 1).join('')}…`
}

export function readable(text: string): string {
  // Line by line: an expression that takes the space around a break looks at a long run of it from each of its characters.
  const lines = text.split('\n').map((line) => line.trim())
  const told = lines.filter((line, at) => line !== '' || at === 0 || at === lines.length - 1)
  return revealText(told.join(' ⏎ ').replaceAll('\t', ' ')).trim()
}

const withoutEnvironment = (command: string): string =>
  command.replace(ASSIGNMENTS, (text) => text.replace(/=(?:"[^"]*"|'[^']*'|[^\s"'])*/g, '=…'))
