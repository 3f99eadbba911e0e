/** OpenAI Responses: the request as its clients send it, the answer as their parsers want it. */
import { z } from 'zod'
import type { JsonValue } from '../../shared/vocabulary.ts'
import { conversationOf, inputOf, parseInput } from './conversation.ts'
import type { Item } from './conversation.ts'
import { frame } from './protocol.ts'
import type { Answer, Dialect, Frame } from './protocol.ts'
import type { OfferedTool } from './types.ts'

const Content = z.union([z.string(), z.array(z.looseObject({ text: z.string().optional() }))])
const InputItem = z.union([
  z.looseObject({ type: z.literal('function_call'), call_id: z.string(), name: z.string(), arguments: z.string() }),
  z.looseObject({ type: z.literal('function_call_output'), call_id: z.string(), output: Content }),
  z.looseObject({ type: z.literal('message').optional(), role: z.string(), content: Content }),
  z.looseObject({ type: z.string() }),
])
const Request = z.looseObject({
  model: z.string(),
  stream: z.boolean().nullish(),
  input: z.union([z.string(), z.array(InputItem)]),
  tools: z
    .array(z.looseObject({ type: z.string(), name: z.string().optional(), parameters: z.unknown().optional() }))
    .nullish(),
})

export const responses: Dialect = {
  parse(body) {
    const request = Request.safeParse(body)
    if (!request.success) return null
    const { model, input, stream, tools } = request.data
    const items = typeof input === 'string' ? [{ kind: 'user' as const, text: input }] : input.flatMap(itemOf)
    return { model, stream: stream === true, conversation: conversationOf(items, (tools ?? []).flatMap(toolOf)) }
  },
  stream: streamed,
  whole: (answer) => responseOf(answer, outputOf(answer), 'completed'),
  error: (status, message) => ({
    error: { message, type: status < 500 ? 'invalid_request_error' : 'server_error', param: null, code: null },
  }),
}

function itemOf(item: z.infer<typeof InputItem>): Item[] {
  if ('arguments' in item && typeof item.arguments === 'string') {
    return [
      { kind: 'call', id: String(item['call_id']), name: String(item['name']), input: parseInput(item.arguments) },
    ]
  }
  if (item.type === 'function_call_output') {
    return [{ kind: 'result', id: String(item['call_id']), text: textOf(item['output']), isError: false }]
  }
  if (item['role'] === 'user') return [{ kind: 'user', text: textOf(item['content']) }]
  return item['role'] === 'assistant' ? [{ kind: 'assistant' }] : []
}

function textOf(content: unknown): string {
  const parsed = Content.safeParse(content)
  if (!parsed.success) return ''
  return typeof parsed.data === 'string' ? parsed.data : parsed.data.map((part) => part.text ?? '').join('\n')
}

function toolOf(tool: { type: string; name?: string | undefined; parameters?: unknown }): OfferedTool[] {
  return tool.type === 'function' && tool.name !== undefined
    ? [{ name: tool.name, input: inputOf(tool.parameters) }]
    : []
}

interface OutputItem {
  id: string
  type: string
  [key: string]: JsonValue
}

function outputOf({ move, newId }: Answer): OutputItem[] {
  const text = move.text.join('')
  const part = { type: 'output_text', text, annotations: [], logprobs: [] }
  const message = { id: newId('msg'), type: 'message', status: 'completed', role: 'assistant', content: [part] }
  if (move.call === null) return [message]
  const call = {
    id: newId('fc'),
    type: 'function_call',
    status: 'completed',
    call_id: newId('call'),
    name: move.call.tool,
    arguments: JSON.stringify(move.call.input),
  }
  return [message, call]
}

function responseOf(answer: Answer, output: readonly OutputItem[], status: string, id = answer.newId('resp')): object {
  const { input, output: written } = answer.tokens
  return {
    id,
    object: 'response',
    created_at: answer.createdAtS,
    status,
    model: answer.model,
    output,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: false,
    tool_choice: 'auto',
    tools: [],
    store: false,
    usage:
      status === 'completed'
        ? {
            input_tokens: input,
            input_tokens_details: { cached_tokens: 0 },
            output_tokens: written,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: input + written,
          }
        : null,
  }
}

function* streamed(answer: Answer): Iterable<Frame> {
  let sequence = 0
  const event = (type: string, payload: object, pauseMs = 0): Frame =>
    frame(type, { sequence_number: sequence++, ...payload }, pauseMs)

  const id = answer.newId('resp')
  const output = outputOf(answer)
  const begun = responseOf(answer, [], 'in_progress', id)
  yield event('response.created', { response: begun })
  yield event('response.in_progress', { response: begun })
  for (const [at, item] of output.entries()) {
    const place = { item_id: item.id, output_index: at }
    if (item.type === 'message') {
      const text = answer.move.text.join('')
      const part = { type: 'output_text', text: '', annotations: [], logprobs: [] }
      const inPart = { ...place, content_index: 0 }
      yield event('response.output_item.added', {
        output_index: at,
        item: { ...item, status: 'in_progress', content: [] },
      })
      yield event('response.content_part.added', { ...inPart, part })
      for (const delta of answer.move.text) {
        yield event('response.output_text.delta', { ...inPart, delta, logprobs: [] }, answer.move.pauseMs)
      }
      yield event('response.output_text.done', { ...inPart, text, logprobs: [] })
      yield event('response.content_part.done', { ...inPart, part: { ...part, text } })
    } else {
      const args = JSON.stringify(answer.move.call?.input)
      yield event('response.output_item.added', {
        output_index: at,
        item: { ...item, status: 'in_progress', arguments: '' },
      })
      yield event('response.function_call_arguments.delta', { ...place, delta: args })
      yield event('response.function_call_arguments.done', { ...place, name: item['name'], arguments: args })
    }
    yield event('response.output_item.done', { output_index: at, item })
  }
  yield event('response.completed', { response: responseOf(answer, output, 'completed', id) })
}
