/** What a tool is to the turn that runs it: first a plan that can be shown and refused, then the deed. */
import type { JSONSchema7 } from 'ai'
import type { z } from 'zod'

import type { PermissionAction, ToolKind } from '../../shared/vocabulary.ts'

/** Where a session works. Paths are absolute. */
export interface Workspace {
  cwd: string
  /** Further roots that the client named; paths below them do not count as outside. */
  roots: readonly string[]
}

/** Shown to the person, in ACP's words. */
export type ShownContent =
  | { type: 'content'; content: { type: 'text'; text: string } }
  | { type: 'diff'; path: string; oldText: string | null; newText: string }

/** What a call will do, exactly; nothing has been done yet. */
export interface PlannedCall {
  title: string
  /** Absolute paths that it touches, symbolic links resolved. */
  locations: readonly string[]
  action: PermissionAction
  /** What the person sees beside the title: the diff of an edit. */
  preview: readonly ShownContent[]
  run(signal: AbortSignal, progress: (text: string) => void): Promise<ToolOutcome>
}

export interface ToolOutcome {
  /** What the model is told. */
  text: string
  /** What the person sees; empty: the preview stays. */
  shown: readonly ShownContent[]
  /** A command that ended with an error did what it was asked to: its exit code is the model's to judge. */
  end: 'done' | 'command_failed' | 'tool_failed'
  /** Facts for the client, such as a command's exit code. */
  rawOutput?: Readonly<Record<string, string | number | boolean | null>>
}

export interface AgentTool<Input = unknown> {
  name: string
  kind: ToolKind
  description: string
  input: z.ZodType<Input>
  /** What the model is told of the input, where `input` is not the source of it. */
  jsonSchema?: JSONSchema7
  /** Looks, never changes anything. @throws ToolError: it cannot be done; the model is told why. */
  plan(input: Input, workspace: Workspace): Promise<PlannedCall>
}

/** A tool's expected failure: its message is written for the model, which may try something else. */
export class ToolError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ToolError'
  }
}

export function shownText(text: string): ShownContent {
  return { type: 'content', content: { type: 'text', text } }
}
