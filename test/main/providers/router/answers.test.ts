import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { decodeCopy } from '../../../../src/main/providers/router/decoded-copy.ts'
import { createFakeClock } from '../../../support/clock.ts'
import { CANARY, MIB, answerEvents, call, open, startRouter, startUpstream } from './support.ts'

const BODY = '{"model":"model-a"}'
const MESSAGES = { routeProtocol: 'anthropic_messages', client: 'claude' } as const
const COMPLETED =
  'event: response.completed\ndata: {"type":"response.completed","response":{"id":"resp_1","model":"m-1","usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":80},"output_tokens":9,"output_tokens_details":{"reasoning_tokens":4}}}}\n\n'
const DELTA = 'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"hi"}\n\n'

/** Lets the test end or cut the answer when it wants to. */
function heldAnswer(first: string): {
  answer: (_: unknown, response: ServerResponse) => void
  response(): ServerResponse
} {
  let held: ServerResponse | null = null
  return {
    answer(_request, response) {
      held = response
      answerEvents(response, first)
    },
    response() {
      if (held === null) throw new Error('nothing was asked')
      return held
    },
  }
}

describe('a stream', () => {
  test('PR-A51 10,000 chunks of any size arrive as they were sent', async () => {
    const sent = createHash('sha256')
    await using upstream = await startUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      let seed = 7
      const next = (): number => (seed = (seed * 48_271) % 2_147_483_647)
      const text = Buffer.from('event: x\ndata: "žluťoučký kůň 🐎"\r\n\r\n: ping\n\n'.repeat(40))
      let left = 10_000
      const write = (): void => {
        while (left-- > 0) {
          const from = next() % 64
          const chunk = text.subarray(from, from + 1 + (next() % 300))
          sent.update(chunk)
          if (!response.write(chunk)) return void response.once('drain', write)
        }
        const last = Buffer.from(`\n\n${COMPLETED}`)
        sent.update(last)
        response.end(last)
      }
      write()
    })
    await using to = await startRouter({ baseUrl: upstream.url })
    const reply = await call(to, { path: '/v1/responses', body: BODY })
    expect(reply.complete).toBe(true)
    expect(createHash('sha256').update(reply.body).digest('hex')).toBe(sent.digest('hex'))
    expect((await to.exchange()).end).toBe('completed')
  })

  test('each event leaves when it comes, the head before any of them', async () => {
    const held = heldAnswer('')
    await using upstream = await startUpstream(held.answer)
    await using to = await startRouter({ baseUrl: upstream.url })
    upstream.answer = (request, response) => {
      held.answer(request, response)
      response.flushHeaders()
    }
    const response = await open(to, { path: '/v1/responses', body: BODY })
    expect(response.headers['content-type']).toBe('text/event-stream')
    for (const event of [DELTA, DELTA, COMPLETED]) {
      held.response().write(event)
      const [chunk] = (await once(response, 'data')) as [Buffer]
      expect(chunk.toString()).toBe(event)
    }
    held.response().end()
    await once(response, 'end')
    expect(to.marked).toHaveLength(1)
  })

  test('marks a history that is empty, and one that is marked already not again', async () => {
    await using upstream = await startUpstream(heldAnswer('').answer)
    upstream.answer = (_request, response) => void response.end('{}')
    const marks = async (historyState: 'empty' | 'may_contain_opaque'): Promise<number> => {
      await using to = await startRouter({ baseUrl: upstream.url, binding: { historyState } })
      await once((await open(to, { path: '/v1/responses', body: BODY })).resume(), 'end')
      return to.marked.length
    }
    expect([await marks('empty'), await marks('may_contain_opaque')]).toEqual([1, 0])
  })

  test('PR-A64 counts input without what was cached; Anthropic’s last delta wins', async () => {
    await using upstream = await startUpstream((request, response) => {
      if (request.url.endsWith('/responses')) answerEvents(response, COMPLETED)
      else {
        answerEvents(
          response,
          'event: message_start\ndata: {"type":"message_start","message":{"type":"message","id":"msg_1","model":"c","usage":{"input_tokens":20,"cache_read_input_tokens":80,"output_tokens":1}}}\n\n' +
            'data: {"type":"message_delta","delta":{"stop_reason":null},"usage":{"output_tokens":5}}\n\n' +
            'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}\n\n' +
            'event: message_stop\ndata: {"type":"message_stop"}\n\n',
        )
      }
      response.end()
    })
    await using to = await startRouter({ baseUrl: upstream.url })
    await using claude = await startRouter({ baseUrl: upstream.url, binding: MESSAGES })
    await call(to, { path: '/v1/responses', body: BODY })
    await call(claude, { path: '/v1/messages', body: BODY })
    expect(await to.exchange()).toMatchObject({
      usage: { input: 20, cacheRead: 80, cacheWrite: null, output: 9, reasoning: 4 },
      responseId: 'resp_1',
      modelReported: 'm-1',
      end: 'completed',
      status: 200,
    })
    expect(await claude.exchange()).toMatchObject({
      usage: { input: 20, cacheRead: 80, cacheWrite: null, output: 9 },
      responseId: 'msg_1',
      modelReported: 'c',
    })
  })

  test('PR-A64 an answer that comes packed passes as it is, and is counted', async () => {
    const used = '"usage":{"input_tokens":100,"output_tokens":7}'
    const body = gzipSync(`data: {"type":"response.completed","response":{"id":"r",${used}}}\n\n`)
    await using upstream = await startUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' })
      response.end(body)
    })
    await using to = await startRouter({ baseUrl: upstream.url })
    const reply = await call(to, { path: '/v1/responses', body: BODY })
    expect([reply.headers['content-encoding'], reply.body.equals(body)]).toEqual(['gzip', true])
    expect(await to.exchange()).toMatchObject({ usage: { input: 100, output: 7 }, responseId: 'r', end: 'completed' })
  })

  test.each([
    ['whole', 1_000, true],
    ['a bomb', 2_000_000, false],
  ])('a copy that is decoded is taken whole, or given up: %s', async (_what, bytes, whole) => {
    let taken = 0
    const copy = decodeCopy('gzip', (chunk) => (taken += chunk.length), MIB)
    copy?.push(gzipSync(Buffer.alloc(bytes)))
    expect([await copy?.over(), taken <= MIB]).toEqual([whole, true])
    expect(decodeCopy('x-unknown', () => undefined)).toBeNull()
  })

  test('an agent that hangs up behind the last event has had it all', async () => {
    const held = heldAnswer('data: {"type":"response.completed","response":{"id":"r","usage":{"output_tokens":7}}}\n\n')
    await using upstream = await startUpstream(held.answer)
    await using to = await startRouter({ baseUrl: upstream.url })
    const response = await open(to, { path: '/v1/responses', body: BODY })
    await once(response, 'data')
    response.destroy()
    expect(await to.exchange()).toMatchObject({ usage: { output: 7 }, end: 'completed', code: null })
  })

  test.each([
    '{"input_tokens":1e308,"output_tokens":0.5,"input_tokens_details":{"cached_tokens":-1}}',
    '{"input_tokens":"","output_tokens":"0x10"}',
    '{"input_tokens":1000000001,"output_tokens":" "}',
  ])('what cannot be true is no usage, and an empty name is none: %s', async (usage) => {
    await using upstream = await startUpstream((_request, response) => {
      answerEvents(response, `data: {"type":"response.completed","response":{"id":"","model":"","usage":${usage}}}\n\n`)
      response.end()
    })
    await using to = await startRouter({ baseUrl: upstream.url })
    await call(to, { path: '/v1/responses', body: BODY })
    expect(await to.exchange()).toMatchObject({
      usage: null,
      responseId: null,
      modelReported: null,
      end: 'completed',
    })
  })

  test('PR-A65 an event that is no JSON passes as it came, and counts nothing', async () => {
    const text = 'event: response.completed\ndata: {"response":{"usage":{"input_tokens":1},oops\n\n'
    await using upstream = await startUpstream((_request, response) => {
      answerEvents(response, text)
      response.end()
    })
    await using to = await startRouter({ baseUrl: upstream.url })
    expect(await call(to, { path: '/v1/responses', body: BODY })).toMatchObject({ text, complete: true })
    expect(await to.exchange()).toMatchObject({ usage: null, responseId: null, status: 200 })
  })

  test('PR-A53 the agent hangs up: the upstream sees it and no flight is left', async () => {
    const held = heldAnswer(DELTA)
    await using upstream = await startUpstream(held.answer)
    await using to = await startRouter({ baseUrl: upstream.url })
    const response = await open(to, { path: '/v1/responses', body: BODY })
    response.on('error', () => undefined)
    await once(response, 'data')
    const ended = to.nextExchange()
    const upstreamClosed = once(held.response(), 'close')
    response.destroy()
    await upstreamClosed
    expect(await ended).toMatchObject({ end: 'client_aborted', code: null })
    expect(to.router.flights()).toBe(0)
  })

  test('PR-A53 the agent hangs up before the upstream has answered', async () => {
    await using upstream = await startUpstream(() => undefined)
    await using to = await startRouter({ baseUrl: upstream.url })
    const ended = to.nextExchange()
    const socket = connect(to.port, '127.0.0.1')
    socket.write(
      `POST /v1/responses HTTP/1.1\r\nHost: 127.0.0.1:${to.port}\r\nx-api-key: ${to.routeId}\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`,
    )
    await expect.poll(() => upstream.seen.length).toBe(1)
    socket.destroy()
    expect(await ended).toMatchObject({ end: 'client_aborted', status: null })
    await expect.poll(() => upstream.sockets.size).toBe(0)
  })

  test.runIf(process.platform === 'linux')(
    'PR-A52 an agent that does not read holds the upstream back within 1 MiB',
    async () => {
      let written = 0
      await using upstream = await startUpstream((_request, response) => {
        response.writeHead(200, { 'content-type': 'application/octet-stream' })
        const chunk = Buffer.alloc(65_536, 'x')
        const write = (): void => {
          while (written < 200 * MIB) {
            written += chunk.length
            if (!response.write(chunk)) return void response.once('drain', write)
          }
          response.end()
        }
        write()
      })
      await using to = await startRouter({ baseUrl: upstream.url })
      const response = await open(to, { path: '/v1/responses', body: BODY })
      response.on('error', () => undefined).pause()
      const agentPort = response.socket.localPort ?? 0
      // What the kernel holds on either side is in nobody's memory.
      const queued = (port: number): number => kernelQueues(port)
      let before = -1
      await expect
        .poll(() => [before === written, (before = written)][0], { interval: 400, timeout: 15_000 })
        .toBe(true)
      const [fromUpstream] = upstream.sockets
      const pulled = (fromUpstream?.bytesWritten ?? 0) - queued(fromUpstream?.remotePort ?? 0)
      const accepted = response.socket.bytesRead + queued(agentPort)
      expect(pulled).toBeGreaterThan(0)
      expect(pulled - accepted).toBeLessThanOrEqual(MIB)
      response.destroy()
    },
  )
})

