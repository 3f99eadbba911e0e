#!/usr/bin/env node
// A scripted model server for tests. Plain Node >= 20, no dependencies, listens on 127.0.0.1 only.
//
//   node fake-upstream.mjs --port 0 [--script FILE.json] [--log FILE.jsonl] [--host 127.0.0.1] [--quiet]
//
// The first stdout line is the port number, alone. SIGTERM/SIGINT end it with exit code 0.
//
// Speaks   POST  */responses                 OpenAI Responses: SSE, or one JSON body when "stream" is not true
//          GET   */responses (Upgrade)       the same over WebSocket (Codex, supports_websockets = true)
//          POST  */responses/compact         unary compaction (Codex)
//          POST  */messages                  Anthropic Messages: SSE or JSON
//          POST  */messages/count_tokens
//          POST  */chat/completions          OpenAI Chat Completions: SSE or JSON (OpenAI-compatible agents)
//          GET   */models                    one body that OpenAI, Anthropic and Codex clients all accept
//          HEAD and GET  /                   200 (reachability probes)
// Control  GET   /__fake/state   {turnsLeft, served, open}        POST /__fake/turns  {turns:[...]} appended
//          GET   /__fake/requests [...log records]                POST /__fake/release {"name"} lets a {"wait":name} step go on
//
// Script   { "auth": {"bearer": "tok"}           optional: else 401; "apiKey" does the same for x-api-key
//            "models": [{id, name?, contextWindow?, codex?: {...}}] | "modelsBody": {...} | "modelsStatus": 404, "modelsHeaders": {...}
//            "seal": "name"                     reasoning is sealed by that name, and a request with a seal of another is a 400
//            "wsStatus": 426                    refuse every WebSocket upgrade (426 makes Codex use HTTP at once), "wsHeaders": {...}
//            "rules":  [{match, ...turn}]         first match answers, never used up (side requests: titles, probes)
//            "turns":  [{match?, ...turn}]        used up in order: the first left whose match fits the request
//            "fallback": {...turn} }              when nothing is left (default: the text "ok")
// match    { api: "responses"|"messages"|"chat"|"compact"|"count_tokens", transport: "http"|"ws",
//            model: "exact", tools: true|false, bodyIncludes: "text" | ["a","b"], bodyExcludes: "text" | [...] }
//          (text is looked for in JSON.stringify(body); "tools" also sees the tools that Codex puts into an input item)
// turn     error:  { status: 429, headers?: {...}, body?: any, delayMs? }
//          stream: { steps: [...], delayMs?, chunkDelayMs?, usage?: {input, cachedInput, cacheWrite, output, reasoning},
//                    stop?: "end_turn" | "tool_use" | "max_tokens" | ..., model?: "name in the answer", headers?: {...} }
// step     {"text": "hello", "chunks": 3, "chunkDelayMs": 50}       {"reasoning": "thinking"}      (2 chunks when not said)
//          {"toolCall": {"name": "Bash", "input": {...}, "id"?: "..", "namespace"?: ".."}}     a function call
//          {"customToolCall": {"name": "apply_patch", "input": "free text"}}                    Responses only
//          {"item": {...}}            a raw Responses output item, or a raw Messages content block
//          {"event": {...}}           a raw SSE/WS event        {"raw": "bytes written as they are"}
//          {"pauseMs": 500}  {"comment": "keep-alive"}  {"wait": "name"}  {"hang": true}  {"disconnect": true}
//          {"error": {"type": "overloaded_error", "message": ".."}}    an error inside the stream, then the end
//          {"end": true}              closes cleanly without the final event
//
// Log      one JSON line per record:
//          {rec:"request", n, at, api, transport, method, path, query, headers, body}
//          {rec:"end", n, at, ms, status, turn, outcome: "complete"|"client_closed"|"disconnected"|"error_status"|"stream_error"|"truncated"}
//          {rec:"ws_open"|"ws_close", n, conn, headers?, code?}; a WebSocket message is a "request" with conn and transport "ws".
//          Headers are logged as they came: use fake tokens only. Side requests to expect (give them a rule): Claude Code sends
//          HEAD /, titles without tools and count_tokens; codex-acp asks "gpt-5.6-luna" for "a very short title"; a Codex guardian
//          review has a json_schema text format. A WebSocket {"generate": false} message is answered empty and uses no turn.
import { createServer } from 'node:http'
import { createHash, randomUUID } from 'node:crypto'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import * as zlib from 'node:zlib'

