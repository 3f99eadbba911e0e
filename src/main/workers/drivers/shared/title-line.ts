import type { Redactor } from '../../types.ts'

const TITLE_CHARS = 200

/**
 * What a tool call goes by, or a session: the first line of what it does, exact but for registered secrets, cut where it is long or goes
 * on. What the cut leaves of a secret is left out.
 */
export function titleLine(text: string, redactor: Pick<Redactor, 'exact' | 'beginning'>): string {
  const said = text.trim()
  const lineBreak = said.indexOf('\n')
  const end = Math.min(lineBreak === -1 ? said.length : lineBreak, TITLE_CHARS)
  if (end === said.length) return redactor.exact(said)
  return `${redactor.beginning(said.slice(0, end)).trimEnd().toWellFormed()} …`
}
