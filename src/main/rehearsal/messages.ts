/** Anthropic Messages: the request as its clients send it, the answer as their parsers want it. */
import { z } from 'zod'
import { asObject, conversationOf, inputOf } from './conversation.ts'
import type { Item } from './conversation.ts'
import { frame } from './protocol.ts'
import type { Answer, Dialect, Frame } from './protocol.ts'

const Text = z.looseObject({ type: z.string(), text: z.string().optional() })
const Block = z.union([
  z.looseObject({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.unknown().optional() }),
  z.looseObject({
    type: z.literal('tool_result'),
    tool_use_id: z.string(),
    content: z.union([z.string(), z.array(Text)]).nullish(),
    is_error: z.boolean().nullish(),
  }),
  Text,
])
type Block = z.infer<typeof Block>
const Request = z.looseObject({
  model: z.string(),
  stream: z.boolean().nullish(),
  messages: z.array(z.looseObject({ role: z.string(), content: z.union([z.string(), z.array(Block)]) })).min(1),
  tools: z.array(z.looseObject({ name: z.string(), input_schema: z.unknown().optional() })).nullish(),
})

export const messages: Dialect = {
  parse(body) {
    const request = Request.safeParse(body)
    if (!request.success) return null
    const { model, stream, tools } = request.data
    const offered = (tools ?? []).map((tool) => ({ name: tool.name, input: inputOf(tool.input_schema) }))
    const items = request.data.messages.flatMap(({ role, content }) => itemsOf(role, content))
    return { model, stream: stream === true, conversation: conversationOf(items, offered) }
  },
  stream: streamed,
  whole: (answer) => ({
    ...messageOf(answer),
    content: contentOf(answer),
    stop_reason: stopReason(answer),
    usage: usageOf(answer, answer.tokens.output),
  }),
  error: (status, message) => ({ type: 'error', error: { type: errorType(status), message } }),
}

function errorType(status: number): string {
  if (status === 404) return 'not_found_error'
  if (status === 413) return 'request_too_large'
  return status < 500 ? 'invalid_request_error' : 'api_error'
}

/** A message's texts are one prompt; its results come first, as the API demands. */
function itemsOf(role: string, content: string | readonly Block[]): Item[] {
  const blocks: readonly Block[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  if (role === 'assistant') {
    return blocks.map((block): Item => {
      if (!isToolUse(block)) return { kind: 'assistant' }
      return { kind: 'call', id: block.id, name: block.name, input: asObject(block.input) }
    })
  }
  const results = blocks.filter(isToolResult).map((block): Item => {
    const { content: said, is_error: isError } = block
    const text = typeof said === 'string' ? said : (said ?? []).map((part) => part.text ?? '').join('\n')
    return { kind: 'result', id: block.tool_use_id, text, isError: isError === true }
  })
  const text = blocks
    .map((block) => (block.type === 'text' && typeof block['text'] === 'string' ? block['text'] : ''))
    .filter((part) => part !== '')
    .join('\n')
  return role === 'user' && text !== '' ? [...results, { kind: 'user', text }] : results
}

type ToolUse = Extract<Block, { type: 'tool_use' }>
type ToolResult = Extract<Block, { type: 'tool_result' }>

function isToolUse(block: Block): block is ToolUse {
  return block.type === 'tool_use' && 'name' in block
}

function isToolResult(block: Block): block is ToolResult {
  return block.type === 'tool_result' && 'tool_use_id' in block
}

function messageOf({ model, newId }: Answer): Record<string, unknown> {
  return {
    id: newId('msg'),
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
  }
}

function usageOf({ tokens }: Answer, output: number): object {
  return {
    input_tokens: tokens.input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: output,
  }
}

function contentOf({ move, newId }: Answer): object[] {
  const text = { type: 'text', text: move.text.join('') }
  if (move.call === null) return [text]
  return [text, { type: 'tool_use', id: newId('toolu'), name: move.call.tool, input: move.call.input }]
}

function stopReason({ move }: Answer): string {
  return move.call === null ? 'end_turn' : 'tool_use'
}

function* streamed(answer: Answer): Iterable<Frame> {
  const { move } = answer
  yield frame('message_start', { message: { ...messageOf(answer), usage: usageOf(answer, 1) } })
  yield frame('ping', {})
  yield frame('content_block_start', { index: 0, content_block: { type: 'text', text: '' } })
  for (const text of move.text) {
    yield frame('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }, move.pauseMs)
  }
  yield frame('content_block_stop', { index: 0 })
  if (move.call !== null) {
    const block = { type: 'tool_use', id: answer.newId('toolu'), name: move.call.tool, input: {} }
    const json = JSON.stringify(move.call.input)
    yield frame('content_block_start', { index: 1, content_block: block })
    yield frame('content_block_delta', { index: 1, delta: { type: 'input_json_delta', partial_json: json } })
    yield frame('content_block_stop', { index: 1 })
  }
  yield frame('message_delta', {
    delta: { stop_reason: stopReason(answer), stop_sequence: null },
    usage: usageOf(answer, answer.tokens.output),
  })
  yield frame('message_stop', {})
}