// ---------------------------------------------------------------- arguments and script
const args = { port: 0, host: '127.0.0.1', script: null, log: null, quiet: false }
for (let i = 2; i < process.argv.length; i++) {
  const [flag, inline] = process.argv[i].split(/=(.*)/s)
  const value = () => inline ?? process.argv[++i]
  if (flag === '--port') args.port = Number(value())
  else if (flag === '--host') args.host = value()
  else if (flag === '--script') args.script = value()
  else if (flag === '--log') args.log = value()
  else if (flag === '--quiet') args.quiet = true
  else {
    console.error(`unknown argument: ${flag}`)
    process.exit(2)
  }
}
const script = args.script ? JSON.parse(readFileSync(args.script, 'utf8')) : {}
const turns = [...(script.turns ?? [])]
const rules = script.rules ?? []
const fallback = script.fallback ?? { steps: [{ text: 'ok' }] }
const state = { n: 0, conns: 0, served: 0, open: 0 }
const waiting = new Map() // name -> [resolve]; released names stay released
const released = new Set()
const records = []
if (args.log) writeFileSync(args.log, '')

function log(record) {
  const line = { ...record, at: new Date().toISOString() }
  records.push(line)
  if (args.log) appendFileSync(args.log, JSON.stringify(line) + '\n')
}

// ---------------------------------------------------------------- choosing a turn
const list = (v) => (v === undefined ? [] : Array.isArray(v) ? v : [v])
// Codex puts the tools of its own built-in models into an input item instead of "tools".
const offersTools = (body) =>
  Boolean(body?.tools?.length || (Array.isArray(body?.input) && body.input.some((i) => i?.type === 'additional_tools')))
function fits(match, req) {
  if (!match) return !['compact', 'count_tokens'].includes(req.api)
  const text = JSON.stringify(req.body ?? null)
  const model = req.body?.model
  if (match.api === undefined ? ['compact', 'count_tokens'].includes(req.api) : match.api !== req.api) return false
  if (match.transport !== undefined && match.transport !== req.transport) return false
  if (match.model !== undefined && match.model !== model) return false
  if (match.tools !== undefined && match.tools !== offersTools(req.body)) return false
  if (!list(match.bodyIncludes).every((s) => text.includes(s))) return false
  return list(match.bodyExcludes).every((s) => !text.includes(s))
}
function pickTurn(req) {
  const rule = rules.findIndex((r) => fits(r.match, req))
  if (rule >= 0) return { turn: rules[rule], label: `rule:${rule}` }
  const at = turns.findIndex((t) => fits(t.match, req))
  if (at >= 0) {
    state.served++
    return { turn: turns.splice(at, 1)[0], label: `turn:${state.served - 1}` }
  }
  return { turn: fallback, label: 'fallback' }
}

// ---------------------------------------------------------------- what only the Provider that made it can read
const sealed = () => (script.seal ? `${script.seal}.${randomUUID()}` : 'ZmFrZQ==')
function hasForeignSeal(api, body) {
  if (script.seal === undefined) return false
  const seals = []
  const own = (seal) => typeof seal === 'string' && seal.startsWith(`${script.seal}.`)
  if (api === 'responses') {
    for (const item of Array.isArray(body?.input) ? body.input : []) {
      if (item?.type === 'reasoning' || item?.type === 'compaction') seals.push(item.encrypted_content)
      if (item?.type === 'item_reference') seals.push(item.id)
    }
    if (body?.previous_response_id != null) seals.push(body.previous_response_id)
  } else {
    for (const { content } of body?.messages ?? []) {
      for (const block of Array.isArray(content) ? content : []) {
        if (block?.type === 'thinking') seals.push(block.signature)
        if (block?.type === 'redacted_thinking') seals.push(block.data)
      }
    }
  }
  return seals.some((seal) => !own(seal))
}

// ---------------------------------------------------------------- small helpers
const id = (prefix) => `${prefix}_${randomUUID().replaceAll('-', '')}`
const sleep = (ms, signal) =>
  new Promise((resolve) => {
    const t = setTimeout(done, ms)
    function done() {
      clearTimeout(t)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    signal?.addEventListener('abort', done, { once: true })
  })
function released_(name, signal) {
  if (released.has(name) || signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    waiting.set(name, [...(waiting.get(name) ?? []), resolve])
    signal.addEventListener('abort', resolve, { once: true })
  })
}
function pieces(text, count) {
  const points = Array.from(text) // never cuts a surrogate pair
  const size = Math.ceil(points.length / Math.max(1, Math.min(count ?? 1, points.length))) || 1
  const out = []
  for (let i = 0; i < points.length; i += size) out.push(points.slice(i, i + size).join(''))
  return out.length ? out : ['']
}
class Stop extends Error {
  constructor(outcome) {
    super(outcome)
    this.outcome = outcome
  }
}

