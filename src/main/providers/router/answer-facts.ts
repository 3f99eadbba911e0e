/** Reads the few facts of an answer that Wheelhouse keeps: how it ended, what it used, which model it names. */
import { createPathVisitor } from './json-paths.ts'
import { createJsonScanner } from './json-scanner.ts'
import type { RouteProtocol, TokenUsage } from './types.ts'

/** Where each fact stands: inside of `response`, else of `message`, else in the event itself. */
const FACTS = [
  'type',
  'id',
  'model',
  'code',
  'error.code',
  'error.type',
  'delta.stop_reason',
  'usage.input_tokens',
  'usage.output_tokens',
  'usage.prompt_cache_hit_tokens',
  'usage.cache_read_input_tokens',
  'usage.cache_creation_input_tokens',
  'usage.input_tokens_details.cached_tokens',
  'usage.output_tokens_details.reasoning_tokens',
] as const
type Fact = (typeof FACTS)[number]

export type FactMap = ReadonlyMap<string, string>

const PATHS: readonly (readonly [Fact, readonly string[]])[] = FACTS.map((fact) => [fact, fact.split('.')])
const KNOWN: ReadonlySet<string> = new Set(FACTS)
const NAMES: ReadonlySet<string> = new Set(PATHS.map(([, path]) => path.at(-1) ?? ''))
const MAX_DEPTH = 4
const MAX_TEXT = 512
/** What is longer is scanned as it comes, and never kept. */
const PARSED_BYTES = 16_384
const NOTHING: FactMap = new Map()

export interface FactReader {
  /** What is no JSON leaves no facts, and never touches the stream. The chunk is the caller's again afterwards. */
  write(chunk: Uint8Array): void
  facts(): FactMap
}

export function createFactReader(): FactReader {
  let pieces: Buffer[] = []
  let bytes = 0
  let scanning: FactReader | null = null
  return {
    write(chunk) {
      if (scanning !== null) return scanning.write(chunk)
      pieces.push(Buffer.from(chunk))
      bytes += chunk.length
      if (bytes <= PARSED_BYTES) return undefined
      scanning = createScanningReader()
      for (const piece of pieces) scanning.write(piece)
      pieces = []
      return undefined
    },
    facts: () => scanning?.facts() ?? factsIn(pieces),
  }
}

function factsIn(pieces: readonly Buffer[]): FactMap {
  if (pieces.length === 0) return NOTHING
  try {
    return collect(JSON.parse(textOf(pieces)))
  } catch {
    return NOTHING
  }
}

function textOf(pieces: readonly Buffer[]): string {
  const [only] = pieces
  return (pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces)).toString('utf8')
}

function collect(event: unknown): FactMap {
  if (!isRecord(event)) return NOTHING
  const facts = new Map<string, string>()
  const { response, message } = event
  for (const [fact, path] of PATHS) {
    // `message.type` is not the event's type.
    const inner = fact === 'type' ? null : (textAt(response, path) ?? textAt(message, path))
    const text = inner ?? textAt(event, path)
    if (text !== null) facts.set(fact, text)
  }
  return facts
}

function textAt(root: unknown, path: readonly string[]): string | null {
  const value = valueAt(root, path)
  if (typeof value !== 'string' && typeof value !== 'number') return null
  const text = String(value)
  return text.length <= MAX_TEXT ? text : null
}

function valueAt(root: unknown, path: readonly string[]): unknown {
  let value = root
  for (const key of path) {
    if (!isRecord(value)) return undefined
    value = value[key]
  }
  return value
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function createScanningReader(): FactReader {
  const [outer, message, response] = [new Map<string, string>(), new Map<string, string>(), new Map<string, string>()]
  let broken = false
  const scanner = createJsonScanner(
    createPathVisitor({
      enters: (_path, kind) => kind === 'object',
      wantsKey: (path) => path.length < MAX_DEPTH,
      wantsText: (path) => path.length <= MAX_DEPTH && NAMES.has(path.at(-1) ?? ''),
      valueEnds(path, _kind, text) {
        if (text === null || text.length > MAX_TEXT) return
        const [root] = path
        const inner = root === 'response' ? response : root === 'message' ? message : null
        const fact = (inner === null ? path : path.slice(1)).join('.')
        if (KNOWN.has(fact) && (inner === null || fact !== 'type')) (inner ?? outer).set(fact, text)
      },
    }),
    MAX_DEPTH,
  )
  return {
    write(chunk) {
      if (broken) return
      try {
        scanner.write(chunk)
      } catch {
        broken = true
      }
    },
    facts: () => (broken ? NOTHING : new Map([...outer, ...message, ...response])),
  }
}

export type Terminal = 'completed' | 'incomplete' | 'failed'

/** How an event ends its stream; null: it does not. */
export function terminalOf(protocol: RouteProtocol, type: string, facts: FactMap): Terminal | null {
  if (type === 'error') return 'failed'
  if (protocol === 'responses') return RESPONSES_TERMINAL[type] ?? null
  if (type === 'message_stop') return 'completed'
  // Some gateways leave out the stop.
  return type === 'message_delta' && facts.has('delta.stop_reason') ? 'completed' : null
}

const RESPONSES_TERMINAL: Readonly<Record<string, Terminal>> = {
  'response.completed': 'completed',
  'response.incomplete': 'incomplete',
  'response.failed': 'failed',
}

/** The upstream's own word for what failed inside a 2xx stream. */
export function streamErrorOf(facts: FactMap): string {
  return facts.get('error.code') ?? facts.get('error.type') ?? facts.get('code') ?? 'error'
}

/** More in one answer is no count: sums over such numbers would overflow. */
const MOST_TOKENS = 1e9
/** As JSON writes a count. */
const COUNT = /^\d[\d.eE+]*$/

/** OpenAI counts cached tokens among the input, Anthropic beside it; here `input` is always the uncached ones. */
export function usageOf(protocol: RouteProtocol, facts: FactMap): TokenUsage | null {
  const count = (name: string): number | null => {
    const text = facts.get(`usage.${name}`) ?? ''
    const value = Number(text)
    return COUNT.test(text) && Number.isInteger(value) && value <= MOST_TOKENS ? value : null
  }
  const sent = count('input_tokens')
  const output = count('output_tokens')
  if (sent === null && output === null) return null
  if (protocol === 'anthropic_messages') {
    return {
      input: sent,
      cacheRead: count('cache_read_input_tokens'),
      cacheWrite: count('cache_creation_input_tokens'),
      output,
      reasoning: null,
    }
  }
  const cacheRead = count('input_tokens_details.cached_tokens') ?? count('prompt_cache_hit_tokens')
  return {
    input: sent === null ? null : Math.max(0, sent - (cacheRead ?? 0)),
    cacheRead,
    cacheWrite: null,
    output,
    reasoning: count('output_tokens_details.reasoning_tokens'),
  }
}
