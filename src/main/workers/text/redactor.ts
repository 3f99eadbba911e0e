/**
 * One function, `sanitize`, stands on every way out: errors, tool names, stderr, diagnostics, log fields. Content and a
 * permission's exact action pass `exact` alone: what a person approves must not be blurred by a pattern.
 */
import { realpathSync } from 'node:fs'
import { AppError } from '../../../shared/errors.ts'
import { createSecret, REDACTED } from '../../platform/index.ts'
import type { Log, LogFields, SecretRegistry } from '../../platform/types.ts'
import { BASE_ENV } from '../launch/env.ts'
import { WorkerError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import type { Redaction, Redactor } from '../types.ts'

const SHORTEST_VALUE = 6
/** Fewer characters of a secret tell nothing, and end many an ordinary word. */
const SHORTEST_PIECE = 4
const BEARER = /\bBearer[ \t]+\S+/gi
const CREDENTIAL = /[A-Za-z0-9_-]{40,}/g
/** Most of what is shown of a tool is a name or an id: no path, no address, no credential. */
const SHORT_WORD = /^[A-Za-z0-9_.-]{0,39}$/
/** CSI and OSC sequences, then any control character. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]{0,4096}(?:\u0007|\u001b\\)?|[@-_])/g
const CONTROLS = /(?![\t\n])\p{Cc}/gu
const base: ReadonlySet<string> = new Set(BASE_ENV)

export function createRedactor(registry: SecretRegistry, redaction: Redaction): Redactor {
  const named = registry.extend()
  for (const secret of redaction.secrets) named.add(secret, 'worker')
  const values = named.extend()
  for (const [name, value] of Object.entries(redaction.env)) {
    if (!base.has(name) && value.length >= SHORTEST_VALUE) values.add(createSecret(value), name)
  }
  const paths = pathPattern(redaction.dirs)

  const sanitize = (text: string): string => {
    const plain = values.redact(text)
    if (SHORT_WORD.test(plain)) return plain
    const pathless = paths === null || !plain.includes('/') ? plain : plain.replaceAll(paths, '[wheelhouse path]')
    const nameless = withoutEmails(pathless)
    return nameless.replaceAll(BEARER, '[credential]').replaceAll(CREDENTIAL, '[credential]')
  }

  const visible = (text: string): string => sanitize(text.replaceAll(ESCAPES, '')).replaceAll(CONTROLS, ' ')

  const line = (text: string): string => {
    const cut = cutAtLine(text, LIMITS.agentTextCutBytes)
    return cutText(visible(cut).replaceAll(/\s+/g, ' ').trim(), LIMITS.agentTextChars)
  }

  const error = (thrown: unknown): WorkerError => {
    if (!(thrown instanceof AppError)) {
      const told = thrown instanceof Error ? line(thrown.message) : ''
      return new WorkerError('worker_failed', 'The agent stopped for an unexpected reason.', { detail: told })
    }
    const from = thrown instanceof WorkerError ? thrown : undefined
    return new WorkerError(thrown.code, sanitize(thrown.message), {
      retryable: thrown.retryable,
      ...(thrown.detail === undefined ? {} : { detail: sanitize(thrown.detail) }),
      ...(thrown.data === undefined ? {} : { data: deep(thrown.data, sanitize, 0) }),
      ...(from === undefined ? {} : { started: from.started }),
      ...(from?.process === undefined ? {} : { process: from.process }),
    })
  }

  /** Ends empty with every text, and so serves all of them. */
  const reading = named.stream()

  return {
    sanitize,
    line,
    lines(text) {
      const kept = visible(text)
        .split('\n')
        .map((each) => each.trim())
        .filter((each) => each !== '')
      return kept.slice(-LIMITS.stderrLines).map((each) => cutBytes(each, LIMITS.stderrLineBytes))
    },
    exact: named.redact,
    beginning(text) {
      const sure = reading.push(text)
      const rest = reading.end()
      return rest.length < SHORTEST_PIECE || rest === REDACTED ? sure + rest : sure
    },
    stream: named.stream,
    error,
    log: (to) => sanitizedLog(to, sanitize),
    with: (more) =>
      createRedactor(registry, {
        secrets: [...redaction.secrets, ...(more.secrets ?? [])],
        env: { ...redaction.env, ...more.env },
        dirs: [...redaction.dirs, ...(more.dirs ?? [])],
      }),
  }
}

