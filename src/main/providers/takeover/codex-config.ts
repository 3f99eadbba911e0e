/** Codex's config as it stands: its values, its statements, and which of them are ours. */
import { isDeepStrictEqual } from 'node:util'
import { parse } from 'smol-toml'
import { BLOCK_CLOSES, BLOCK_OPENS, PROVIDER_ID, tableOf } from './codex-words.ts'
import { BOM, lineEnd, lineStart, malformed } from './text.ts'
import { findTomlSpans } from './toml-spans.ts'
import type { TomlEntry, TomlSpan, TomlSpans } from './toml-spans.ts'
import type { ProjectionKind } from './types.ts'

export type Table = Readonly<Record<string, unknown>>
export interface Marker extends TomlSpan {
  readonly opens: boolean
}

export interface Read {
  readonly text: string
  readonly value: Table
  readonly spans: TomlSpans
}

/** Also where somebody mangled the key in it: nothing else on loopback begins so. */
const OUR_URL = /^http:\/\/127\.0\.0\.1:\d+\/k\//

export function read(text: string, path = 'config.toml'): Read {
  const toml = text.startsWith(BOM) ? text.slice(1) : text
  let value: Table
  try {
    value = parse(toml, { integersAsBigInt: 'asNeeded' })
  } catch (cause) {
    const [line = 'it is no TOML'] = cause instanceof Error ? cause.message.split('\n') : []
    throw malformed(path, line, cause)
  }
  return { text, value, spans: findTomlSpans(text) }
}

export function detect(text: string): ProjectionKind | null {
  const { value, spans } = read(text)
  const table = tableIn(value)
  if (markers(text, spans).length > 0 || (table !== null && value['model_provider'] === PROVIDER_ID))
    return 'provider_table'
  return isOurUrl(value['openai_base_url']) ? 'base_url' : null
}

export function isOurUrl(value: unknown): boolean {
  return typeof value === 'string' && OUR_URL.test(value)
}

export function tableIn(value: Table): Table | null {
  const tables = value['model_providers']
  const table = isTable(tables) ? tables[PROVIDER_ID] : undefined
  return isTable(table) ? table : null
}

export function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}

export function rootEntry(spans: TomlSpans, key: string): TomlEntry | null {
  return spans.entries.find(({ path, header }) => header === null && path.length === 1 && path[0] === key) ?? null
}

export function markers(text: string, spans: TomlSpans): readonly Marker[] {
  return spans.comments.flatMap(({ start, end }): Marker[] => {
    const comment = text.slice(start, end)
    if (comment.startsWith(BLOCK_OPENS)) return [{ start, end, opens: true }]
    return comment.startsWith(BLOCK_CLOSES) ? [{ start, end, opens: false }] : []
  })
}

export function isUnclosed(text: string, spans: TomlSpans): boolean {
  const found = markers(text, spans)
  return found.some(({ opens }) => opens) && !found.some(({ opens }) => !opens)
}

/** Ours in meaning, with whatever port and key. */
export function isOurTable(table: Table): boolean {
  const headers = table['http_headers']
  const key = isTable(headers) ? headers['x-wheelhouse-gateway-key'] : undefined
  const address = /^http:\/\/(127\.0\.0\.1:\d+)\/v1$/.exec(String(table['base_url']))?.[1]
  if (typeof key !== 'string' || !key.startsWith('whg_') || address === undefined) return false
  return [false, true].some((keepLogin) => isDeepStrictEqual(plain(table), tableOf({ address, key, keepLogin })))
}

export function plain(value: unknown): unknown {
  if (!isTable(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]))
}

/** The headers of our table and of tables inside it, with their entries. */
export function tableSpans({ spans }: Read): readonly TomlSpan[] {
  const ours = spans.headers.filter(({ path }) => path[0] === 'model_providers' && path[1] === PROVIDER_ID)
  const entries = spans.entries.filter(({ header }) => header !== null && ours.includes(header))
  return [...ours, ...entries.map(({ key, value }) => ({ start: key.start, end: value.end }))].toSorted(
    (a, b) => a.start - b.start,
  )
}

/** The person wrote a comment between the lines of our table, or behind one. */
export function holdsForeignWords(config: Read): boolean {
  const { text, spans } = config
  const parts = tableSpans(config)
  const [first] = parts
  const last = parts.at(-1)
  if (first === undefined || last === undefined) return false
  const behind = parts.some(({ end }) => text.slice(end, lineEnd(text, end)).trim() !== '')
  const between = spans.comments.some(
    ({ start, end }) => start > first.start && start < last.start && !text.slice(start, end).startsWith(BLOCK_CLOSES),
  )
  return behind || between
}

/** Whole lines, in order. */
export function blockPieces(config: Read): readonly TomlSpan[] {
  const { text, spans } = config
  return [...markers(text, spans), ...tableSpans(config)]
    .map(({ start, end }) => ({ start: lineStart(text, start), end: lineEnd(text, end) }))
    .toSorted((a, b) => a.start - b.start)
}

export function isBlank(text: string): boolean {
  return text === '' || text === BOM
}
