/** What the server needs of an API dialect. */
import type { Conversation, Move } from './types.ts'

export interface ParsedRequest {
  model: string
  stream: boolean
  conversation: Conversation
}

export interface Answer {
  model: string
  move: Move
  tokens: { input: number; output: number }
  /** Fresh for each use, such as `msg_0193…`. */
  newId(prefix: string): string
  createdAtS: number
}

/** One piece of a stream, and the pause before it. */
export interface Frame {
  text: string
  pauseMs: number
}

export interface Dialect {
  /** Null: no such request. */
  parse(body: unknown): ParsedRequest | null
  stream(answer: Answer): Iterable<Frame>
  whole(answer: Answer): object
  error(status: number, message: string): object
}

export function frame(event: string, payload: object, pauseMs = 0): Frame {
  return { text: `event: ${event}\ndata: ${JSON.stringify({ type: event, ...payload })}\n\n`, pauseMs }
}