// Runs the steps that are about timing or breakage; returns true when the step was one of those.
async function control(step, turn, out) {
  if (step.pauseMs !== undefined) await sleep(step.pauseMs, out.signal)
  else if (step.wait !== undefined) await released_(step.wait, out.signal)
  else if (step.comment !== undefined) out.comment(step.comment)
  else if (step.event !== undefined) out.event(step.event)
  else if (step.raw !== undefined) out.raw(step.raw)
  else if (step.hang) {
    await sleep(2 ** 31 - 1, out.signal)
    throw new Stop('client_closed')
  } else if (step.disconnect) {
    await out.flush()
    out.destroy()
    throw new Stop('disconnected')
  } else if (step.end) throw new Stop('truncated')
  else return false
  if (out.signal.aborted) throw new Stop('client_closed')
  return true
}
async function chunked(text, step, turn, out, emit) {
  const delay = step.chunkDelayMs ?? turn.chunkDelayMs ?? 0
  const parts = pieces(text, step.chunks ?? (delay ? Math.ceil(text.length / 8) : 2))
  for (let i = 0; i < parts.length; i++) {
    if (i && delay) await sleep(delay, out.signal)
    if (out.signal.aborted) throw new Stop('client_closed')
    emit(parts[i])
  }
}
const usageOf = (turn) => ({
  input: 100,
  cachedInput: 0,
  cacheWrite: 0,
  output: 10,
  reasoning: 0,
  ...turn.usage,
})

// ---------------------------------------------------------------- OpenAI Responses
async function playResponses(turn, req, out) {
  const u = usageOf(turn)
  const response = {
    id: id('resp'),
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    status: 'in_progress',
    model: turn.model ?? req.body?.model ?? 'fake',
    output: [],
    parallel_tool_calls: true,
    tool_choice: 'auto',
    error: null,
    incomplete_details: null,
    usage: null,
  }
  let seq = 0
  const emit = (type, more) => out.event({ type, sequence_number: seq++, ...more })
  const finish = (item) => {
    response.output.push(item)
    emit('response.output_item.done', { output_index: response.output.length - 1, item })
  }
  emit('response.created', { response: { ...response } })
  emit('response.in_progress', { response: { ...response } })
  for (const step of turn.steps ?? []) {
    if (await control(step, turn, out)) continue
    const at = response.output.length
    if (step.text !== undefined) {
      const item = { type: 'message', id: id('msg'), status: 'in_progress', role: 'assistant', content: [] }
      emit('response.output_item.added', { output_index: at, item })
      const part = { type: 'output_text', text: '', annotations: [] }
      emit('response.content_part.added', { item_id: item.id, output_index: at, content_index: 0, part })
      await chunked(step.text, step, turn, out, (delta) =>
        emit('response.output_text.delta', { item_id: item.id, output_index: at, content_index: 0, delta }),
      )
      emit('response.output_text.done', { item_id: item.id, output_index: at, content_index: 0, text: step.text })
      emit('response.content_part.done', {
        item_id: item.id,
        output_index: at,
        content_index: 0,
        part: { ...part, text: step.text },
      })
      finish({
        ...item,
        status: 'completed',
        content: [{ ...part, text: step.text }],
        ...(step.phase ? { phase: step.phase } : {}),
      })
    } else if (step.reasoning !== undefined) {
      const item = { type: 'reasoning', id: id('rs'), summary: [], encrypted_content: null }
      emit('response.output_item.added', { output_index: at, item })
      const where = { item_id: item.id, output_index: at, summary_index: 0 }
      emit('response.reasoning_summary_part.added', { ...where, part: { type: 'summary_text', text: '' } })
      await chunked(step.reasoning, step, turn, out, (delta) =>
        emit('response.reasoning_summary_text.delta', { ...where, delta }),
      )
      emit('response.reasoning_summary_text.done', { ...where, text: step.reasoning })
      finish({ ...item, encrypted_content: sealed(), summary: [{ type: 'summary_text', text: step.reasoning }] })
    } else if (step.toolCall) {
      const { name, input = {}, namespace } = step.toolCall
      const text = typeof input === 'string' ? input : JSON.stringify(input)
      const item = {
        type: 'function_call',
        id: id('fc'),
        status: 'in_progress',
        call_id: step.toolCall.id ?? id('call'),
        name,
        ...(namespace ? { namespace } : {}),
        arguments: '',
      }
      emit('response.output_item.added', { output_index: at, item })
      await chunked(text, step, turn, out, (delta) =>
        emit('response.function_call_arguments.delta', { item_id: item.id, output_index: at, delta }),
      )
      emit('response.function_call_arguments.done', { item_id: item.id, output_index: at, arguments: text })
      finish({ ...item, status: 'completed', arguments: text })
    } else if (step.customToolCall) {
      const { name, input = '' } = step.customToolCall
      const item = {
        type: 'custom_tool_call',
        id: id('ctc'),
        status: 'in_progress',
        call_id: step.customToolCall.id ?? id('call'),
        name,
        input: '',
      }
      emit('response.output_item.added', { output_index: at, item })
      await chunked(input, step, turn, out, (delta) =>
        emit('response.custom_tool_call_input.delta', { item_id: item.id, output_index: at, delta }),
      )
      emit('response.custom_tool_call_input.done', { item_id: item.id, output_index: at, input })
      finish({ ...item, status: 'completed', input })
    } else if (step.item) {
      emit('response.output_item.added', { output_index: at, item: step.item })
      finish(step.item)
    } else if (step.error) {
      emit('response.failed', {
        response: {
          ...response,
          status: 'failed',
          error: {
            code: step.error.type ?? step.error.code ?? 'server_error',
            message: step.error.message ?? 'scripted',
          },
        },
      })
      throw new Stop('stream_error')
    } else throw new Error(`unknown step: ${JSON.stringify(step)}`)
  }
  response.usage = {
    input_tokens: u.input,
    input_tokens_details: { cached_tokens: u.cachedInput },
    output_tokens: u.output,
    output_tokens_details: { reasoning_tokens: u.reasoning },
    total_tokens: u.input + u.output,
  }
  const cut = turn.stop === 'max_tokens'
  Object.assign(
    response,
    cut ? { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } } : { status: 'completed' },
  )
  emit(cut ? 'response.incomplete' : 'response.completed', { response })
  return response
}

