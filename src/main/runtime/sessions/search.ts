import { AppError } from '../../../shared/errors.ts'
import type { RuntimeContext } from '../context.ts'
import type { FoundEntry } from '../store/search.ts'
import { readable } from '../store/json.ts'
import type { SessionRow } from '../types.ts'
import { snippetOf, wordsOf } from './snippet.ts'
import type { Snippet } from './snippet.ts'

const MAX_QUERY_CHARS = 200
const MAX_WORDS = 12
const MAX_TITLES = 20
const MAX_HITS = 100
/** A page of long answers is shorter, so that none takes long. */
const PAGE_CHARS = 2 * 1024 * 1024

export interface SearchQuery {
  text: string
  /** Only in this session. */
  sessionId?: string
  /** `next` of the page before. */
  before?: number
  /** 1 to 100, 20 by default. */
  limit?: number
}

export interface SearchHit extends Omit<FoundEntry, 'n' | 'text'> {
  snippet: Snippet
}

export interface SearchPage {
  /** Sessions whose title holds the query; with the first page alone. */
  sessions: SessionRow[]
  /** What was said with all of the words in it, the last word as a beginning; newest first. */
  hits: SearchHit[]
  next: number | null
}

/** @throws AppError `input_invalid`: the query is too long. */
export type Search = (query: SearchQuery) => SearchPage

export function createSearch({ tables }: Pick<RuntimeContext, 'tables'>): Search {
  return function search({ text, sessionId, before, limit = 20 }) {
    if (text.length > MAX_QUERY_CHARS) throw new AppError('input_invalid', 'Search for fewer words.')
    const words = wordsOf(text).slice(0, MAX_WORDS)
    const wanted = Math.min(MAX_HITS, Math.max(1, Math.trunc(limit)))
    const query = { before: before ?? Number.MAX_SAFE_INTEGER, sessionId: sessionId ?? null, limit: wanted + 1 }
    const titled = before === undefined && sessionId === undefined && text.trim() !== ''
    const page: SearchPage = {
      sessions: titled
        ? readable(tables.search.titles(text.trim(), MAX_TITLES), (id) => tables.sessions.get(id)).filter(
            (session) => session !== null,
          )
        : [],
      hits: [],
      next: null,
    }
    if (words.length === 0) return page
    let chars = 0
    let last = 0
    for (const { n, text: said, ...facts } of tables.search.entries({ ...query, match: matchOf(words) })) {
      if (page.hits.length === wanted || chars > PAGE_CHARS) {
        page.next = last
        break
      }
      chars += said.length
      last = n
      page.hits.push({ ...facts, snippet: snippetOf(said, words) })
    }
    return page
  }
}

/** Every word has to be there. Quoted, so that none is an operator. */
function matchOf(words: readonly string[]): string {
  return `${words.map((word) => `"${word}"`).join(' ')}*`
}
