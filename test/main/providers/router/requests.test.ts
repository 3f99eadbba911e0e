import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { createFakeClock } from '../../../support/clock.ts'
import { CANARY, MIB, aBinding, answerJson, call, listen, startRouter, startUpstream } from './support.ts'

const BODY = '{"model":"model-a","input":[]}'
const MESSAGES = { routeProtocol: 'anthropic_messages', client: 'claude' } as const

function codeOf(text: string): unknown {
  const parsed = JSON.parse(text) as { error: { code?: string; message: string } }
  return parsed.error.code ?? /\[(\w+)\]$/.exec(parsed.error.message)?.[1]
}

/** Sends bytes as they are and answers everything that comes back. */
async function raw(port: number, text: string, localAddress = '127.0.0.1'): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  let reply = ''
  socket.on('data', (chunk: Buffer) => (reply += chunk.toString('latin1')))
  socket.write(text)
  await once(socket, 'close')
  return reply
}

describe('paths', () => {
  test('PR-A40 unknown route, endpoint, verb and the other protocol are told apart', async () => {
    await using upstream = await startUpstream()
    await using to = await startRouter({ baseUrl: upstream.url })
    const unknown = await call(to, { method: 'GET', path: `/r/${'x'.repeat(43)}/v1/models` })
    expect([unknown.status, codeOf(unknown.text)]).toEqual([404, 'route_not_found'])
    const endpoint = await call(to, { path: `/r/${to.routeId}/v1/chat/completions`, body: BODY })
    expect([endpoint.status, codeOf(endpoint.text)]).toEqual([404, 'route_endpoint_unsupported'])
    const verb = await call(to, { method: 'PUT', path: `/r/${to.routeId}/v1/responses`, body: BODY })
    expect([verb.status, verb.headers.allow, codeOf(verb.text)]).toEqual([405, 'POST', 'route_method_not_allowed'])
    const other = await call(to, { path: `/r/${to.routeId}/v1/messages`, body: BODY })
    expect([other.status, codeOf(other.text)]).toEqual([404, 'route_protocol_mismatch'])
    const options = await call(to, { method: 'OPTIONS', path: '/v1/responses' })
    expect([options.status, options.headers['access-control-allow-origin']]).toEqual([405, undefined])
    expect(upstream.seen).toEqual([])
  })

  test.each([
    ['/r/%2e%2e/v1/models'],
    ['/v1//models'],
    ['http://127.0.0.1/v1/models'],
    ['/v1/../v1/models'],
    ['/v1\\models'],
    ['/v1/models?' + 'x'.repeat(8_192)],
  ])('PR-A41 %.40s is no address of ours', async (path) => {
    await using upstream = await startUpstream()
    await using to = await startRouter({ baseUrl: upstream.url })
    const reply = await call(to, { method: 'GET', path })
    expect([reply.status, codeOf(reply.text)]).toEqual([400, 'route_path_mismatch'])
    expect(upstream.seen).toEqual([])
  })

  test('Claude Code’s HEAD probe is answered without a key', async () => {
    await using to = await startRouter({ baseUrl: 'http://127.0.0.1:1' })
    for (const path of ['/', `/r/${'y'.repeat(43)}`, `/r/${to.routeId}/`]) {
      expect((await call(to, { method: 'HEAD', path, headers: { authorization: '' } })).status).toBe(204)
    }
  })

  test('PR-A82 the upstream address is the base and the path, a version not said twice', async () => {
    await using upstream = await startUpstream()
    let suffix = ''
    await using to = await startRouter({ baseUrl: () => upstream.url + suffix, binding: MESSAGES })
    for (suffix of ['', '/', '/v1', '/api/v2', '/x']) {
      expect((await call(to, { path: '/v1/messages?beta=true', body: BODY })).status).toBe(200)
    }
    expect(upstream.seen.map(({ url }) => url)).toEqual(
      ['/v1/messages', '/v1/messages', '/v1/messages', '/api/v2/messages', '/x/v1/messages'].map(
        (path) => `${path}?beta=true`,
      ),
    )
  })
})

