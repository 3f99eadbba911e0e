import type { SessionView } from '../../../shared/bridge/index.ts'
import type { RunView } from '../../../shared/projection/index.ts'
import { headMarkdown, turnMarkdown } from './markdown.ts'

const MAX_NAME_CHARS = 60

export interface ExportPage {
  filename: string
  /** In order; it stands before the text of the pages that were asked for earlier. */
  text: string
  /** What to ask for next; null: this was the beginning. */
  before: string | null
}

export interface ExportSource {
  session: SessionView
  /** Oldest first. */
  turns: readonly RunView[]
  hasEarlier: boolean
}

/**
 * One page of turns as text. JSON Lines: the session first, then each turn as the bridge tells it, one a line. The page with
 * the first turns carries the head.
 */
export function exportPage({ session, turns, hasEarlier }: ExportSource, format: 'markdown' | 'jsonl'): ExportPage {
  const markdown = format === 'markdown'
  const head = markdown ? headMarkdown(session) : line({ type: 'session', session })
  const body = turns.map((turn) => (markdown ? turnMarkdown(turn, session) : line({ type: 'turn', turn })))
  return {
    filename: `${nameOf(session.title)}.${markdown ? 'md' : 'jsonl'}`,
    text: [...(hasEarlier ? [] : [head]), ...body].join(''),
    before: hasEarlier ? (turns[0]?.runId ?? null) : null,
  }
}

const line = (value: unknown): string => `${JSON.stringify(value)}\n`

/** A title as a file name that every system takes. */
function nameOf(title: string): string {
  const name = title
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .slice(0, MAX_NAME_CHARS)
    .replace(/^-+|-+$/g, '')
    .toLowerCase()
  return name === '' ? 'session' : name
}
