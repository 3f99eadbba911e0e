/** What is written into Codex's config: edits of its text. */
import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../../../shared/errors.ts'
import type { Splice } from '../router/splices.ts'
import {
  blockPieces,
  holdsForeignWords,
  isBlank,
  isOurTable,
  isOurUrl,
  isUnclosed,
  markers,
  plain,
  rootEntry,
  tableIn,
} from './codex-config.ts'
import type { Read } from './codex-config.ts'
import { blockLines, LINE_MARK, PROVIDER_ID, tableOf, urlOf } from './codex-words.ts'
import { beforeEol, BOM, dominantEol, lineEnd } from './text.ts'
import type { TomlEntry } from './toml-spans.ts'
import type { Original, Target, Written } from './types.ts'

export interface Plan {
  readonly splices: readonly Splice[]
  readonly originals: readonly Original[]
  readonly addedFinalEol: boolean
}

export function planUrl(config: Read, target: Target, written: Written | null): Plan {
  const { text, value, spans } = config
  const eol = dominantEol(text)
  const wanted = JSON.stringify(urlOf(target))
  const splices: Splice[] = []
  const originals: Original[] = []
  const entry = rootEntry(spans, 'openai_base_url')
  const wasInserted = knownOriginal(written, 'openai_base_url')?.present !== true
  const line = `openai_base_url = ${wanted} ${LINE_MARK}`
  let addedFinalEol = written?.addedFinalEol ?? false
  if (entry === null) {
    originals.push(knownOriginal(written, 'openai_base_url') ?? { key: 'openai_base_url', present: false })
    const at = topOf(text)
    if (at === text.length && lacksEol(text)) {
      splices.push({ start: at, end: at, text: eol })
      addedFinalEol = true
    }
    splices.push({ start: at, end: at, text: `${line}${eol}` })
  } else if (isOurUrl(value['openai_base_url'])) {
    originals.push(knownOriginal(written, 'openai_base_url') ?? { key: 'openai_base_url', present: false })
    const marked = text.slice(entry.value.end, lineEnd(text, entry.value.end)).includes(PROVIDER_ID)
    if (wasInserted && !marked)
      splices.push({ ...entry.value, text: `${wanted} ${LINE_MARK}` }, ...dropTrailing(text, entry))
    else if (text.slice(entry.value.start, entry.value.end) !== wanted) splices.push({ ...entry.value, text: wanted })
  } else {
    const { start, end } = entry.value
    originals.push({ key: 'openai_base_url', present: true, text: text.slice(start, end) })
    splices.push({ start, end, text: wanted })
  }
  const provider = rootEntry(spans, 'model_provider')
  if (provider !== null && value['model_provider'] !== 'openai') {
    const { start, end } = provider.value
    originals.push({ key: 'model_provider', present: true, text: text.slice(start, end) })
    splices.push({ start, end, text: '"openai"' })
  } else {
    const known = knownOriginal(written, 'model_provider')
    if (known !== null) originals.push(known)
  }
  return { splices, originals, addedFinalEol }
}

/** A comment behind our own value would end up behind our mark. */
export function dropTrailing(text: string, entry: TomlEntry): readonly Splice[] {
  const end = beforeEol(text, lineEnd(text, entry.value.end))
  const rest = text.slice(entry.value.end, end)
  return rest.trim() === '' && rest !== '' ? [{ start: entry.value.end, end, text: '' }] : []
}

export function planTable(config: Read, target: Target, written: Written | null): Plan {
  const { text, value, spans } = config
  demandRoom(config, written)
  const eol = dominantEol(text)
  const splices: Splice[] = []
  const table = tableIn(value)
  const [first, ...others] = blockPieces(config)
  const isNew = first === undefined
  const needsEol = isNew && lacksEol(text)
  if (needsEol) splices.push({ start: text.length, end: text.length, text: eol })
  const original = planProviderLine(config, splices, { eol, written })
  const block = blockLines(target).join(eol) + eol
  if (isNew) splices.push({ start: text.length, end: text.length, text: eol + block })
  else if (!isWhole(config) || !isDeepStrictEqual(plain(table), tableOf(target))) {
    // In the place where it stands.
    splices.push({ start: first.start, end: first.start, text: block })
    for (const { start, end } of [first, ...others]) splices.push({ start, end, text: '' })
  }
  const addedFinalEol = needsEol || (!isNew && written?.addedFinalEol === true)
  return { splices, originals: [original], addedFinalEol }

  function isWhole(of: Read): boolean {
    return table !== null && isOurTable(table) && !holdsForeignWords(of) && markers(text, spans).length === 2
  }
}

export function planProviderLine(
  { text, value, spans }: Read,
  splices: Splice[],
  { eol, written }: { eol: string; written: Written | null },
): Original {
  const key = 'model_provider'
  const token = JSON.stringify(PROVIDER_ID)
  const entry = rootEntry(spans, key)
  const known = knownOriginal(written, key) ?? { key, present: false }
  if (entry === null) {
    const at = topOf(text)
    splices.push({ start: at, end: at, text: `${key} = ${token}${eol}` })
    return known
  }
  if (value[key] === PROVIDER_ID) return known
  const { start, end } = entry.value
  splices.push({ start, end, text: token })
  return { key, present: true, text: text.slice(start, end) }
}

/** Names of ours that somebody else uses. */
export function demandRoom({ text, value, spans }: Read, written: Written | null): void {
  const inline = rootEntry(spans, 'model_providers')
  if (inline !== null) {
    throw new AppError(
      'takeover_config_unsupported',
      'The config file lists its Providers in one inline table, where none can be added. Write them as [model_providers.…] first.',
    )
  }
  if (written !== null) return
  const isMarked = markers(text, spans).length > 0
  if (isUnclosed(text, spans)) throw conflict('The closing line of Wheelhouse’s block is missing. Repair it first.')
  if (tableIn(value) !== null && !isMarked) {
    throw conflict(`The config file has a Provider named ${PROVIDER_ID} of your own. Rename it first.`)
  }
}

export function conflict(message: string): AppError {
  return new AppError('takeover_conflict', message)
}

export function knownOriginal(written: Written | null, key: string): Original | null {
  return written?.originals.find((original) => original.key === key) ?? null
}

/** After a byte order mark and the directives that must come first. */
export function topOf(text: string): number {
  let at = text.startsWith(BOM) ? 1 : 0
  while (text.startsWith('#:', at)) at = lineEnd(text, at)
  return at
}

export function lacksEol(text: string): boolean {
  return !isBlank(text) && !text.endsWith('\n')
}
