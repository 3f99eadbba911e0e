/** The words of the rehearsal: a conversation as the script sees it, and the next thing that it does. */
import type { JsonValue } from '../../shared/vocabulary.ts'
import type { Clock, Ids, Log } from '../platform/types.ts'

export interface RehearsalDeps {
  clock: Clock
  ids: Ids
  log: Log
}

/**
 * The rehearsal: an upstream inside Wheelhouse that speaks Responses and Messages and plays a scripted model. It needs no
 * key and no network, reaches nothing, and keeps nothing: each answer follows from the conversation in the request alone.
 *
 * With the built-in agent's tools it lists the folder, reads a text file, proposes one added line, runs a harmless command
 * on that file and says what it did; with nothing but a shell it appends a line to a file; without tools it says in a
 * sentence what it is. A refusal ends the script with the reason quoted.
 *
 * Two cues in a prompt change that: a line `run: <command>` makes it call the shell with exactly that command and then
 * close; the word `slowly` makes it count to 600, one number every 20 ms, without a tool.
 */
export interface Rehearsal {
  /**
   * Listens on a free port of 127.0.0.1. Calling it again answers the same origin.
   * @throws AppError `route_listener_failed`.
   */
  start(): Promise<{ origin: string }>
  /** Cuts every answer in progress and frees the port. Safe to call twice. */
  stop(): Promise<void>
}

export interface OfferedTool {
  name: string
  /** Property names of its input, with the JSON Schema type of each where one is given. */
  input: Readonly<Record<string, string | null>>
}

export interface ToolStep {
  name: string
  input: Readonly<Record<string, JsonValue>>
  /** Null: the conversation holds none. */
  result: { text: string; isError: boolean } | null
}

/** The current turn: everything since the newest prompt. */
export interface Conversation {
  /** What the person wrote, without what agents put around it. Null: the request holds no prompt. */
  prompt: string | null
  steps: readonly ToolStep[]
  /** What the person said behind a refusal, before the model could answer. */
  steering: string | null
  tools: readonly OfferedTool[]
}

export interface ToolCall {
  tool: string
  input: Readonly<Record<string, JsonValue>>
}

export interface Move {
  /** The deltas of the text; joined they are the text. */
  text: readonly string[]
  /** Between two deltas. */
  pauseMs: number
  call: ToolCall | null
}