describe('admission', () => {
  test('PR-A42 another host name, a page, another site are refused before anything is sent', async () => {
    await using upstream = await startUpstream()
    await using to = await startRouter({ baseUrl: upstream.url })
    for (const headers of [
      { host: 'evil.example' },
      { origin: 'http://localhost:3000' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { host: `127.0.0.1:${to.port + 1}` },
    ]) {
      const reply = await call(to, { path: '/v1/responses', body: BODY, headers })
      expect([reply.status, codeOf(reply.text)]).toEqual([403, 'route_admission_denied'])
    }
    expect(await raw(to.port, 'GET /v1/models HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 403/)
    expect(upstream.seen).toEqual([])
    expect(
      (await call(to, { path: '/v1/responses', body: BODY, headers: { host: `localhost:${to.port}` } })).status,
    ).toBe(200)
  })

  test.runIf(process.platform === 'linux' && process.getuid?.() === 0)(
    'PR-A42 another user of this machine is refused',
    async () => {
      await using upstream = await startUpstream()
      await using to = await startRouter({ baseUrl: upstream.url })
      const base = `http://127.0.0.1:${to.port}`
      const asks = [
        [`${base}/v1/models`, `Bearer ${to.routeId}`],
        [`${base}/r/${to.routeId}/v1/models`, ''],
        [`${base}/v1/models`, ''],
      ]
      const script = `for (const [url, authorization] of ${JSON.stringify(asks)})
        console.log((await fetch(url, { headers: { authorization } })).status)`
      const statusesAs = async (uid: number): Promise<string> => {
        const child = spawn('/usr/bin/env', ['node', '--input-type=module', '-e', script], {
          uid,
          gid: uid,
          cwd: '/',
          stdio: ['ignore', 'pipe', 'inherit'],
        })
        let printed = ''
        child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
        await once(child, 'close')
        return printed.trim().split('\n').join(' ')
      }
      // By the route id as a key, by the route's address, and without either.
      expect(await statusesAs(65_534)).toBe('403 403 403')
      expect(await statusesAs(0)).toBe('200 200 403')
    },
  )

  test('PR-A42 a Router that serves another user refuses this one', async () => {
    await using to = await startRouter({ baseUrl: 'http://127.0.0.1:1', uid: 54_321 })
    const status = process.platform === 'linux' ? 403 : 200
    expect((await call(to, { method: 'GET', path: '/v1/models' })).status).toBe(status)
    // Nor by another of the addresses that are this machine.
    if (process.platform !== 'linux') return
    const request = `GET /r/${to.routeId}/v1/models HTTP/1.1\r\nhost: 127.0.0.1:${to.port}\r\nconnection: close\r\n\r\n`
    expect(await raw(to.port, request, '127.0.0.2')).toMatch(/^HTTP\/1.1 403 /)
  })

  test.runIf(process.platform === 'linux')('PR-A42 another user holds no connection for long', async () => {
    const clock = createFakeClock()
    await using to = await startRouter({ baseUrl: 'http://127.0.0.1:1', uid: 54_321, clock })
    const socket = connect(to.port, '127.0.0.1').on('error', () => undefined)
    const closed = once(socket, 'close')
    socket.write(`GET /v1/models HTTP/1.1\r\nhost: 127.0.0.1:${to.port}\r\n\r\n`)
    const [answer] = (await once(socket, 'data')) as [Buffer]
    expect(answer.toString()).toMatch(/^HTTP\/1.1 403 /)
    await clock.advance(2_000)
    await closed
  })

  test('PR-A69 the route id as bearer, as x-api-key beside a foreign bearer, or in the path; nothing else', async () => {
    await using upstream = await startUpstream()
    await using to = await startRouter({ baseUrl: upstream.url, binding: { ...MESSAGES, authMode: 'x_api_key' } })
    const released = 'r'.repeat(43)
    to.bind(released, aBinding(released, MESSAGES))
    to.bind(released, null)
    const send = (headers: Record<string, string>, path = '/v1/messages') => call(to, { path, body: BODY, headers })
    for (const key of ['', `Bearer ${'u'.repeat(43)}`, `Bearer ${released}`]) {
      const reply = await send({ authorization: key })
      expect([reply.status, codeOf(reply.text)]).toEqual([403, 'route_admission_denied'])
    }
    expect(upstream.seen).toEqual([])
    expect((await send({})).status).toBe(200)
    expect((await send({ authorization: 'Bearer foreign', 'x-api-key': to.routeId })).status).toBe(200)
    expect((await send({ authorization: '' }, `/r/${to.routeId}/v1/messages`)).status).toBe(200)
    for (const { headers } of upstream.seen) {
      expect([headers.authorization, headers['x-api-key']]).toEqual([undefined, CANARY])
    }
  })

  test('PR-A55 an upgrade meets 426 and a closed socket, whatever the key', async () => {
    await using to = await startRouter({ baseUrl: 'http://127.0.0.1:1' })
    const reply = await raw(
      to.port,
      'GET /v1/responses HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: a\r\n\r\n',
    )
    expect(reply).toMatch(/^HTTP\/1\.1 426 Upgrade Required\r\nConnection: close\r\n/)
    expect(reply).toContain('route_websocket_rejected')
  })

  test('the 129th request of a route at once is told to come back', async () => {
    await using upstream = await startUpstream(() => undefined)
    await using to = await startRouter({ baseUrl: upstream.url })
    const running = Array.from({ length: 128 }, () => call(to, { path: '/v1/responses', body: BODY }).catch(() => null))
    await expect.poll(() => to.router.flights(), { timeout: 15_000 }).toBe(128)
    const reply = await call(to, { path: '/v1/responses', body: BODY })
    expect([reply.status, codeOf(reply.text), reply.headers['retry-after']]).toEqual([503, 'route_overloaded', '1'])
    to.router.abortRoute(aBinding(to.routeId).routeDigest)
    await Promise.all(running)
    await expect.poll(() => to.router.flights()).toBe(0)
  })
})

describe('bodies', () => {
  const sized = (bytes: number): string => `{"model":"model-a","x":"${'a'.repeat(bytes - 26)}"}`

  test('PR-A43 exactly the cap passes, one byte more is refused in the path’s own way', async () => {
    await using upstream = await startUpstream()
    await using to = await startRouter({ baseUrl: upstream.url })
    await using claude = await startRouter({ baseUrl: upstream.url, binding: MESSAGES })
    expect(sized(8 * MIB)).toHaveLength(8_388_608)
    expect((await call(to, { path: '/v1/responses', body: sized(8 * MIB) })).status).toBe(200)
    expect(upstream.seen[0]?.body).toHaveLength(8 * MIB)
    const over = sized(8 * MIB + 1)
    const responses = await call(to, { path: '/v1/responses', body: over })
    expect([responses.status, codeOf(responses.text)]).toEqual([400, 'request_body_too_large'])
    const messages = await call(claude, { path: '/v1/messages', body: over })
    expect([messages.status, codeOf(messages.text)]).toEqual([413, 'request_body_too_large'])
    const chunked = await call(claude, {
      path: '/v1/messages',
      body: over,
      headers: { 'transfer-encoding': 'chunked' },
    })
    expect(chunked.status).toBe(413)
    const bomb = gzipSync(over)
    const zipped = await call(claude, { path: '/v1/messages', body: bomb, headers: { 'content-encoding': 'gzip' } })
    expect(zipped.status).toBe(413)
    expect(upstream.seen).toHaveLength(1)
  })

  test('PR-A44 numbers and spacing survive: nothing changes, or the model’s span alone', async () => {
    await using upstream = await startUpstream()
    await using to = await startRouter({ baseUrl: upstream.url })
    const body = (model: string): string =>
      `{ "a" :1e400,\n"model"\t: "${model}" , "n":12345678901234567890 , "u":"\\u00e9é" }  `
    await call(to, { path: '/v1/responses', body: body('model-a') })
    await call(to, { path: '/v1/responses', body: body('gone') })
    expect(upstream.seen.map((seen) => seen.body.toString('utf8'))).toEqual([body('model-a'), body('model-a')])
    await to.exchange(1)
    expect(to.exchanges.map(({ flags, modelAsked, modelSent }) => ({ flags, modelAsked, modelSent }))).toEqual([
      { flags: [], modelAsked: 'model-a', modelSent: 'model-a' },
      { flags: ['model_normalised'], modelAsked: 'gone', modelSent: 'model-a' },
    ])
  })

  test('PR-A45 two models or an array are malformed', async () => {
    await using upstream = await startUpstream()
    await using to = await startRouter({ baseUrl: upstream.url })
    for (const body of [
      '{"model":"a","model":"b"}',
      '["model"]',
      '',
      '{"model":"a"',
      Buffer.from('7b22ff227d', 'hex'),
    ]) {
      const reply = await call(to, { path: '/v1/responses', body })
      expect([reply.status, codeOf(reply.text)]).toEqual([400, 'request_body_malformed'])
    }
    expect(upstream.seen).toEqual([])
  })

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ])('%s goes on as it came, or decoded when its model changes', async (encoding, encode) => {
    await using upstream = await startUpstream()
    await using to = await startRouter({ baseUrl: upstream.url })
    const fits = encode(Buffer.from(BODY))
    const headers = { 'content-encoding': encoding }
    expect((await call(to, { path: '/v1/responses', body: fits, headers })).status).toBe(200)
    const stale = encode(Buffer.from(BODY.replace('model-a', 'stale')))
    expect((await call(to, { path: '/v1/responses', body: stale, headers })).status).toBe(200)
    expect(upstream.seen.map((seen) => [seen.headers['content-encoding'], seen.body])).toEqual([
      [encoding, fits],
      [undefined, Buffer.from(BODY)],
    ])
    const cut = await call(to, { path: '/v1/responses', body: fits.subarray(0, fits.length - 6), headers })
    expect(codeOf(cut.text)).toBe('request_body_malformed')
  })

  test('PR-A46 a switch that the user made inside the agent moves no binding: the model is put right, each time', async () => {
    await using upstream = await startUpstream()
    await using to = await startRouter({ baseUrl: upstream.url })
    const fragment = '{"type":"message","role":"developer","content":[{"type":"input_text","text":"<model_switch>x"}]}'
    for (const input of ['', fragment, `${fragment},${fragment}`]) {
      const recorded = to.nextExchange()
      await call(to, { path: '/v1/responses', body: `{"model":"other","input":[${input}]}` })
      expect(await recorded).toMatchObject({ modelAsked: 'other', modelSent: 'model-a', flags: ['model_normalised'] })
    }
    expect(upstream.seen.map(({ body }) => body.toString().slice(0, 18))).toEqual(Array(3).fill('{"model":"model-a"'))
  })

  test('PR-A83 what a Provider is known to lack is refused by place and type, never with its text', async () => {
    await using upstream = await startUpstream()
    await using to = await startRouter({ baseUrl: upstream.url, binding: { preset: 'deepseek' } })
    const body = (type: string): string =>
      `{"model":"model-a","tools":[{"type":"function","name":"a"},{"name":"tell-tale","type":"${type}"}],"input":[{"type":"message","content":[{"type":"mcp"}]}]}`
    const recorded = to.nextExchange()
    const reply = await call(to, { path: '/v1/responses', body: body('file_search') })
    expect(reply.status).toBe(400)
    expect(JSON.parse(reply.text)).toMatchObject({
      error: {
        code: 'responses_feature_unsupported',
        message: expect.stringContaining('tools[1] is of type file_search'),
      },
    })
    expect(`${reply.text}${JSON.stringify(await recorded)}`).not.toContain('tell-tale')
    expect(upstream.seen).toHaveLength(0)
    expect((await call(to, { path: '/v1/responses', body: body('custom') })).status).toBe(200)
  })

  test.each(['gzip', 'deflate', 'br', 'zstd'])(
    'a %s body that is cut short is malformed, not half a request',
    async (encoding) => {
      await using upstream = await startUpstream()
      await using to = await startRouter({ baseUrl: upstream.url, binding: { clientModel: 'stale' } })
      const encode =
        { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync, zstd: zstdCompressSync }[encoding] ?? gzipSync
      const whole = encode(Buffer.from(`{"model":"stale","input":"${'word '.repeat(2_000)}"}`))
      for (const body of [
        whole.subarray(0, whole.length - 4),
        whole.subarray(0, 3),
        Buffer.from('not encoded at all'),
      ]) {
        const reply = await call(to, { path: '/v1/responses', body, headers: { 'content-encoding': encoding } })
        expect([reply.status, reply.headers['x-wheelhouse-error']]).toEqual([400, 'request_body_malformed'])
      }
      expect(upstream.seen).toHaveLength(0)
    },
  )

  test('a bomb in any encoding is refused at the cap, and never unpacked whole', async () => {
    await using upstream = await startUpstream()
    await using to = await startRouter({ baseUrl: upstream.url, binding: MESSAGES })
    const unpacked = Buffer.alloc(64 * MIB, ' ')
    const bombs = {
      gzip: gzipSync(unpacked, { level: 1 }),
      deflate: deflateSync(unpacked, { level: 1 }),
      br: brotliCompressSync(unpacked, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
      zstd: zstdCompressSync(unpacked),
    }
    for (const [encoding, body] of Object.entries(bombs)) {
      const held = (): number => process.memoryUsage().arrayBuffers
      const before = held()
      let most = before
      const watch = setInterval(() => (most = Math.max(most, held())), 2)
      const reply = await call(to, { path: '/v1/messages', body, headers: { 'content-encoding': encoding } })
      clearInterval(watch)
      expect([encoding, body.length < MIB, reply.status]).toEqual([encoding, true, 413])
      expect(Math.max(most, held()) - before).toBeLessThan(32 * MIB)
    }
    expect(upstream.seen).toEqual([])
  })

  test('an encoding said twice, or one inside another, is refused; the same word in capitals is read', async () => {
    await using upstream = await startUpstream()
    await using to = await startRouter({ baseUrl: upstream.url })
    const once = gzipSync('{"model":"model-a"}')
    const code = async (body: Buffer, encoding: string) => {
      const reply = await call(to, { path: '/v1/responses', body, headers: { 'content-encoding': encoding } })
      return reply.headers['x-wheelhouse-error'] ?? reply.status
    }
    expect(await code(gzipSync(once), 'gzip, gzip')).toBe('request_encoding_unsupported')
    expect(await code(gzipSync(once), 'gzip')).toBe('request_body_malformed')
    expect(await code(once, 'GZIP')).toBe(200)
    expect(upstream.seen.map(({ body }) => body)).toEqual([once])
  })

  test('another encoding is refused', async () => {
    await using to = await startRouter({ baseUrl: 'http://127.0.0.1:1', binding: MESSAGES })
    const reply = await call(to, { path: '/v1/messages', body: BODY, headers: { 'content-encoding': 'compress' } })
    expect([reply.status, codeOf(reply.text)]).toEqual([415, 'request_encoding_unsupported'])
  })

  test('a body of many chunks is spliced in its place', async () => {
    await using upstream = await startUpstream()
    await using to = await startRouter({ baseUrl: upstream.url, bodyCapBytes: 32 * MIB })
    const body = `{"x":"${'é'.repeat(6 * MIB)}","model":"other","y":[${'1,'.repeat(MIB)}2]}`
    expect((await call(to, { path: '/v1/responses', body })).status).toBe(200)
    expect(upstream.seen[0]?.body.equals(Buffer.from(body.replace('other', 'model-a')))).toBe(true)
  })
})

describe('headers', () => {
  test('PR-A47 exactly one auth header goes up, and nothing of the agent’s own', async () => {
    await using upstream = await startUpstream()
    await using to = await startRouter({ baseUrl: upstream.url })
    await call(to, {
      path: `/r/${to.routeId}/v1/responses`,
      body: BODY,
      headers: {
        authorization: 'Bearer inbound',
        'x-api-key': 'inbound',
        'api-key': 'inbound',
        'x-goog-api-key': 'inbound',
        cookie: 'inbound=1',
        'chatgpt-account-id': 'inbound',
        'proxy-authorization': 'inbound',
        'x-forwarded-for': 'inbound',
        'x-wheelhouse-x': 'inbound',
        connection: 'x-named, close',
        'x-named': 'inbound',
        'anthropic-beta': 'a-1,  b-2',
        'x-kept': 'kept',
      },
    })
    const [seen] = upstream.seen
    expect(seen?.headers).toMatchObject({
      authorization: `Bearer ${CANARY}`,
      'anthropic-beta': 'a-1,  b-2',
      'x-kept': 'kept',
      'accept-encoding': 'identity',
      'content-length': String(BODY.length),
      'x-wheelhouse-hop': '1',
      host: `127.0.0.1:${upstream.port}`,
    })
    expect(JSON.stringify(seen?.headers)).not.toContain('inbound')
  })

  test('a request that came from us is a loop', async () => {
    await using upstream = await startUpstream()
    await using to = await startRouter({ baseUrl: upstream.url })
    const reply = await call(to, { path: '/v1/responses', body: BODY, headers: { 'x-wheelhouse-hop': '1' } })
    expect([reply.status, codeOf(reply.text), upstream.seen.length]).toEqual([400, 'upstream_invalid', 0])
  })

  test('PR-A48 a proxy of the host’s environment is not used', async () => {
    await using upstream = await startUpstream()
    const names = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY', 'http_proxy']
    const before = names.map((name) => process.env[name])
    for (const name of names) process.env[name] = 'http://127.0.0.1:9'
    try {
      await using to = await startRouter({ baseUrl: upstream.url })
      expect((await call(to, { path: '/v1/responses', body: BODY })).status).toBe(200)
    } finally {
      for (const [index, name] of names.entries()) {
        if (before[index] === undefined) delete process.env[name]
        else process.env[name] = before[index]
      }
    }
  })

  test('PR-A49 a redirect is not followed', async () => {
    const hits: string[] = []
    const target = createServer((request, response) => {
      hits.push(request.url ?? '')
      response.end()
    })
    const port = await listen(target)
    try {
      await using upstream = await startUpstream((_request, response) => {
        response.writeHead(302, { location: `http://127.0.0.1:${port}/` }).end()
      })
      await using to = await startRouter({ baseUrl: upstream.url, binding: MESSAGES })
      const reply = await call(to, { path: '/v1/messages', body: BODY })
      expect([reply.status, codeOf(reply.text)]).toEqual([502, 'upstream_redirect_rejected'])
      expect(hits).toEqual([])
    } finally {
      target.close()
    }
  })

  test('a header of any name passes as it is', async () => {
    await using upstream = await startUpstream()
    await using to = await startRouter({ baseUrl: upstream.url })
    const odd = { constructor: 'a', tostring: 'b', hasownproperty: 'c' }
    await call(to, { path: '/v1/responses', body: BODY, headers: odd })
    expect(upstream.seen[0]?.headers).toMatchObject(odd)
  })

  test.each([200, 500])('a header that an upstream says twice is one list (status %i)', async (status) => {
    const twice = ['connection: x-a', 'connection: x-b', 'x-a: 1', 'x-b: 2', 'x-c: 3', 'x-c: 4']
    const types = [
      'content-type: text/plain',
      'content-type: text/plain',
      'content-encoding: br',
      'content-encoding: br',
    ]
    await using upstream = await startUpstream((_request, { socket }) => {
      socket?.end([`HTTP/1.1 ${status} Oh`, ...twice, ...types, 'content-length: 2', '', '{}'].join('\r\n'))
    })
    await using to = await startRouter({ baseUrl: upstream.url })
    const reply = await call(to, { path: '/v1/responses', body: BODY })
    expect(reply.headers).toMatchObject({ 'x-c': '3, 4' })
    expect([reply.status, reply.headers['x-a'], reply.headers['x-b']]).toEqual([status, undefined, undefined])
    expect(await to.exchange()).toMatchObject({ status, origin: 'upstream', code: null })
  })

  test('what an upstream may not tell an agent is dropped', async () => {
    await using upstream = await startUpstream((_request, response) => {
      response.setHeader('set-cookie', 'a=1')
      response.setHeader('access-control-allow-origin', '*')
      response.setHeader('strict-transport-security', 'max-age=1')
      response.setHeader('x-ratelimit-remaining', '7')
      answerJson(_request, response)
    })
    await using to = await startRouter({ baseUrl: upstream.url })
    const { headers } = await call(to, { path: '/v1/responses', body: BODY })
    expect(headers).toMatchObject({ 'x-ratelimit-remaining': '7', 'content-type': 'application/json' })
    expect(Object.keys(headers)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/cookie|access-control|strict/)]),
    )
  })
})

