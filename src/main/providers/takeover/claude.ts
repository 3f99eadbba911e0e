/**
 * Claude Code's `settings.json`: two variables of its `env`. JSON has no comments, so what is ours is told by where it stands
 * and what it says. Pure functions over its text.
 */
import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../../../shared/errors.ts'
import type { Splice } from '../router/splices.ts'
import { findJsonSpans } from './json-spans.ts'
import type { JsonMember, JsonObjectSpan } from './json-spans.ts'
import { BOM, dominantEol, malformed, spliceText } from './text.ts'
import type { Finding, Original, Projector, Removed, TakeoverWarning, Target, Written } from './types.ts'

const URL_KEY = 'ANTHROPIC_BASE_URL'
const TOKEN_KEY = 'ANTHROPIC_AUTH_TOKEN'
const OURS: Readonly<Record<string, RegExp>> = {
  [URL_KEY]: /^http:\/\/127\.0\.0\.1:\d+\/claude$/,
  [TOKEN_KEY]: /^whg_[A-Za-z0-9_-]+$/,
}
const DEFAULT_INDENT = '  '

type JsonObject = Readonly<Record<string, unknown>>

interface Read {
  readonly text: string
  readonly env: JsonObject | null
  readonly value: JsonObject
  readonly root: JsonObjectSpan
  readonly inner: JsonObjectSpan | null
}

export const claudeProjector: Projector = {
  client: 'claude',
  kinds: ['env'],
  check(text, path) {
    if (!isBlank(text)) read(text, path)
  },
  detect: (text) => (isBlank(text) || !Object.keys(OURS).some((key) => isOurs(read(text).env, key)) ? null : 'env'),
  inspect,
  apply(before, _kind, target, written) {
    const plan = isBlank(before) ? planNew(before, target) : planEdit(read(before), target, written)
    const after = spliceText(before, plan.splices)
    prove(before, after)
    const done = { ...plan, kind: 'env' as const, addedFinalEol: false, after }
    if (inspect(after, 'env', target, done).kind !== 'exact') throw unproven()
    return done
  },
  remove(text, written, { backup }) {
    if (isBlank(text)) return { after: text, detail: null, left: false, empty: true }
    const { splices, detail } = planRemoval(read(text), written, backup)
    const cut = spliceText(text, splices)
    prove(text, cut)
    const empty = Object.keys(read(cut).value).length === 0
    const wasBlank = written?.originals.some(({ key, present }) => key === 'text' && !present) === true
    const after = empty && wasBlank ? (text.startsWith(BOM) ? BOM : '') : cut
    if (claudeProjector.detect(after) !== null) throw unproven()
    return { after, detail, left: false, empty }
  },
  warnings: (text) => (isBlank(text) ? [] : warnings(read(text))),
}

function isBlank(text: string): boolean {
  return text === '' || text === BOM
}