/** A path below one of the folders, as given and with links resolved, to its end. */
function pathPattern(dirs: readonly string[]): RegExp | null {
  const all = new Set<string>()
  for (const dir of dirs) {
    if (!dir.startsWith('/') || dir.length < 2) continue
    all.add(dir)
    try {
      all.add(realpathSync(dir))
    } catch {
      // A folder that is not there yet has no other name.
    }
  }
  if (all.size === 0) return null
  const alternatives = [...all].sort((a, b) => b.length - a.length).map((dir) => RegExp.escape(dir))
  return new RegExp(`(?:${alternatives.join('|')})(?:/[^\\s"'\`<>|;,)\\]}]*)?(?![A-Za-z0-9_-])`, 'g')
}

/** Looks outward from each `@`, so that a megabyte without one costs a single pass. */
function withoutEmails(text: string): string {
  if (!text.includes('@')) return text
  let out = ''
  let done = 0
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
    let start = at
    while (start > done && at - start < 64 && /[A-Za-z0-9._%+-]/.test(text.charAt(start - 1))) start--
    const domain = /^[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}/.exec(text.slice(at + 1, at + 256))
    if (start === at || domain === null) continue
    out += `${text.slice(done, start)}[email]`
    done = at + 1 + domain[0].length
  }
  return out + text.slice(done)
}

/** Cuts to `bytes`; the cut end loses its torn line, or the whole tail where there is no line break. */
function cutAtLine(text: string, bytes: number): string {
  if (text.length <= bytes) return text
  const cut = text.slice(0, bytes)
  const lineBreak = cut.lastIndexOf('\n')
  // Without a line break, what may be the beginning of a secret goes: no secret in use is longer than this.
  return lineBreak > 0 ? cut.slice(0, lineBreak) : cut.slice(0, bytes / 2)
}

function cutText(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars - 1).toWellFormed()}…`
}

function cutBytes(text: string, bytes: number): string {
  const encoded = Buffer.from(text)
  if (encoded.length <= bytes) return text
  return `${encoded
    .subarray(0, bytes - 3)
    .toString('utf8')
    .replaceAll('\ufffd', '')}…`
}

function deep(value: unknown, sanitize: (text: string) => string, depth: number): unknown {
  if (typeof value === 'string') return sanitize(value)
  if (value === null || typeof value !== 'object') return value
  if (depth >= 8) return '[deep]'
  if (value instanceof AppError) {
    const { code, message, detail } = value
    return { code, message: sanitize(message), ...(detail === undefined ? {} : { detail: sanitize(detail) }) }
  }
  if (value instanceof Error) {
    const cause = value.cause === undefined ? {} : { cause: deep(value.cause, sanitize, depth + 1) }
    return { name: value.name, message: sanitize(value.message), ...cause }
  }
  if (Array.isArray(value)) return value.map((each) => deep(each, sanitize, depth + 1))
  if ('toJSON' in value && typeof value.toJSON === 'function') return deep(value.toJSON(), sanitize, depth + 1)
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [sanitize(key), deep(each, sanitize, depth + 1)]),
  )
}

function sanitizedLog(to: Log, sanitize: (text: string) => string): Log {
  const fields = (given: LogFields | undefined): LogFields | undefined =>
    given === undefined
      ? undefined
      : Object.fromEntries(Object.entries(given).map(([key, value]) => [key, deep(value, sanitize, 0)]))
  return {
    debug: (message, given) => to.debug(sanitize(message), fields(given)),
    info: (message, given) => to.info(sanitize(message), fields(given)),
    warn: (message, given) => to.warn(sanitize(message), fields(given)),
    error: (message, given) => to.error(sanitize(message), fields(given)),
    child: (given) => sanitizedLog(to.child(fields(given) ?? {}), sanitize),
  }
}