/** Bytes in the send and receive queues of the loopback connection whose one end is `port`. */
function kernelQueues(port: number): number {
  const mark = `:${port.toString(16).toUpperCase().padStart(4, '0')} `
  const rows = readFileSync('/proc/net/tcp', 'latin1').split('\n')
  let bytes = 0
  for (const row of rows.filter((line) => line.includes(mark))) {
    const [send = '0', receive = '0'] = row.trim().split(/\s+/)[4]?.split(':') ?? []
    bytes += Number.parseInt(send, 16) + Number.parseInt(receive, 16)
  }
  return bytes
}

describe('an upstream that goes away', () => {
  test('PR-A54 at an event boundary: one error event and a clean end', async () => {
    const held = heldAnswer(DELTA)
    await using upstream = await startUpstream(held.answer)
    await using to = await startRouter({ baseUrl: upstream.url })
    const response = await open(to, { path: '/v1/responses', body: BODY })
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => void chunks.push(chunk))
    await once(response, 'data')
    held.response().destroy()
    await once(response, 'end')
    const text = Buffer.concat(chunks).toString()
    expect(text.startsWith(DELTA)).toBe(true)
    const event = /^event: error\ndata: (.+)\n\n$/.exec(text.slice(DELTA.length))
    expect(JSON.parse(event?.[1] ?? '')).toMatchObject({ type: 'error', code: 'upstream_disconnected' })
    expect(await to.exchange()).toMatchObject({
      end: 'upstream_disconnected',
      code: 'upstream_disconnected',
      status: 200,
    })
  })

  test('PR-A54 inside an event: the prefix and a cut', async () => {
    const prefix = DELTA + 'event: response.output_te'
    const held = heldAnswer(prefix)
    await using upstream = await startUpstream(held.answer)
    await using to = await startRouter({ baseUrl: upstream.url })
    const running = call(to, { path: '/v1/responses', body: BODY })
    await expect.poll(() => upstream.seen.length).toBe(1)
    held.response().destroy()
    expect(await running).toMatchObject({ complete: false, text: prefix })
  })

  test('a plain answer that is cut is cut for the agent too', async () => {
    await using upstream = await startUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 })
      response.write('{"a":', () => void response.destroy())
    })
    await using to = await startRouter({ baseUrl: upstream.url })
    expect((await call(to, { path: '/v1/responses', body: BODY })).complete).toBe(false)
  })

  const ends = (text: string) => async (binding: object, path: string) => {
    await using upstream = await startUpstream((_request, response) => {
      answerEvents(response, text)
      response.end()
    })
    await using to = await startRouter({ baseUrl: upstream.url, binding })
    const reply = await call(to, { path, body: BODY })
    return { ...reply, end: (await to.exchange()).end }
  }
  const TEXT =
    'event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"type":"text_delta","text":"hi"}}\n\n'

  test('PR-A74 messages, ended after text: one error event', async () => {
    const reply = await ends(TEXT)(MESSAGES, '/v1/messages')
    expect(reply.complete).toBe(true)
    const event = /^event: error\ndata: (.+)\n\n$/.exec(reply.text.slice(TEXT.length))
    expect(JSON.parse(event?.[1] ?? '')).toMatchObject({ type: 'error', error: { type: 'api_error' } })
    expect(reply.end).toBe('upstream_disconnected')
  })

  test('PR-A74 messages, ended after a stop reason: passes as it came', async () => {
    const text = TEXT + 'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}\n\n'
    expect(await ends(text)(MESSAGES, '/v1/messages')).toMatchObject({ text, complete: true, end: 'completed' })
  })

  test('PR-A74 responses, ended after text: one error event', async () => {
    const reply = await ends(DELTA)({}, '/v1/responses')
    expect(reply.text.slice(DELTA.length)).toContain('upstream_disconnected')
  })

  test('PR-A74 ended inside an event: the socket is cut', async () => {
    expect(await ends(DELTA + 'data: {"ty')({}, '/v1/responses')).toMatchObject({ complete: false })
  })

  test('PR-A74 a packed stream that ends before its last word is cut: no event of ours can follow', async () => {
    const body = gzipSync(DELTA)
    await using upstream = await startUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' })
      response.end(body)
    })
    await using to = await startRouter({ baseUrl: upstream.url })
    const reply = await call(to, { path: '/v1/responses', body: BODY })
    expect([reply.complete, reply.body.equals(body)]).toEqual([false, true])
    expect((await to.exchange()).end).toBe('upstream_disconnected')
  })

  test('a failed response ends its stream, and its error is kept', async () => {
    const failed =
      'event: response.failed\ndata: {"type":"response.failed","response":{"id":"r","error":{"code":"server_error"}}}\n\n'
    await using upstream = await startUpstream((_request, response) => {
      answerEvents(response, failed)
      response.end()
    })
    await using to = await startRouter({ baseUrl: upstream.url })
    expect((await call(to, { path: '/v1/responses', body: BODY })).text).toBe(failed)
    expect(await to.exchange()).toMatchObject({ end: 'failed', streamError: 'server_error', status: 200 })
  })

  test('an upstream that sends one byte at a time is waited for, however long it takes', async () => {
    const text = DELTA.slice(0, 40)
    await using upstream = await startUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      let at = 0
      const next = (): void => {
        if (at === text.length) response.end(`${DELTA.slice(at)}${COMPLETED}`)
        else response.write(text.slice(at, ++at), () => setTimeout(next, 50))
      }
      next()
    })
    // In all it takes longer than a silence may.
    await using to = await startRouter({ baseUrl: upstream.url, upstream: { silenceMs: 1_500 } })
    const reply = await call(to, { path: '/v1/responses', body: BODY })
    expect(reply).toMatchObject({ text: DELTA + COMPLETED, complete: true })
    expect(await to.exchange()).toMatchObject({ end: 'completed' })
  })

  test('an upstream that falls silent is gone', async () => {
    const held = heldAnswer(DELTA)
    await using upstream = await startUpstream(held.answer)
    await using to = await startRouter({ baseUrl: upstream.url, upstream: { silenceMs: 1_500 } })
    const reply = await call(to, { path: '/v1/responses', body: BODY })
    expect(reply.text.slice(DELTA.length)).toContain('upstream_disconnected')
  })
})