function read(text: string, path = 'settings.json'): Read {
  const json = text.startsWith(BOM) ? text.slice(1) : text
  let value: unknown
  let spans: ReturnType<typeof findJsonSpans>
  try {
    value = JSON.parse(json)
    spans = findJsonSpans(text, 'env')
  } catch (cause) {
    throw malformed(path, cause instanceof Error ? cause.message : 'it is no JSON', cause)
  }
  const { root, inner } = spans
  if (!isObject(value) || root === null) throw malformed(path, 'it is no JSON object')
  const { env = null } = value
  if (env !== null && !isObject(env)) throw malformed(path, '`env` is no object')
  if ('env' in value && env === null) throw malformed(path, '`env` is no object')
  if (root.members.filter(({ name }) => name === 'env').length > 1) throw malformed(path, '`env` stands twice')
  for (const key of Object.keys(OURS)) {
    const times = inner?.members.filter(({ name }) => name === key).length ?? 0
    if (times > 1) throw malformed(path, `\`env.${key}\` stands twice`)
  }
  return { text, value, env, root, inner }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isOurs(env: JsonObject | null, key: string): boolean {
  const value = env?.[key]
  return typeof value === 'string' && OURS[key]?.test(value) === true
}

function wantedOf({ address, key }: Target): readonly (readonly [key: string, value: string])[] {
  return [
    [URL_KEY, `http://${address}/claude`],
    [TOKEN_KEY, key],
  ]
}

function inspect(text: string, _kind: unknown, target: Target | null, written: Written | null): Finding {
  const env = isBlank(text) ? null : read(text).env
  const keys = Object.keys(OURS)
  if (written === null) {
    return keys.some((key) => isOurs(env, key)) ? { kind: 'drifted', detail: 'state_missing' } : { kind: 'none' }
  }
  if (keys.every((key) => env?.[key] === undefined)) return { kind: 'drifted', detail: 'projection_missing' }
  if (keys.some((key) => !isOurs(env, key))) return { kind: 'drifted', detail: 'provider_line_user_changed' }
  const isCurrent = target === null || wantedOf(target).every(([key, value]) => env?.[key] === value)
  return isCurrent ? { kind: 'exact' } : { kind: 'drifted', detail: 'address_changed' }
}

// --- writing

interface Style {
  readonly eol: string
  /** Empty: everything stands in one line. */
  readonly unit: string
  readonly pretty: boolean
}

function styleOf({ text, root }: Read): Style {
  const eol = dominantEol(text)
  const [first] = root.members
  if (first === undefined) return { eol, unit: DEFAULT_INDENT, pretty: true }
  const before = text.slice(root.bodyStart, first.start)
  const lf = before.lastIndexOf('\n')
  return lf === -1 ? { eol, unit: '', pretty: false } : { eol, unit: before.slice(lf + 1), pretty: true }
}

interface Plan {
  readonly splices: readonly Splice[]
  readonly originals: readonly Original[]
}

function planNew(before: string, target: Target): Plan {
  const text = `${JSON.stringify({ env: Object.fromEntries(wantedOf(target)) }, null, 2)}\n`
  const originals = ['text', 'env', ...Object.keys(OURS)].map((key) => ({ key, present: false }))
  return { splices: [{ start: before.length, end: before.length, text }], originals }
}

function planEdit(config: Read, target: Target, written: Written | null): Plan {
  const { text, env, root, inner } = config
  const style = styleOf(config)
  const wanted = wantedOf(target)
  const known = (key: string): Original | undefined => written?.originals.find((original) => original.key === key)
  if (inner === null || env === null) {
    const body = style.pretty
      ? `{${style.eol}${members(wanted, style.unit.repeat(2), style)}${style.eol}${style.unit}}`
      : `{${wanted.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`
    const colon = style.pretty ? ': ' : ':'
    const originals = [{ key: 'env', present: false }, ...wanted.map(([key]) => ({ key, present: false }))]
    return { splices: [insertion(text, root, [`"env"${colon}${body}`], { style, depth: 1 })], originals }
  }
  const splices: Splice[] = []
  const missing: string[] = []
  const originals: Original[] = [
    ...(written?.originals.filter(({ key }) => key === 'text') ?? []),
    known('env') ?? { key: 'env', present: true },
  ]
  for (const [key, value] of wanted) {
    const member = inner.members.find(({ name }) => name === key)
    const token = JSON.stringify(value)
    if (member === undefined) {
      missing.push(`${JSON.stringify(key)}${style.pretty ? ': ' : ':'}${token}`)
      originals.push({ key, present: false })
      continue
    }
    originals.push(isOurs(env, key) ? (known(key) ?? { key, present: false }) : { key, present: true, inBackup: true })
    if (env[key] !== value) splices.push({ start: member.valueStart, end: member.end, text: token })
  }
  if (missing.length > 0) splices.push(insertion(text, inner, missing, { style, depth: 2 }))
  return { splices, originals }
}

function members(entries: readonly (readonly [string, string])[], indent: string, { eol }: Style): string {
  return entries.map(([key, value]) => `${indent}${JSON.stringify(key)}: ${JSON.stringify(value)}`).join(`,${eol}`)
}

/** New members behind the last one, set off as that one is. */
function insertion(
  text: string,
  into: JsonObjectSpan,
  added: readonly string[],
  { style, depth }: { style: Style; depth: number },
): Splice {
  const last = into.members.at(-1)
  if (last !== undefined) {
    const before = into.members.at(-2)
    const gap = text.slice(before?.end ?? into.bodyStart, last.start).replace(',', '')
    return { start: last.end, end: last.end, text: added.map((member) => `,${gap}${member}`).join('') }
  }
  const open = style.pretty ? style.eol + style.unit.repeat(depth) : ''
  const body = added.map((member) => open + member).join(',')
  return { start: into.bodyStart, end: into.bodyStart, text: body + closing(style, depth) }
}

/** Between the last member and the brace of an object that had none. */
function closing({ pretty, eol, unit }: Style, depth: number): string {
  return pretty ? eol + unit.repeat(depth - 1) : ''
}

// --- taking back

function planRemoval(
  config: Read,
  written: Written | null,
  backup: string | null,
): { splices: readonly Splice[]; detail: Removed['detail'] } {
  const { text, env, root, inner } = config
  if (inner === null || env === null) return { splices: [], detail: null }
  const style = styleOf(config)
  const splices: Splice[] = []
  const going = new Set<JsonMember>()
  let detail: Removed['detail'] = null
  for (const key of Object.keys(OURS)) {
    const member = inner.members.find(({ name }) => name === key)
    if (member === undefined) continue
    if (!isOurs(env, key)) {
      if (written !== null) detail ??= 'provider_line_user_changed'
      continue
    }
    const original = written?.originals.find((candidate) => candidate.key === key)
    const token = original?.inBackup === true ? tokenIn(backup, key) : null
    if (token !== null) splices.push({ start: member.valueStart, end: member.end, text: token })
    else going.add(member)
    if (original?.inBackup === true && token === null) detail = 'original_unrecoverable'
  }
  const madeEnv = written?.originals.some(({ key, present }) => key === 'env' && !present) === true
  const envMember = root.members.find(({ name }) => name === 'env')
  if (madeEnv && envMember !== undefined && going.size === inner.members.length) {
    return { splices: cuts(text, root, new Set([envMember]), { style, depth: 1 }), detail }
  }
  return { splices: [...splices, ...cuts(text, inner, going, { style, depth: 2 })], detail }
}

/** Each member with exactly one of its commas. */
function cuts(
  text: string,
  from: JsonObjectSpan,
  going: ReadonlySet<JsonMember>,
  { style, depth }: { style: Style; depth: number },
): readonly Splice[] {
  const last = from.members.at(-1)
  if (last === undefined || going.size === 0) return []
  if (going.size === from.members.length) {
    const added = closing(style, depth)
    const end = text.startsWith(added, last.end) && last.end + added.length <= from.bodyEnd ? added.length : 0
    return [{ start: from.bodyStart, end: last.end + end, text: '' }]
  }
  const firstStays = from.members.findIndex((member) => !going.has(member))
  return from.members.flatMap((member, index) => {
    if (!going.has(member)) return []
    const next = from.members[index + 1]
    if (index < firstStays && next !== undefined) return [{ start: member.start, end: next.start, text: '' }]
    return [{ start: from.members[index - 1]?.end ?? from.bodyStart, end: member.end, text: '' }]
  })
}

/** The value's own token in the old file; null: the backup is gone or does not say. */
function tokenIn(backup: string | null, key: string): string | null {
  if (backup === null) return null
  const member = read(backup).inner?.members.find(({ name }) => name === key)
  return member === undefined ? null : backup.slice(member.valueStart, member.end)
}

// --- proof

function prove(before: string, after: string): void {
  let proven = false
  try {
    proven = isDeepStrictEqual(withoutOurs(before), withoutOurs(after))
  } catch (cause) {
    throw unproven(cause)
  }
  if (!proven) throw unproven()
}

function withoutOurs(text: string): JsonObject {
  if (isBlank(text)) return {}
  const { env, ...root } = read(text).value
  if (!isObject(env)) return root
  const others = Object.fromEntries(Object.entries(env).filter(([key]) => OURS[key] === undefined))
  return Object.keys(others).length === 0 ? root : { ...root, env: others }
}

function unproven(cause?: unknown): AppError {
  return new AppError(
    'takeover_projection_failed',
    'The change of the settings file could not be proven harmless, so nothing was written.',
    cause === undefined ? {} : { cause },
  )
}

function warnings({ env, value }: Read): readonly TakeoverWarning[] {
  return env?.['ANTHROPIC_API_KEY'] !== undefined || value['apiKeyHelper'] !== undefined ? ['other_auth_present'] : []
}
