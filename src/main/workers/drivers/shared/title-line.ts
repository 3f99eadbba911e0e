import type { Redactor } from '../../types.ts'

const TITLE_CHARS = 200

/**
 * What a tool call goes by, or a session: the first line of what it does, exact but for registered secrets, cut where it is
 * long or goes on. What the cut leaves of a secret is left out.
 */
export function titleLine(text: string, redactor: Pick<Redactor, 'exact' | 'beginning'>): string {
  const said = text.trim()
  const line = lineOf(said)
  if (line.length === said.length) return redactor.exact(said)
  return `${redactor.beginning(line).trimEnd().toWellFormed()} …`
}

/** As much of a text as its title is made of: `titleLine` makes the same of it. What is remembered of a call is no more. */
export function titleSource(text: string): string {
  const said = text.trim()
  const line = lineOf(said)
  return line.length === said.length ? said : `${line}\n.`
}

function lineOf(said: string): string {
  const head = said.slice(0, TITLE_CHARS)
  const lineBreak = head.indexOf('\n')
  return lineBreak === -1 ? head : head.slice(0, lineBreak)
}