// ---------------------------------------------------------------- Anthropic Messages
async function playMessages(turn, req, out) {
  const u = usageOf(turn)
  const usage = {
    input_tokens: u.input,
    cache_creation_input_tokens: u.cacheWrite,
    cache_read_input_tokens: u.cachedInput,
    output_tokens: 1,
  }
  const message = {
    id: id('msg'),
    type: 'message',
    role: 'assistant',
    model: turn.model ?? req.body?.model ?? 'fake',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  }
  const emit = (type, more) => out.event({ type, ...more })
  emit('message_start', { message: { ...message, content: [], usage: { ...usage } } })
  emit('ping', {})
  let usedTool = false
  for (const step of turn.steps ?? []) {
    if (await control(step, turn, out)) continue
    const index = message.content.length
    const open = (content_block) => emit('content_block_start', { index, content_block })
    const delta = (d) => emit('content_block_delta', { index, delta: d })
    const close = (block) => {
      emit('content_block_stop', { index })
      message.content.push(block)
    }
    if (step.text !== undefined) {
      open({ type: 'text', text: '' })
      await chunked(step.text, step, turn, out, (text) => delta({ type: 'text_delta', text }))
      close({ type: 'text', text: step.text })
    } else if (step.reasoning !== undefined) {
      open({ type: 'thinking', thinking: '', signature: '' })
      await chunked(step.reasoning, step, turn, out, (thinking) => delta({ type: 'thinking_delta', thinking }))
      const signature = sealed()
      delta({ type: 'signature_delta', signature })
      close({ type: 'thinking', thinking: step.reasoning, signature })
    } else if (step.toolCall) {
      usedTool = true
      const { name, input = {} } = step.toolCall
      const block = { type: 'tool_use', id: step.toolCall.id ?? id('toolu'), name, input: {} }
      open(block)
      await chunked(typeof input === 'string' ? input : JSON.stringify(input), step, turn, out, (partial_json) =>
        delta({ type: 'input_json_delta', partial_json }),
      )
      close({ ...block, input })
    } else if (step.item) {
      usedTool ||= step.item.type === 'tool_use'
      open(step.item)
      close(step.item)
    } else if (step.error) {
      emit('error', { error: { type: 'overloaded_error', message: 'scripted', ...step.error } })
      throw new Stop('stream_error')
    } else throw new Error(`unknown step: ${JSON.stringify(step)}`)
  }
  message.stop_reason = turn.stop ?? (usedTool ? 'tool_use' : 'end_turn')
  message.usage = { ...usage, output_tokens: u.output }
  emit('message_delta', { delta: { stop_reason: message.stop_reason, stop_sequence: null }, usage: message.usage })
  emit('message_stop', {})
  return message
}