describe('models', () => {
  test('PR-A56 three shapes, none of them asked upstream', async () => {
    await using upstream = await startUpstream()
    await using to = await startRouter({ baseUrl: upstream.url })
    await using claude = await startRouter({ baseUrl: upstream.url, binding: MESSAGES })
    const get = async (from: typeof to, path: string): Promise<unknown> =>
      JSON.parse((await call(from, { method: 'GET', path })).text) as unknown
    expect(await get(to, '/v1/models?client_version=0.1')).toEqual({ models: [{ slug: 'model-a' }] })
    expect(await get(to, '/v1/models')).toEqual({
      object: 'list',
      data: ['model-a', 'model-b'].map((id) => ({ id, object: 'model', created: 0, owned_by: 'Fake' })),
    })
    expect(await get(claude, '/v1/models?limit=1000')).toEqual({
      data: [
        { type: 'model', id: 'model-a', display_name: 'Model A', created_at: '1970-01-01T00:00:00Z' },
        { type: 'model', id: 'model-b', display_name: 'model-b', created_at: '1970-01-01T00:00:00Z' },
      ],
      has_more: false,
      first_id: 'model-a',
      last_id: 'model-b',
    })
    expect(await get(claude, '/v1/models?limit=1')).toMatchObject({ has_more: true, last_id: 'model-a' })
    expect(await get(claude, '/v1/models?limit=1&after_id=model-a')).toMatchObject({
      has_more: false,
      last_id: 'model-b',
    })
    expect(upstream.seen).toEqual([])
  })
})
