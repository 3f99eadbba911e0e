/**
 * Messages as content, in the order of the wire. Text comes in pieces while it is made and again as a whole message; a tool
 * call comes with its message, its outcome with a message that answers it.
 */
import type { ToolStatus } from '../../../../shared/vocabulary.ts'
import { keepNewest } from '../shared/keep-newest.ts'
import { createNewest } from '../shared/newest.ts'
import { titleSource } from '../shared/title-line.ts'
import type { Conversation } from '../shared/types.ts'
import { resultContent, toolView } from './tools.ts'
import type { ToolView } from './tools.ts'
import { User, readAssistant, readBlock, readStreamEvent } from './wire.ts'

export interface Transcript {
  streamed(line: Readonly<Record<string, unknown>>): void
  assistant(line: Readonly<Record<string, unknown>>): void
  /** Outcomes of tool calls. */
  user(line: unknown): void
  /** The person allowed it: it runs from now on. */
  allowed(toolCallId: string): void
  declined(toolCallId: string): void
  /** Why the turn's last model request failed, as the program names it. */
  readonly failure: string | null
  beginTurn(): void
}

export interface TranscriptParts {
  conversation: Conversation
  /** What a model request of the main conversation used. */
  used(counts: unknown): void
  /** A call came back without an error. */
  succeeded(toolCallId: string): void
}

interface Known {
  /** Its title is cut and redacted by now: what is remembered of a call is no more than is shown of it. */
  view: ToolView
  status: ToolStatus
}

export function createTranscript({ conversation, used, succeeded }: TranscriptParts): Transcript {
  const { limits } = conversation
  const known = createNewest<Known>({ count: limits.toolCalls })
  const refused = new Set<string>()
  const forgetRefused = keepNewest(refused, limits.toolCalls)
  /** Messages whose text came in pieces, so that the whole one does not repeat it. */
  const inPieces = new Set<string>()
  const forgetPieces = keepNewest(inPieces, limits.toolCalls)
  let message = ''
  let failure: string | null = null

  function text(role: 'agent' | 'thought', messageId: string, said: string): void {
    if (said !== '' && conversation.turn !== null) conversation.content({ kind: 'text', role, messageId, text: said })
  }

  function show(toolCallId: string, { view, status }: Known, phase: 'started' | 'updated' | 'finished'): void {
    if (conversation.turn === null) return
    const { kind, name, title, paths, content } = view
    conversation.content({ kind: 'tool', toolCallId, phase, tool: kind, name, title, status, paths, content })
  }

  function called(toolCallId: string, name: string, input: unknown): void {
    const view = toolView(name, input)
    view.title = titleSource(view.title)
    const entry: Known = { view, status: 'pending' }
    const first = known.get(toolCallId) === undefined
    known.set(toolCallId, entry)
    if (first) show(toolCallId, entry, 'started')
  }

  function answered(toolCallId: string, content: unknown, failed: boolean): void {
    const before = known.get(toolCallId)
    known.delete(toolCallId)
    const view: ToolView = before?.view ?? { kind: 'other', name: null, title: '', paths: [], content: [] }
    const status = !failed ? 'completed' : refused.delete(toolCallId) ? 'declined' : 'failed'
    const outcome = resultContent(view.kind, content, failed)
    // An edit is shown by what it changed, not by the sentence that it went well.
    const shown = view.content.length > 0 && !failed ? view.content : outcome
    show(toolCallId, { view: { ...view, content: shown }, status }, 'finished')
    if (!failed) succeeded(toolCallId)
  }

  return {
    streamed(line) {
      const event = readStreamEvent(line)
      if (event === null) return
      const { type, messageId, index, usage } = event
      if (type === 'message_start') message = messageId ?? ''
      else if (type === 'content_block_delta') {
        const said = event.text ?? event.thinking
        if (said === null) return
        inPieces.add(message)
        forgetPieces()
        text(event.text === null ? 'thought' : 'agent', `${message}-${index}`, said)
      } else if (type === 'message_delta') used(usage)
      else if (type === 'message_stop') inPieces.delete(message)
    },
    assistant(line) {
      const read = readAssistant(line)
      if (read === null) return
      // A message made up to say what failed: the end of the turn says it.
      if (read.error !== null) {
        failure = read.error
        return
      }
      for (const given of read.blocks) {
        const block = readBlock(given)
        if (block === null) continue
        if (block.type === 'tool_use') called(block.id, block.name, block.input)
        // What sub-agents say is said to the agent, which gets it as their result.
        else if (!read.own || inPieces.has(read.id)) continue
        else if (block.type === 'text') text('agent', read.id, block.text)
        else if (block.type === 'thinking') text('thought', read.id, block.thinking)
      }
    },
    user(line) {
      const read = User.safeParse(line)
      if (!read.success || typeof read.data.message.content === 'string') return
      for (const given of read.data.message.content) {
        const block = readBlock(given)
        if (block?.type === 'tool_result') answered(block.toolCallId, block.content, block.failed)
      }
    },
    allowed(toolCallId) {
      const entry = known.get(toolCallId)
      if (entry === undefined || entry.status !== 'pending') return
      entry.status = 'in_progress'
      show(toolCallId, entry, 'updated')
    },
    declined(toolCallId) {
      refused.add(toolCallId)
      forgetRefused()
    },
    get failure() {
      return failure
    },
    beginTurn() {
      failure = null
      inPieces.clear()
    },
  }
}