// ---------------------------------------------------------------- OpenAI Chat Completions
async function playChat(turn, req, out) {
  const u = usageOf(turn)
  const base = {
    id: id('chatcmpl'),
    created: Math.floor(Date.now() / 1000),
    model: turn.model ?? req.body?.model ?? 'fake',
  }
  const message = { role: 'assistant', content: null }
  const emit = (delta, finish_reason = null, more = {}) =>
    out.event({ ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }], ...more })
  emit({ role: 'assistant', content: '' })
  for (const step of turn.steps ?? []) {
    if (await control(step, turn, out)) continue
    if (step.text !== undefined) {
      await chunked(step.text, step, turn, out, (content) => emit({ content }))
      message.content = (message.content ?? '') + step.text
    } else if (step.reasoning !== undefined) {
      await chunked(step.reasoning, step, turn, out, (reasoning_content) => emit({ reasoning_content }))
    } else if (step.toolCall) {
      const { name, input = {} } = step.toolCall
      message.tool_calls ??= []
      const index = message.tool_calls.length
      const call = {
        id: step.toolCall.id ?? id('call'),
        type: 'function',
        function: { name, arguments: typeof input === 'string' ? input : JSON.stringify(input) },
      }
      emit({ tool_calls: [{ index, ...call, function: { name, arguments: '' } }] })
      await chunked(call.function.arguments, step, turn, out, (a) =>
        emit({ tool_calls: [{ index, function: { arguments: a } }] }),
      )
      message.tool_calls.push(call)
    } else if (step.error) {
      out.event({ error: { type: 'server_error', message: 'scripted', ...step.error } })
      throw new Stop('stream_error')
    } else throw new Error(`unknown step: ${JSON.stringify(step)}`)
  }
  const finish_reason = turn.stop === 'max_tokens' ? 'length' : message.tool_calls ? 'tool_calls' : 'stop'
  const usage = {
    prompt_tokens: u.input,
    completion_tokens: u.output,
    total_tokens: u.input + u.output,
    prompt_tokens_details: { cached_tokens: u.cachedInput },
    completion_tokens_details: { reasoning_tokens: u.reasoning },
  }
  emit({}, finish_reason)
  out.event({ ...base, object: 'chat.completion.chunk', choices: [], usage })
  out.raw('data: [DONE]\n\n')
  return { ...base, object: 'chat.completion', choices: [{ index: 0, message, finish_reason }], usage }
}

const players = { responses: playResponses, messages: playMessages, chat: playChat }

// ---------------------------------------------------------------- models
function modelsBody() {
  if (script.modelsBody !== undefined) return script.modelsBody
  const wanted = (
    script.models ?? [
      { id: 'fake-large', name: 'Fake Large' },
      { id: 'fake-small', name: 'Fake Small' },
    ]
  ).map((m) => (typeof m === 'string' ? { id: m } : m))
  return {
    object: 'list', // OpenAI and Anthropic list clients read "data"; Codex reads "models"
    data: wanted.map((m) => ({
      id: m.id,
      object: 'model',
      type: 'model',
      display_name: m.name ?? m.id,
      created: 1750000000,
      created_at: '2025-06-15T00:00:00Z',
      owned_by: 'fake',
    })),
    has_more: false,
    first_id: wanted[0]?.id ?? null,
    last_id: wanted.at(-1)?.id ?? null,
    models: wanted.map((m, i) => codexModel(m, i)),
  }
}
// The smallest entry that Codex 0.171 parses, plus what makes its shell tool usable.
function codexModel(m, priority) {
  return {
    slug: m.id,
    display_name: m.name ?? m.id,
    description: m.description ?? `Scripted model ${m.id}`,
    default_reasoning_level: 'medium',
    supported_reasoning_levels: ['low', 'medium', 'high'].map((effort) => ({ effort, description: effort })),
    shell_type: 'shell_command',
    visibility: 'list',
    supported_in_api: true,
    priority,
    availability_nux: null,
    upgrade: null,
    base_instructions: 'You are a scripted model used in tests.',
    supports_reasoning_summaries: true,
    default_reasoning_summary: 'auto',
    support_verbosity: false,
    default_verbosity: null,
    apply_patch_tool_type: 'freeform',
    truncation_policy: { mode: 'bytes', limit: 10000 },
    supports_parallel_tool_calls: true,
    context_window: m.contextWindow ?? 200000,
    experimental_supported_tools: [],
    input_modalities: ['text', 'image'],
    ...m.codex,
  }
}

