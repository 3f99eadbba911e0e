/** Codex's `config.toml`: one root key, or a root key and a table of our own. Pure functions over its text. */
import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../../../shared/errors.ts'
import {
  detect,
  holdsForeignWords,
  isBlank,
  isOurTable,
  isOurUrl,
  isTable,
  isUnclosed,
  markers,
  plain,
  read,
  rootEntry,
  tableIn,
} from './codex-config.ts'
import type { Read, Table } from './codex-config.ts'
import { planTable, planUrl } from './codex-plan.ts'
import { removeTable, removeUrl } from './codex-removal.ts'
import { PROVIDER_ID, tableOf, urlOf } from './codex-words.ts'
import { beforeEol, lineEnd, spliceText } from './text.ts'
import type { Finding, Original, ProjectionKind, Projector, TakeoverWarning, Target, Written } from './types.ts'

export const codexProjector: Projector = {
  client: 'codex',
  kinds: ['provider_table', 'base_url'],
  check: (text, path) => void read(text, path),
  detect,
  inspect: (text, kind, target, written) =>
    kind === 'base_url' ? inspectUrl(read(text), target, written) : inspectTable(read(text), target, written),
  apply(before, kind, target, written) {
    const config = read(before)
    const plan = kind === 'base_url' ? planUrl(config, target, written) : planTable(config, target, written)
    const after = spliceText(before, plan.splices)
    prove(before, after, kind, plan.originals)
    if (inspectAfter(after, kind, target, { ...plan, kind }).kind !== 'exact') throw unproven()
    return { ...plan, kind, after }
  },
  remove(text, written, { force = false }) {
    const kind = written?.kind ?? detect(text)
    if (kind === null) return { after: text, detail: null, left: false, empty: isBlank(text) }
    const config = read(text)
    const { splices, detail, left } =
      kind === 'base_url' ? removeUrl(config, written) : removeTable(config, written, force)
    const reachesEnd = splices.some(({ end, text: by }) => end === text.length && by === '')
    const cut = spliceText(text, splices)
    const after = reachesEnd && written?.addedFinalEol === true ? cut.slice(0, beforeEol(cut, cut.length)) : cut
    prove(text, after, kind, written?.originals ?? [])
    if (!left && detect(after) !== null) throw unproven()
    return { after, detail, left, empty: isBlank(after) }
  },
  warnings,
}

function inspectAfter(text: string, kind: ProjectionKind, target: Target, written: Written): Finding {
  return codexProjector.inspect(text, kind, target, written)
}

function inspectUrl({ text, value, spans }: Read, target: Target | null, written: Written | null): Finding {
  const now = value['openai_base_url']
  if (!isOurUrl(now)) {
    if (written === null) return { kind: 'none' }
    return drifted(now === undefined ? 'projection_missing' : 'provider_line_user_changed')
  }
  if (written === null) return drifted('state_missing')
  if (target !== null && now !== urlOf(target)) return drifted('address_changed')
  const provider = value['model_provider']
  if (provider !== undefined && provider !== 'openai') return drifted('provider_line_user_changed')
  const entry = rootEntry(spans, 'openai_base_url')
  const inserted = written.originals.find(({ key }) => key === 'openai_base_url')?.present !== true
  const marked = entry !== null && text.slice(entry.value.end, lineEnd(text, entry.value.end)).includes(PROVIDER_ID)
  return inserted && !marked ? drifted('markers_missing') : { kind: 'exact' }
}

function inspectTable({ text, value, spans }: Read, target: Target | null, written: Written | null): Finding {
  const table = tableIn(value)
  const found = markers(text, spans)
  const isChosen = value['model_provider'] === PROVIDER_ID
  if (isUnclosed(text, spans)) return drifted('marker_unclosed')
  if (written === null) {
    if (found.length > 0) return drifted('state_missing')
    return table === null ? { kind: 'none' } : { kind: 'foreign', detail: 'table_taken' }
  }
  if (table === null) return drifted('projection_missing')
  if (!isOurTable(table) || holdsForeignWords({ text, value, spans })) return drifted('block_user_changed')
  if (target !== null && !isDeepStrictEqual(plain(table), tableOf(target))) return drifted('address_changed')
  if (!isChosen) return drifted('provider_line_user_changed')
  return found.length < 2 ? drifted('markers_missing') : { kind: 'exact' }
}

function drifted(detail: Extract<Finding, { detail: unknown }>['detail']): Finding {
  return { kind: 'drifted', detail }
}

/** The two texts mean the same but for the keys that are ours. @throws AppError `takeover_projection_failed`. */
function prove(before: string, after: string, kind: ProjectionKind, originals: readonly Original[]): void {
  let proven = false
  try {
    const keys = new Set(originals.map(({ key }) => key))
    proven = isDeepStrictEqual(withoutOurs(before, kind, keys), withoutOurs(after, kind, keys))
  } catch (cause) {
    throw unproven(cause)
  }
  if (!proven) throw unproven()
}

function withoutOurs(text: string, kind: ProjectionKind, keys: ReadonlySet<string>): Table {
  const root: Record<string, unknown> = { ...read(text).value }
  if (kind === 'base_url') {
    delete root['openai_base_url']
    if (keys.has('model_provider')) delete root['model_provider']
    return root
  }
  delete root['model_provider']
  const tables = root['model_providers']
  if (!isTable(tables)) return root
  const { [PROVIDER_ID]: _ours, ...others } = tables
  if (Object.keys(others).length === 0) delete root['model_providers']
  else root['model_providers'] = others
  return root
}

function unproven(cause?: unknown): AppError {
  return new AppError(
    'takeover_projection_failed',
    'The change of the config file could not be proven harmless, so nothing was written.',
    cause === undefined ? {} : { cause },
  )
}

function warnings(text: string): readonly TakeoverWarning[] {
  const { value } = read(text)
  const profile = value['profile']
  const profiles = value['profiles']
  if (typeof profile !== 'string' || !isTable(profiles)) return []
  const chosen = profiles[profile]
  return isTable(chosen) && ('model_provider' in chosen || 'openai_base_url' in chosen)
    ? ['profile_overrides_provider']
    : []
}
