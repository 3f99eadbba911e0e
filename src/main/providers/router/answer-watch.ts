/** Watches an answer go by: reads facts from a copy of each chunk, and can neither delay nor change the stream. */
import { createFactReader, streamErrorOf, terminalOf, usageOf } from './answer-facts.ts'
import type { FactMap, FactReader, Terminal } from './answer-facts.ts'
import { createSseFraming } from './sse.ts'
import type { RouteProtocol, TokenUsage } from './types.ts'

export interface AnswerWatch {
  /** The chunk is the caller's again afterwards. */
  push(chunk: Uint8Array): void
  /** Null: no terminal event so far; always null for plain JSON. */
  terminal(): Terminal | null
  /** Streams: nothing of a next event has been sent. */
  atBoundary(): boolean
  summary(): AnswerSummary
}

export interface AnswerSummary {
  readonly usage: TokenUsage | null
  readonly modelReported: string | null
  readonly responseId: string | null
  readonly streamError: string | null
}

const READ_EVENTS: Readonly<Record<RouteProtocol, ReadonlySet<string>>> = {
  responses: new Set(['response.completed', 'response.incomplete', 'response.failed', 'error']),
  anthropic_messages: new Set(['message_start', 'message_delta', 'message_stop', 'error']),
}
const NO_FACTS: FactMap = new Map()
/** Kept from one event to the next: later counts replace earlier ones, since each is cumulative. */
const isKept = (key: string): boolean => key === 'id' || key === 'model' || key.startsWith('usage.')

export function watchEvents(protocol: RouteProtocol): AnswerWatch {
  const isRead = READ_EVENTS[protocol]
  const kept = new Map<string, string>()
  let reader: FactReader | null = null
  let terminal: Terminal | null = null
  let streamError: string | null = null

  const framing = createSseFraming({
    skips: (name) => !isRead.has(name),
    data(piece, name) {
      // It says nothing but its name.
      if (name === 'message_stop') return
      reader ??= createFactReader()
      reader.write(piece)
    },
    dispatched(name) {
      const said = reader
      reader = null
      if (name !== null && !isRead.has(name)) return
      const facts = said?.facts() ?? NO_FACTS
      // An event without a name says its type inside its data.
      const type = name ?? facts.get('type') ?? ''
      if (!isRead.has(type)) return
      for (const [key, value] of facts) if (isKept(key)) kept.set(key, value)
      const ends = terminalOf(protocol, type, facts)
      if (ends === 'failed') streamError = streamErrorOf(facts)
      terminal = ends ?? terminal
    },
  })
  return {
    push: (chunk) => framing.push(chunk),
    terminal: () => terminal,
    atBoundary: () => framing.atBoundary(),
    summary: () => ({ ...summaryOf(protocol, kept), streamError }),
  }
}

export function watchJson(protocol: RouteProtocol): AnswerWatch {
  const reader = createFactReader()
  return {
    push: (chunk) => reader.write(chunk),
    terminal: () => null,
    atBoundary: () => false,
    summary: () => ({ ...summaryOf(protocol, reader.facts()), streamError: null }),
  }
}

export function summaryOf(
  protocol: RouteProtocol,
  facts: FactMap,
): Pick<AnswerSummary, 'usage' | 'modelReported' | 'responseId'> {
  return {
    usage: usageOf(protocol, facts),
    // An empty one names nothing, and would be the same response each time.
    modelReported: facts.get('model') || null,
    responseId: facts.get('id') || null,
  }
}