// ---------------------------------------------------------------- HTTP
function classify(method, path) {
  if (method === 'POST') {
    if (path.endsWith('/responses/compact')) return 'compact'
    if (path.endsWith('/responses')) return 'responses'
    if (path.endsWith('/messages/count_tokens')) return 'count_tokens'
    if (path.endsWith('/messages')) return 'messages'
    if (path.endsWith('/chat/completions')) return 'chat'
  }
  if (method === 'GET' && path.endsWith('/models')) return 'models'
  if (path === '/' && (method === 'GET' || method === 'HEAD')) return 'probe'
  return 'unknown'
}
function decode(buffer, encoding) {
  try {
    if (encoding === 'gzip') return zlib.gunzipSync(buffer)
    if (encoding === 'deflate') return zlib.inflateSync(buffer)
    if (encoding === 'br') return zlib.brotliDecompressSync(buffer)
    if (encoding === 'zstd' && zlib.zstdDecompressSync) return zlib.zstdDecompressSync(buffer)
  } catch {
    /* logged as it came */
  }
  return encoding && encoding !== 'identity' ? null : buffer
}
function parseBody(buffer, headers) {
  if (!buffer.length) return null
  const plain = decode(buffer, headers['content-encoding'])
  if (!plain) return { base64: buffer.toString('base64'), encoding: headers['content-encoding'] }
  const text = plain.toString('utf8')
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
function refused(headers) {
  const { bearer, apiKey } = script.auth ?? {}
  if (bearer === undefined && apiKey === undefined) return false
  if (bearer !== undefined && headers.authorization === `Bearer ${bearer}`) return false
  return apiKey === undefined || headers['x-api-key'] !== apiKey
}
function json(res, status, body, headers = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body ?? {})
  res.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'request-id': id('req'),
    ...headers,
  })
  res.end(text)
}
const errorBody = (type, message) => ({ type: 'error', error: { type, code: type, message, param: null } })