describe('an error answer', () => {
  const unauthorized = (_request: unknown, response: ServerResponse): void => {
    const body = JSON.stringify({ error: { message: `bad key ${CANARY}, ${CANARY}` } })
    response.writeHead(401, { 'content-type': 'application/json', 'content-length': body.length, 'x-request-id': 'q1' })
    response.write(body.slice(0, 40))
    setImmediate(() => response.end(body.slice(40)))
  }

  test('PR-A50 does not echo the key', async () => {
    await using upstream = await startUpstream(unauthorized)
    await using to = await startRouter({ baseUrl: upstream.url, binding: MESSAGES })
    const reply = await call(to, { path: '/v1/messages', body: BODY })
    expect(reply.status).toBe(401)
    expect(reply.text).toBe('{"error":{"message":"bad key [secret], [secret]"}}')
    expect(reply.headers['content-length']).toBe(String(reply.text.length))
  })

  test('PR-A50 not behind the first 64 KiB either', async () => {
    const filler = 'f'.repeat(65_530)
    await using upstream = await startUpstream((_request, response) => {
      response.writeHead(500, { 'content-type': 'text/plain' })
      response.end(filler + CANARY + filler)
    })
    await using to = await startRouter({ baseUrl: upstream.url })
    expect((await call(to, { path: '/v1/responses', body: BODY })).text).toBe(`${filler}[secret]${filler}`)
  })

  test('PR-A50 nor in an answer that was encoded unasked', async () => {
    await using upstream = await startUpstream((_request, response) => {
      response.writeHead(403, { 'content-type': 'text/plain', 'content-encoding': 'gzip' })
      response.end(gzipSync(`no: ${CANARY}`))
    })
    await using to = await startRouter({ baseUrl: upstream.url })
    const reply = await call(to, { path: '/v1/responses', body: BODY })
    expect([reply.status, reply.text, reply.headers['content-encoding']]).toEqual([403, 'no: [secret]', undefined])
  })

  test('PR-A50 nor in any form that a log or a login gives it', async () => {
    const key = `${CANARY}/`
    await using upstream = await startUpstream((_request, response) => {
      response.writeHead(500, { 'content-type': 'text/plain' })
      response.end(`${encodeURIComponent(key)} ${Buffer.from(`user:${key}`).toString('base64')}`)
    })
    await using to = await startRouter({ baseUrl: upstream.url, key })
    const { text } = await call(to, { path: '/v1/responses', body: BODY })
    expect(text).toMatch(/^\[secret\] dXNlcj\w?\[secret\]\w?=*$/)
  })

  test('PR-A50 nor in an encoding that nobody reads: such a body stays here', async () => {
    await using upstream = await startUpstream((_request, response) => {
      response.writeHead(400, { 'content-type': 'text/plain', 'content-encoding': 'x-gzip' })
      response.end(gzipSync(`no: ${CANARY}`))
    })
    await using to = await startRouter({ baseUrl: upstream.url })
    const reply = await call(to, { path: '/v1/responses', body: BODY })
    expect([reply.status, reply.text, reply.headers['content-encoding']]).toEqual([400, '', undefined])
  })

  test.each([
    ['that is cut', {}, '{"error":'],
    ['that cannot be decoded', { 'content-encoding': 'gzip' }, 'no gzip'],
  ])('PR-A76 a body %s leaves its status and its head', async (_how, headers, body) => {
    await using upstream = await startUpstream((_request, response) => {
      response.writeHead(401, { ...headers, 'content-length': body.length + 5, 'x-request-id': 'q1' })
      response.write(body, () => response.destroy())
    })
    await using to = await startRouter({ baseUrl: upstream.url })
    const reply = await call(to, { path: '/v1/responses', body: BODY })
    expect([reply.status, reply.headers['x-request-id'], reply.complete]).toEqual([400, 'q1', false])
  })

  test.each([200, 500])('PR-A50 nor in a header (status %i)', async (status) => {
    await using upstream = await startUpstream((_request, response) => {
      response.writeHead(status, { 'x-debug': `Bearer ${CANARY}`, 'x-many': ['a', CANARY] })
      response.end('{}')
    })
    await using to = await startRouter({ baseUrl: upstream.url })
    const { headers } = await call(to, { path: '/v1/responses', body: BODY })
    expect([headers['x-debug'], headers['x-many']]).toEqual(['Bearer [secret]', 'a, [secret]'])
  })

  test('PR-A50 what is kept of an answer holds it in no field', async () => {
    const text = `data: {"type":"response.failed","response":{"id":"${CANARY}","model":"${CANARY}","error":{"code":"${CANARY}"}}}\n\n`
    await using upstream = await startUpstream((_request, response) => {
      response.setHeader('x-request-id', CANARY)
      answerEvents(response, text)
      response.end()
    })
    await using to = await startRouter({ baseUrl: upstream.url })
    expect((await call(to, { path: '/v1/responses', body: BODY })).text).toBe(text)
    const exchange = await to.exchange()
    expect(exchange).toMatchObject({ modelReported: '[secret]', responseId: '[secret]', requestId: '[secret]' })
    expect(JSON.stringify(exchange)).not.toContain(CANARY)
  })

  test('PR-A76 401 stops Claude Code by header and Codex by status; the record keeps it', async () => {
    await using upstream = await startUpstream(unauthorized)
    await using to = await startRouter({ baseUrl: upstream.url })
    await using claude = await startRouter({ baseUrl: upstream.url, binding: MESSAGES })
    const messages = await call(claude, { path: '/v1/messages', body: BODY })
    expect([messages.status, messages.headers['x-should-retry']]).toEqual([401, 'false'])
    const responses = await call(to, { path: '/v1/responses', body: BODY })
    expect([responses.status, responses.headers['x-wheelhouse-upstream-status']]).toEqual([400, '401'])
    expect(await to.exchange()).toMatchObject({
      status: 401,
      origin: 'upstream',
      requestId: 'q1',
      end: 'failed',
      code: null,
    })
  })

  test('PR-A75 a permanent refusal: 400 for Codex, the table’s status and a header for Claude', async () => {
    await using to = await startRouter({ baseUrl: 'http://127.0.0.1:1', key: null })
    await using claude = await startRouter({ baseUrl: 'http://127.0.0.1:1', binding: MESSAGES })
    const missing = await call(to, { path: '/v1/responses', body: BODY })
    expect([missing.status, missing.headers['x-wheelhouse-error'], missing.headers['x-should-retry']]).toEqual([
      400,
      'model_profile_credential_not_ready',
      'false',
    ])
    const noKey = await call(to, { path: '/v1/responses', body: BODY, headers: { authorization: '' } })
    expect([noKey.status, noKey.headers['x-wheelhouse-error']]).toEqual([400, 'route_admission_denied'])
    const messages = await call(claude, { path: '/v1/nothing', body: BODY })
    expect([messages.status, messages.headers['x-should-retry']]).toEqual([404, 'false'])
    const encoded = await call(claude, { path: '/v1/messages', body: BODY, headers: { 'content-encoding': 'x' } })
    expect([encoded.status, encoded.headers['x-should-retry']]).toEqual([415, 'false'])
    expect(JSON.parse(encoded.text)).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } })
  })

  test('PR-A77 a header timeout is permanent at once', async () => {
    await using upstream = await startUpstream(() => undefined)
    const upstreamDeps = { headMs: 300 }
    await using to = await startRouter({ baseUrl: upstream.url, upstream: upstreamDeps })
    await using claude = await startRouter({ baseUrl: upstream.url, upstream: upstreamDeps, binding: MESSAGES })
    const responses = await call(to, { path: '/v1/responses', body: BODY })
    expect([responses.status, responses.headers['x-wheelhouse-error']]).toEqual([400, 'upstream_timeout'])
    const messages = await call(claude, { path: '/v1/messages', body: BODY })
    expect([messages.status, messages.headers['x-should-retry']]).toEqual([504, 'false'])
  })

  test('PR-A77 an unreachable upstream is retryable for 120 s, then not, and again after a pause', async () => {
    const clock = createFakeClock()
    await using to = await startRouter({ baseUrl: 'http://127.0.0.1:1', clock })
    const ask = async (): Promise<unknown> => {
      const { status, headers } = await call(to, { path: '/v1/responses', body: BODY })
      expect(headers['x-wheelhouse-error']).toBe('upstream_unreachable')
      return [status, headers['x-should-retry']]
    }
    for (let seconds = 0; seconds < 119; seconds += 17) {
      expect(await ask()).toEqual([502, 'true'])
      await clock.advance(17_000)
    }
    await clock.advance(2_000)
    expect(await ask()).toEqual([400, 'false'])
    await clock.advance(30_000)
    expect(await ask()).toEqual([502, 'true'])
  })

  test('a history mark that could not be written fails the request', async () => {
    await using upstream = await startUpstream()
    await using to = await startRouter({
      baseUrl: upstream.url,
      port: { markOpaque: () => Promise.resolve({ applied: false, durable: false }) },
    })
    const reply = await call(to, { path: '/v1/responses', body: BODY })
    expect([reply.status, reply.headers['x-should-retry']]).toEqual([503, 'true'])
    expect(reply.text).not.toContain('"r1"')
  })

  test('a Router that stops refuses, and gives its port free', async () => {
    await using upstream = await startUpstream()
    await using to = await startRouter({ baseUrl: upstream.url, port: { ready: () => false } })
    const reply = await call(to, { path: '/v1/responses', body: BODY })
    expect([reply.status, reply.headers['x-wheelhouse-error']]).toEqual([503, 'model_profiles_unavailable'])
    await to.router.stop(AbortSignal.abort())
    await expect(call(to, { path: '/v1/responses', body: BODY })).rejects.toThrowError('ECONNREFUSED')
  })
})
