/** Reads what the Router must know of a request body while its bytes arrive: the model, the effort, and what to strip. */
import { AppError } from '../../../shared/errors.ts'
import { COMPACTION } from './compaction-request.ts'
import { createPathVisitor } from './json-paths.ts'
import { createJsonScanner } from './json-scanner.ts'
import { createStateStripper } from './provider-state.ts'
import type { Splice } from './splices.ts'
import type { RouteProtocol } from './types.ts'

export interface Span {
  readonly start: number
  readonly end: number
}

/** Where the effort is, or where it would go. */
export type EffortPlace =
  /** `text` null: the value is no string. */
  | ({ readonly kind: 'there'; readonly text: string | null } & Span)
  /** `reasoning` is an object without an effort; `at` is behind its opening brace. */
  | { readonly kind: 'in_reasoning'; readonly at: number; readonly empty: boolean }
  /** `reasoning` is something else, null mostly. */
  | ({ readonly kind: 'replaces_reasoning' } & Span)
  /** No `reasoning`; `at` is behind the body's opening brace. */
  | { readonly kind: 'in_body'; readonly at: number }

export interface RequestFacts {
  readonly model: Span & { readonly text: string }
  readonly effort: EffortPlace
  /** What sticky portability removes; empty unless asked for. */
  readonly cuts: readonly Splice[]
  /** It may hold an item of a compaction. */
  readonly mayCompact: boolean
}

export interface RequestReader {
  /** @throws AppError `request_body_malformed`, `route_binding_incompatible`. */
  write(chunk: Uint8Array): void
  /** @throws AppError as `write`. */
  end(): RequestFacts
}

/** What tells a sealed item from text. */
const STRIPPERS_READ: ReadonlySet<string> = new Set(['type', 'encrypted_content'])

export function createRequestReader(options: { protocol: RouteProtocol; strip: boolean }): RequestReader {
  const stripper = options.strip ? createStateStripper(options.protocol) : null
  const seen = new Set<string>()
  let bodyAt = 0
  let model: (Span & { text: string }) | null = null
  let reasoning: EffortPlace | null = null

  const visitor = createPathVisitor({
    wantsKey(path) {
      if (path.length === 0 || (path.length === 1 && path[0] === 'reasoning')) return true
      return stripper !== null && path.length < 5 && (path[0] === 'input' || path[0] === 'messages')
    },
    wantsText(path) {
      if (path.length === 1) return path[0] === 'model'
      if (path.length === 2) return path[0] === 'reasoning' && path[1] === 'effort'
      return stripper !== null && path.length <= 5 && STRIPPERS_READ.has(path.at(-1) ?? '')
    },
    enters: (path) => stripper !== null || path.length !== 1 || path[0] === 'reasoning',
    memberNamed(path) {
      const [key] = path
      if (path.length === 1 && typeof key === 'string') {
        if (seen.has(key)) throw malformed(`it names \`${key.slice(0, 64)}\` twice`)
        seen.add(key)
      }
      if (path.length === 2 && key === 'reasoning' && reasoning?.kind === 'in_reasoning') {
        reasoning = { ...reasoning, empty: false }
      }
    },
    valueStarts(path, kind, start, memberStart) {
      stripper?.valueStarts(path, kind, start, memberStart)
      if (path.length === 0) {
        if (kind !== 'object') throw malformed('it is no object')
        bodyAt = start + 1
      } else if (path.length === 1 && path[0] === 'reasoning' && kind === 'object') {
        reasoning = { kind: 'in_reasoning', at: start + 1, empty: true }
      }
    },
    valueEnds(path, kind, text, start, end) {
      if (kind !== 'object' && kind !== 'array') stripper?.text(path, kind === 'string' ? text : null)
      stripper?.valueEnds(path, end)
      if (path.length === 1 && path[0] === 'model') {
        if (kind !== 'string' || text === null) throw malformed('`model` is no string')
        model = { start, end, text }
      } else if (path.length === 1 && path[0] === 'reasoning' && reasoning === null) {
        reasoning = { kind: 'replaces_reasoning', start, end }
      } else if (path.length === 2 && path[0] === 'reasoning' && path[1] === 'effort') {
        if (reasoning?.kind === 'there') throw malformed('it names `reasoning.effort` twice')
        reasoning = { kind: 'there', text: kind === 'string' ? text : null, start, end }
      }
    },
  })
  const scanner = createJsonScanner(
    visitor,
    stripper === null ? 2 : 5,
    options.protocol === 'responses' ? COMPACTION : undefined,
  )

  return {
    write: (chunk) => scanner.write(chunk),
    end() {
      scanner.end()
      if (model === null) throw malformed('it names no `model`')
      return {
        model,
        effort: reasoning ?? { kind: 'in_body', at: bodyAt },
        cuts: stripper?.cuts() ?? [],
        mayCompact: scanner.met(),
      }
    },
  }
}

function malformed(what: string): AppError {
  return new AppError('request_body_malformed', `The request body cannot be routed: ${what}.`)
}