async function onRequest(req, res) {
  const url = new URL(req.url, 'http://fake')
  const chunks = []
  try {
    for await (const c of req) chunks.push(c)
  } catch {
    return
  }
  const body = parseBody(Buffer.concat(chunks), req.headers)

  if (url.pathname.startsWith('/__fake/')) {
    const verb = url.pathname.slice(8)
    if (req.method === 'POST' && verb === 'turns') {
      turns.push(...(body?.turns ?? []))
      return json(res, 200, { turnsLeft: turns.length })
    }
    if (req.method === 'POST' && verb === 'release') {
      released.add(body?.name)
      for (const go of waiting.get(body?.name) ?? []) go()
      waiting.delete(body?.name)
      return json(res, 200, {})
    }
    if (verb === 'state') return json(res, 200, { turnsLeft: turns.length, served: state.served, open: state.open })
    if (verb === 'requests') return json(res, 200, records)
    return json(res, 404, {})
  }

  const n = ++state.n
  const started = Date.now()
  const api = classify(req.method, url.pathname)
  const ask = { n, api, transport: 'http', body }
  log({
    rec: 'request',
    n,
    api,
    transport: 'http',
    method: req.method,
    path: url.pathname,
    query: url.search,
    headers: req.headers,
    body,
  })
  let logged = false
  const end = (status, outcome, turn) => {
    if (logged) return
    logged = true
    log({ rec: 'end', n, ms: Date.now() - started, status, turn, outcome })
  }
  if (api === 'probe') {
    end(200, 'complete')
    return json(res, 200, {})
  }
  if (refused(req.headers)) {
    end(401, 'error_status')
    return json(res, 401, errorBody('authentication_error', 'bad or missing token'), { 'www-authenticate': 'Bearer' })
  }
  if (api === 'models') {
    const status = script.modelsStatus ?? 200
    end(status, status < 400 ? 'complete' : 'error_status')
    return json(
      res,
      status,
      status < 400 ? modelsBody() : errorBody('not_found_error', 'scripted'),
      script.modelsHeaders,
    )
  }
  if (api === 'unknown') {
    end(404, 'error_status')
    return json(res, 404, errorBody('not_found_error', `${req.method} ${url.pathname}`))
  }

  if (hasForeignSeal(api, body)) {
    end(400, 'error_status', 'foreign_seal')
    return json(res, 400, errorBody('invalid_request_error', 'The sealed content could not be verified.'))
  }
  const { turn, label } = pickTurn(ask)
  const abort = new AbortController()
  res.on('close', () => {
    if (!res.writableFinished) {
      abort.abort()
      end(res.headersSent ? res.statusCode : 0, 'client_closed', label)
    }
  })
  if (turn.delayMs) await sleep(turn.delayMs, abort.signal)
  if (abort.signal.aborted) return
  if (turn.status) {
    end(turn.status, turn.status < 400 ? 'complete' : 'error_status', label)
    return json(
      res,
      turn.status,
      turn.body ?? errorBody(turn.status === 429 ? 'rate_limit_error' : 'api_error', `scripted ${turn.status}`),
      turn.headers,
    )
  }
  if (api === 'count_tokens') {
    end(200, 'complete', label)
    const t = Math.ceil(JSON.stringify(body ?? '').length / 4)
    return json(res, 200, { input_tokens: t })
  }
  if (api === 'compact') {
    end(200, 'complete', label)
    return json(res, 200, {
      id: id('resp'),
      object: 'response.compaction',
      output: [{ type: 'compaction', encrypted_content: 'ZmFrZQ==' }],
    })
  }

  const streaming = body?.stream === true
  const named = api === 'responses' || api === 'messages'
  const out = {
    signal: abort.signal,
    event: (e) => streaming && res.write(`${named ? `event: ${e.type}\n` : ''}data: ${JSON.stringify(e)}\n\n`),
    comment: (c) => streaming && res.write(`: ${c}\n\n`),
    raw: (r) => streaming && res.write(r),
    flush: () => new Promise((resolve) => (streaming ? res.write('', () => setTimeout(resolve, 20)) : resolve())),
    destroy: () => {
      end(200, 'disconnected', label)
      res.socket?.destroy()
    },
  }
  state.open++
  try {
    if (streaming) {
      res.writeHead(200, {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-cache',
        'request-id': id('req'),
        ...turn.headers,
      })
      res.flushHeaders()
    }
    const whole = await players[api](turn, ask, out)
    end(200, 'complete', label)
    if (streaming) res.end()
    else json(res, 200, whole, turn.headers)
  } catch (e) {
    if (!(e instanceof Stop)) {
      console.error(`fake-upstream: ${e.stack}`)
      end(500, 'script_error', label)
      if (!res.headersSent) json(res, 500, errorBody('script_error', e.message))
      else res.destroy()
      return
    }
    end(200, e.outcome, label)
    if (e.outcome === 'client_closed' || e.outcome === 'disconnected') return
    if (streaming) res.end()
    else json(res, 500, errorBody('api_error', 'scripted stream error'))
  } finally {
    state.open--
  }
}

