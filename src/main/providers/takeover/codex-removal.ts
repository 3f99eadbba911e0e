/** How what was written into Codex's config is taken back. */
import type { Splice } from '../router/splices.ts'
import { blockPieces, holdsForeignWords, isOurTable, isOurUrl, rootEntry, tableIn } from './codex-config.ts'
import type { Read } from './codex-config.ts'
import { knownOriginal } from './codex-plan.ts'
import { LINE_MARK, PROVIDER_ID } from './codex-words.ts'
import { beforeEol, lineEnd, lineStart } from './text.ts'
import type { TomlEntry, TomlSpan } from './toml-spans.ts'
import type { Original, Removed, Written } from './types.ts'

export interface Removal {
  readonly splices: readonly Splice[]
  readonly detail: Removed['detail']
  readonly left: boolean
}

export function removeUrl(config: Read, written: Written | null): Removal {
  const { value, spans, text } = config
  const splices: Splice[] = []
  const entry = rootEntry(spans, 'openai_base_url')
  let detail: Removed['detail'] = null
  if (entry !== null && isOurUrl(value['openai_base_url'])) {
    splices.push(restore(text, entry, knownOriginal(written, 'openai_base_url')))
  } else if (entry !== null) detail = 'provider_line_user_changed'
  const provider = rootEntry(spans, 'model_provider')
  const original = knownOriginal(written, 'model_provider')
  if (provider !== null && original !== null) {
    if (value['model_provider'] === 'openai') splices.push(restore(text, provider, original))
    else detail = 'provider_line_user_changed'
  }
  return { splices, detail, left: false }
}

export function removeTable(config: Read, written: Written | null, force: boolean): Removal {
  const { text, value, spans } = config
  const splices: Splice[] = []
  let detail: Removed['detail'] = null
  let left = false
  const table = tableIn(value)
  if (force || table === null || (isOurTable(table) && !holdsForeignWords(config))) {
    splices.push(...cutBlock(text, blockPieces(config)))
  } else {
    detail = 'block_user_changed'
    left = true
  }
  const entry = rootEntry(spans, 'model_provider')
  const original = knownOriginal(written, 'model_provider')
  if (entry !== null && value['model_provider'] === PROVIDER_ID) splices.push(restore(text, entry, original))
  else if (entry !== null && written !== null) detail ??= 'provider_line_user_changed'
  return { splices, detail, left }
}

/** Lines of ours, and the blank one before them. */
export function cutBlock(text: string, pieces: readonly TomlSpan[]): readonly Splice[] {
  const [first] = pieces
  if (first === undefined) return []
  const blank = beforeEol(text, first.start)
  const hasBlank = blank < first.start && lineStart(text, blank) === blank
  return [
    ...(hasBlank ? [{ start: blank, end: first.start, text: '' }] : []),
    ...pieces.map(({ start, end }) => ({ start, end, text: '' })),
  ]
}

/** Puts the value back, or takes the line away; what the person wrote behind it stays. */
export function restore(text: string, entry: TomlEntry, original: Original | null): Splice {
  if (original?.present === true && original.text !== undefined) return { ...entry.value, text: original.text }
  const start = lineStart(text, entry.key.start)
  const end = lineEnd(text, entry.value.end)
  const rest = text.slice(entry.value.end, end).trim()
  if (rest === '' || rest === LINE_MARK) return { start, end, text: '' }
  return { start: entry.key.start, end: text.indexOf('#', entry.value.end), text: '' }
}
