/**
 * A model for the built-in agent's tests: a real HTTP server that speaks Responses and Messages, and plays scripted turns
 * in whichever dialect it is asked. Each request takes the next turn; what was asked is kept. It lists one model.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'

export interface ScriptedCall {
  id: string
  name: string
  input: unknown
}

export type ScriptedTurn =
  | {
      text?: string
      calls?: readonly ScriptedCall[]
      stop?: 'length' | 'refusal'
      cached?: number
      input?: number
      output?: number
    }
  | { status: number; headers?: Record<string, string>; error: { code?: string; type?: string; message: string } }
  /** Says `text`, then nothing: the stream stays open until the client leaves. */
  | { text: string; hang: true }
  /** Says `text`, then fails in the middle of the stream. */
  | { text: string; fails: { code?: string; type?: string; message: string } }

export interface ModelRequest {
  path: string
  key: string | null
  body: Record<string, unknown>
}

export interface FakeModel {
  /** Ends with /v1. */
  baseUrl: string
  requests: ModelRequest[]
  /** Appends turns to the script. */
  script(...turns: ScriptedTurn[]): void
  /** Resolves once a client has left an open stream. */
  leftEarly: Promise<void>
  close(): Promise<void>
}

type Event = Record<string, unknown> & { type: string }

export async function startFakeModel(...first: ScriptedTurn[]): Promise<FakeModel> {
  const turns: ScriptedTurn[] = [...first]
  const requests: ModelRequest[] = []
  const left = Promise.withResolvers<void>()

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const path = request.url ?? ''
    const bearer = request.headers.authorization?.replace(/^Bearer /, '')
    const header = request.headers['x-api-key']
    const refused = turns[0] !== undefined && 'error' in turns[0]
    if (request.method === 'GET' && !refused) return void response.end('{"data":[{"id":"fake-model"}]}')
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}') as Record<string, unknown>
    requests.push({ path, key: typeof header === 'string' ? header : (bearer ?? null), body })
    const messages = path.endsWith('/messages')
    const turn = turns.shift() ?? { status: 500, error: { message: 'the script is over' } }
    if ('error' in turn) {
      const error = messages ? { type: 'error', error: turn.error } : { error: turn.error }
      response
        .writeHead(turn.status, { 'content-type': 'application/json', ...turn.headers })
        .end(JSON.stringify(error))
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of messages ? messagesEvents(turn) : responsesEvents(turn)) {
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    }
    if ('hang' in turn) response.on('close', () => left.resolve())
    else response.end()
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    script: (...more) => turns.push(...more),
    leftEarly: left.promise,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

type Said = Exclude<ScriptedTurn, { status: number }>

function counts(turn: Said): { input: number; cached: number; output: number } {
  if ('hang' in turn || 'fails' in turn) return { input: 10, cached: 0, output: 5 }
  return { input: turn.input ?? 10, cached: turn.cached ?? 0, output: turn.output ?? 5 }
}

function responsesEvents(turn: Said): Event[] {
  const events: Event[] = []
  const response = { id: 'resp_1', created_at: 1_700_000_000, model: 'fake-model', object: 'response' }
  const add = (type: string, fields: object): void => {
    events.push({ type, sequence_number: events.length, ...fields })
  }
  add('response.created', { response: { ...response, status: 'in_progress', output: [] } })
  const output: object[] = []
  if (turn.text !== undefined) {
    const item = { id: `msg_${output.length}`, type: 'message', role: 'assistant', status: 'in_progress', content: [] }
    add('response.output_item.added', { output_index: output.length, item })
    for (const delta of turn.text.match(/[\s\S]{1,8}/g) ?? []) {
      add('response.output_text.delta', { item_id: item.id, output_index: output.length, content_index: 0, delta })
    }
    if ('hang' in turn) return events
    if ('fails' in turn) {
      const failed = { ...response, status: 'failed', output: [], error: turn.fails }
      add('response.failed', { response: failed })
      return events
    }
    const content = [{ type: 'output_text', text: turn.text, annotations: [] }]
    const done = { ...item, status: 'completed', content }
    add('response.output_item.done', { output_index: output.length, item: done })
    output.push(done)
  }
  for (const call of ('calls' in turn ? turn.calls : undefined) ?? []) {
    const json = JSON.stringify(call.input)
    const item = { id: `fc_${call.id}`, type: 'function_call', call_id: call.id, name: call.name, arguments: '' }
    add('response.output_item.added', { output_index: output.length, item: { ...item, status: 'in_progress' } })
    add('response.function_call_arguments.delta', { item_id: item.id, output_index: output.length, delta: json })
    const done = { ...item, arguments: json, status: 'completed' }
    add('response.output_item.done', { output_index: output.length, item: done })
    output.push(done)
  }
  const { input, cached, output: said } = counts(turn)
  const usage = {
    input_tokens: input + cached,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: said,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + cached + said,
  }
  const stop = 'stop' in turn ? turn.stop : undefined
  if (stop === undefined) add('response.completed', { response: { ...response, status: 'completed', output, usage } })
  else {
    const reason = stop === 'length' ? 'max_output_tokens' : 'content_filter'
    const incomplete = { status: 'incomplete', incomplete_details: { reason }, output, usage }
    add('response.incomplete', { response: { ...response, ...incomplete } })
  }
  return events
}

function messagesEvents(turn: Said): Event[] {
  const events: Event[] = []
  const { input, cached, output } = counts(turn)
  const usage = {
    input_tokens: input,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: 0,
    output_tokens: 1,
  }
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'fake-model', content: [], usage }
  events.push({ type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } })
  let index = 0
  if (turn.text !== undefined) {
    events.push({ type: 'content_block_start', index, content_block: { type: 'text', text: '' } })
    for (const text of turn.text.match(/[\s\S]{1,8}/g) ?? []) {
      events.push({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } })
    }
    if ('hang' in turn) return events
    if ('fails' in turn) return [...events, { type: 'error', error: turn.fails }]
    events.push({ type: 'content_block_stop', index })
    index += 1
  }
  const calls = ('calls' in turn ? turn.calls : undefined) ?? []
  for (const call of calls) {
    const block = { type: 'tool_use', id: call.id, name: call.name, input: {} }
    events.push({ type: 'content_block_start', index, content_block: block })
    const delta = { type: 'input_json_delta', partial_json: JSON.stringify(call.input) }
    events.push({ type: 'content_block_delta', index, delta }, { type: 'content_block_stop', index })
    index += 1
  }
  const stop = 'stop' in turn ? turn.stop : undefined
  const reason =
    stop === 'length' ? 'max_tokens' : stop === 'refusal' ? 'refusal' : calls.length > 0 ? 'tool_use' : 'end_turn'
  const delta = { stop_reason: reason, stop_sequence: null }
  events.push({ type: 'message_delta', delta, usage: { output_tokens: output } }, { type: 'message_stop' })
  return events
}