// ---------------------------------------------------------------- WebSocket (RFC 6455, text only, no extensions)
function frame(opcode, payload) {
  const data = Buffer.isBuffer(payload) ? payload : Buffer.from(payload, 'utf8')
  const n = data.length
  const head = n < 126 ? Buffer.from([0x80 | opcode, n]) : n < 65536 ? Buffer.alloc(4) : Buffer.alloc(10)
  if (n >= 126) {
    head[0] = 0x80 | opcode
    if (n < 65536) {
      head[1] = 126
      head.writeUInt16BE(n, 2)
    } else {
      head[1] = 127
      head.writeBigUInt64BE(BigInt(n), 2)
    }
  }
  return Buffer.concat([head, data])
}
function onUpgrade(req, socket) {
  const url = new URL(req.url, 'http://fake')
  const conn = ++state.conns
  const n = ++state.n
  const key = req.headers['sec-websocket-key']
  log({ rec: 'ws_open', n, conn, path: url.pathname, query: url.search, headers: req.headers })
  const deny = (status, text) => {
    log({ rec: 'ws_close', n, conn, code: status })
    socket.end(`HTTP/1.1 ${status} ${text}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`)
  }
  socket.on('error', () => {})
  if (script.wsStatus) return deny(script.wsStatus, 'Scripted')
  if (!url.pathname.endsWith('/responses') || !key) return deny(404, 'Not Found')
  if (refused(req.headers)) return deny(401, 'Unauthorized')
  const accept = createHash('sha1')
    .update(key + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11')
    .digest('base64')
  const extra = Object.entries(script.wsHeaders ?? {})
    .map(([k, v]) => `${k}: ${v}\r\n`)
    .join('')
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${accept}\r\n${extra}\r\n`,
  )
  const abort = new AbortController()
  let buffered = Buffer.alloc(0)
  let parts = []
  let queue = Promise.resolve()
  let closed = false
  const close = (code) => {
    if (closed) return
    closed = true
    abort.abort()
    log({ rec: 'ws_close', n, conn, code })
  }
  socket.on('close', () => close(1006))
  socket.on('data', (chunk) => {
    buffered = Buffer.concat([buffered, chunk])
    for (;;) {
      if (buffered.length < 2) return
      let size = buffered[1] & 0x7f
      let at = 2
      if (size === 126) {
        if (buffered.length < 4) return
        size = buffered.readUInt16BE(2)
        at = 4
      } else if (size === 127) {
        if (buffered.length < 10) return
        size = Number(buffered.readBigUInt64BE(2))
        at = 10
      }
      const masked = buffered[1] & 0x80
      if (buffered.length < at + (masked ? 4 : 0) + size) return
      const mask = masked ? buffered.subarray(at, at + 4) : null
      if (masked) at += 4
      const data = Buffer.from(buffered.subarray(at, at + size))
      if (mask) for (let i = 0; i < data.length; i++) data[i] ^= mask[i & 3]
      const fin = buffered[0] & 0x80
      const opcode = buffered[0] & 0x0f
      buffered = buffered.subarray(at + size)
      if (opcode === 8) {
        const code = data.length >= 2 ? data.readUInt16BE(0) : 1005
        close(code)
        socket.end(frame(8, data))
        return
      }
      if (opcode === 9) {
        socket.write(frame(10, data))
        continue
      }
      if (opcode === 10) continue
      parts.push(data)
      if (!fin) continue
      const text = Buffer.concat(parts).toString('utf8')
      parts = []
      queue = queue
        .then(() => onMessage(text))
        .catch((e) => {
          console.error(`fake-upstream: ${e.stack}`)
          socket.destroy()
        })
    }
  })
  async function onMessage(text) {
    let body
    try {
      body = JSON.parse(text)
    } catch {
      body = text
    }
    const m = ++state.n
    const started = Date.now()
    log({
      rec: 'request',
      n: m,
      conn,
      api: 'responses',
      transport: 'ws',
      method: 'WS',
      path: url.pathname,
      query: url.search,
      headers: {},
      body,
    })
    const end = (status, outcome, turn) =>
      log({ rec: 'end', n: m, conn, ms: Date.now() - started, status, turn, outcome })
    if (body?.type !== 'response.create') return end(0, 'ignored')
    const send = (value) => {
      if (!closed) socket.write(frame(1, typeof value === 'string' ? value : JSON.stringify(value)))
    }
    const out = {
      signal: abort.signal,
      event: send,
      comment: () => socket.write(frame(9, '')),
      raw: send,
      flush: () => sleep(20),
      destroy: () => {
        socket.destroy()
        close(1006)
      },
    }
    if (body.generate === false) {
      // a warm-up: no model call, so no turn is used
      await playResponses({ steps: [], usage: { input: 0, output: 0 } }, { body }, out)
      return end(200, 'complete', 'warmup')
    }
    const { turn, label } = pickTurn({ n: m, api: 'responses', transport: 'ws', body })
    if (turn.delayMs) await sleep(turn.delayMs, abort.signal)
    if (turn.status) {
      send({
        type: 'error',
        status: turn.status,
        headers: turn.headers ?? {},
        error: turn.body?.error ?? {
          type: 'api_error',
          code: turn.status === 429 ? 'rate_limit_exceeded' : 'api_error',
          message: `scripted ${turn.status}`,
        },
      })
      return end(turn.status, 'error_status', label)
    }
    state.open++
    try {
      await playResponses(turn, { body }, out)
      end(200, 'complete', label)
    } catch (e) {
      if (!(e instanceof Stop)) throw e
      end(200, e.outcome, label)
      if (e.outcome === 'truncated') {
        socket.end(frame(8, Buffer.from([0x03, 0xe8])))
        close(1000)
      }
    } finally {
      state.open--
    }
  }
}

// ---------------------------------------------------------------- start
const server = createServer((req, res) => {
  onRequest(req, res).catch((e) => {
    console.error(`fake-upstream: ${e.stack}`)
    res.destroy()
  })
})
server.on('upgrade', onUpgrade)
server.on('clientError', (_e, socket) => socket.destroy())
server.keepAliveTimeout = 60000
server.listen(args.port, args.host, () => {
  const { port } = server.address()
  process.stdout.write(`${port}\n`)
  if (!args.quiet) process.stderr.write(`fake-upstream: http://${args.host}:${port}\n`)
})
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(0))
