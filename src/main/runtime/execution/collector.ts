/** Keeps what the transcript will say of a run once it has ended: the answer, and one line of each tool call. */
import { assertNever } from '../../../shared/errors.ts'
import { clip, headAndTail, plain } from '../events/cut.ts'
import type { PreparedEnd } from '../store/runs.ts'
import type { ExecutionUpdate } from '../types.ts'

const MAX_ANSWER_BYTES = 900 * 1024
const MAX_TOOLS = 300
const TOOL_TEXT_BYTES = 2_500
const TOOL_FIELD_BYTES = 500
const TOOL_BYTES = 4 * 1024
const ALL_TOOLS_BYTES = 300 * 1024

type ToolUpdate = Extract<ExecutionUpdate, { kind: 'tool' }>
export type ToolRecord = PreparedEnd['tools'][number]

export interface Collector {
  output(messageId: string, text: string): void
  tool(update: ToolUpdate): void
  /** The answer so far; null while there is none. Given `whole`, the agent's own word of it. */
  answer(whole?: string): { text: string } | null
  tools(): ToolRecord[]
}

export function createCollector(): Collector {
  const messages = new Map<string, string>()
  const calls = new Map<string, ToolRecord>()
  let bytes = 0

  return {
    output(messageId, text) {
      if (bytes >= MAX_ANSWER_BYTES) return
      bytes += text.length
      messages.set(messageId, (messages.get(messageId) ?? '') + text)
    },
    tool(update) {
      const known = calls.get(update.toolCallId)
      if (known === undefined && calls.size >= MAX_TOOLS) return
      calls.set(update.toolCallId, record(update, known))
    },
    answer(whole) {
      const text = whole ?? [...messages.values()].filter((message) => message.trim() !== '').join('\n\n')
      return text.trim() === '' ? null : { text: fitJson(plain(text), MAX_ANSWER_BYTES) }
    },
    tools() {
      let left = ALL_TOOLS_BYTES
      return [...calls.values()].filter((call) => {
        left -= JSON.stringify(call).length
        return left >= 0
      })
    },
  }
}

function record(update: ToolUpdate, known: ToolRecord | undefined): ToolRecord {
  const paths = update.paths.length > 0 ? update.paths : (known?.paths ?? [])
  const text = describe(update)
  const call: ToolRecord = {
    toolCallId: clip(update.toolCallId, TOOL_FIELD_BYTES / 2),
    tool: update.tool,
    name: update.name === null ? (known?.name ?? null) : clip(update.name, TOOL_FIELD_BYTES / 2),
    title: clip(update.title === '' ? (known?.title ?? '') : update.title, TOOL_FIELD_BYTES),
    status: update.status,
    paths: paths.slice(0, 4).map((path) => clip(path, TOOL_FIELD_BYTES / 4)),
    text: text === '' ? (known?.text ?? '') : text,
  }
  return { ...call, text: fitJson(call.text, TOOL_BYTES - JSON.stringify({ ...call, text: '' }).length - 64) }
}

function describe(update: ToolUpdate): string {
  const parts = update.content.map((content) => {
    switch (content.type) {
      case 'text':
      case 'output':
        return content.text
      case 'diff':
        return content.path
      case 'blob':
        return content.mediaType
      default:
        return assertNever(content)
    }
  })
  const text = plain(parts.join('\n'))
  return headAndTailOf(text, TOOL_TEXT_BYTES)
}

function headAndTailOf(text: string, limit: number): string {
  return Buffer.byteLength(text) <= limit ? text : headAndTail(text, limit * 0.7, limit * 0.3)
}

/** Cut until its JSON has at most `limit` bytes: escapes may make it longer than the text. */
function fitJson(text: string, limit: number): string {
  let fitted = headAndTailOf(text, limit)
  for (let budget = limit; Buffer.byteLength(JSON.stringify(fitted)) > limit && budget > 16; budget /= 2) {
    fitted = headAndTailOf(text, budget / 2)
  }
  return fitted
}
