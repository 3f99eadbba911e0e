import { createServer } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { createSecret } from '../../../../src/main/platform/index.ts'
import { createUpstream } from '../../../../src/main/providers/upstream/index.ts'
import type { LookupAddress, Upstream } from '../../../../src/main/providers/upstream/index.ts'
import { call, startRouter, startUpstream } from '../router/support.ts'

const signal = new AbortController().signal

function get(upstream: Upstream, url: string, limits: { timeoutMs?: number; maxBytes?: number } = {}) {
  const { timeoutMs = 60_000, maxBytes = 4_194_304 } = limits
  const auth = { mode: 'bearer', key: createSecret('sk-canary-0123456789') } as const
  return upstream.getJson({ url: new URL(url), auth, timeoutMs, maxBytes }, signal)
}

/** A Provider of raw bytes: `answer` is called with each piece that comes in. */
async function startBytes(answer: (socket: Socket, heard: string) => void) {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('data', (chunk) => answer(socket, chunk.toString('latin1')))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const RESPONSES = { path: '/v1/responses', body: '{"model":"model-a"}' }

describe('an upstream that misbehaves', () => {
  test.each([
    ['no HTTP at all', 'what is this\r\n\r\n'],
    ['nothing that has letters', '\0\u0001garbage\r\n\r\n'],
    ['a header without a name', 'HTTP/1.1 200 OK\r\n: x\r\n\r\n'],
    ['a head without an end', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(200_000)}`],
    ['no status that there is', 'HTTP/1.1 099 No\r\n\r\n'],
    ['a header that is folded', 'HTTP/1.1 200 OK\r\nx: y\r\n z\r\n\r\n'],
    ['two lengths that differ', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
  ])('%s where the head should be is a 502, once', async (_what, bytes) => {
    let asked = 0
    await using provider = await startBytes((socket, heard) => {
      if (!heard.startsWith('POST ')) return
      asked += 1
      socket.write(bytes)
    })
    await using to = await startRouter({ baseUrl: provider.url })
    const reply = await call(to, RESPONSES)
    expect([reply.status, reply.headers['x-wheelhouse-error'], asked]).toEqual([502, 'upstream_unreachable', 1])
    expect(reply.text).toContain('cannot be read as HTTP')
  })

  test('one that only ever informs has as long for its head as one that is silent', async () => {
    await using provider = await startBytes((socket) => {
      const drip = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 20)
      socket.once('close', () => clearInterval(drip))
    })
    await using to = await startRouter({ baseUrl: provider.url, upstream: { headMs: 200 } })
    const reply = await call(to, RESPONSES)
    expect([reply.status, reply.headers['x-wheelhouse-error']]).toEqual([400, 'upstream_timeout'])
  })

  test('an answer that comes behind some that inform is the answer, however long it takes after its head', async () => {
    await using provider = await startBytes((socket, heard) => {
      if (!heard.startsWith('POST ')) return
      socket.write('HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\ncontent-type: application/json\r\n')
      socket.write('content-length: 2\r\n\r\n{')
      setTimeout(() => socket.write('}'), 150)
    })
    await using to = await startRouter({ baseUrl: provider.url, upstream: { headMs: 50 } })
    expect(await call(to, RESPONSES)).toMatchObject({ status: 200, text: '{}', complete: true })
  })

  test('an idle connection that it closes as the next request is written is a 502, and nothing is sent again', async () => {
    let asked = 0
    await using provider = await startBytes((socket, heard) => {
      if (!heard.startsWith('POST ')) return
      asked += 1
      if (asked === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}')
      else socket.destroy()
    })
    await using to = await startRouter({ baseUrl: provider.url })
    expect((await call(to, RESPONSES)).status).toBe(200)
    const reply = await call(to, RESPONSES)
    expect([reply.status, reply.headers['x-wheelhouse-error'], asked]).toEqual([502, 'upstream_unreachable', 2])
  })
})

describe('the connector', () => {
  test.each([
    ['loopback by another name', [{ address: '127.0.0.1', family: 4 }]],
    [
      'one blocked address among good ones',
      [
        { address: '127.0.0.1', family: 4 },
        { address: '169.254.1.1', family: 4 },
      ],
    ],
    ['mapped loopback', [{ address: '::ffff:127.0.0.1', family: 6 }]],
  ] as const)('PR-A06 %s is never dialled', async (_name, addresses) => {
    let connections = 0
    const server = createTcpServer(() => void connections++)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const upstream = createUpstream({ resolve: () => Promise.resolve(addresses) })
    try {
      const url = `http://provider.example:${(server.address() as AddressInfo).port}/v1/models`
      await expect(get(upstream, url)).rejects.toMatchObject({ code: 'upstream_address_blocked' })
      expect(connections).toBe(0)
    } finally {
      await upstream.close()
      server.close()
    }
  })

  test('PR-A07 a name that was good is judged again at the next connect', async () => {
    const fake = await startUpstream()
    await using _fake = fake
    const asked: string[] = []
    const resolve = (hostname: string): Promise<readonly LookupAddress[]> => {
      asked.push(hostname)
      return Promise.resolve([{ address: '127.0.0.1', family: 4 }])
    }
    await using to = await startRouter({
      baseUrl: `http://provider.example:${fake.port}`,
      upstream: { resolve },
      binding: { routeProtocol: 'anthropic_messages' },
    })
    const reply = await call(to, { path: '/v1/messages', body: '{"model":"model-a"}' })
    expect([reply.status, reply.headers['x-wheelhouse-error']]).toEqual([400, 'upstream_address_blocked'])
    expect([asked, fake.seen]).toEqual([['provider.example'], []])
  })

  test('localhost names are dialled without asking DNS', async () => {
    await using fake = await startUpstream()
    const upstream = createUpstream({ resolve: () => Promise.reject(new Error('asked')) })
    const answer = await get(upstream, `http://box.localhost:${fake.port}/v1/models`)
    expect(answer.status).toBe(200)
    expect(fake.seen[0]?.headers).toMatchObject({
      authorization: 'Bearer sk-canary-0123456789',
      'x-wheelhouse-hop': '1',
    })
    await upstream.close()
  })

  test('a name without an entry and a refused connect are unreachable', async () => {
    const upstream = createUpstream({ resolve: () => Promise.resolve([]) })
    await expect(get(upstream, 'http://nowhere.example/')).rejects.toMatchObject({ code: 'upstream_unreachable' })
    await expect(get(upstream, 'http://127.0.0.1:1/')).rejects.toMatchObject({ code: 'upstream_unreachable' })
    await upstream.close()
  })
})

describe('a bounded document', () => {
  test('is parsed, too large a one refused, a slow one given up', async () => {
    await using fake = await startUpstream((request, response) => {
      if (request.url === '/slow') return
      response.end(request.url === '/big' ? 'x'.repeat(2_000) : request.url === '/text' ? 'no json' : '{"data":[]}')
    })
    const upstream = createUpstream()
    expect(await get(upstream, `${fake.url}/ok`)).toEqual({ status: 200, value: { data: [] } })
    expect(await get(upstream, `${fake.url}/text`)).toEqual({ status: 200, value: undefined })
    await expect(get(upstream, `${fake.url}/big`, { maxBytes: 1_000 })).rejects.toMatchObject({
      code: 'upstream_invalid',
    })
    await expect(get(upstream, `${fake.url}/slow`, { timeoutMs: 200 })).rejects.toMatchObject({
      code: 'upstream_timeout',
    })
    await upstream.close()
  })

  test('a redirect is refused, and a body cut in the middle is unreachable', async () => {
    const server = createServer((request, response) => {
      if (request.url === '/moved') response.writeHead(301, { location: '/' }).end()
      else {
        response.writeHead(200, { 'content-length': 100 })
        response.write('{', () => void response.destroy())
      }
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const upstream = createUpstream()
    await expect(get(upstream, `${url}/moved`)).rejects.toMatchObject({ code: 'upstream_redirect_rejected' })
    await expect(get(upstream, `${url}/cut`)).rejects.toMatchObject({ code: 'upstream_unreachable' })
    await upstream.close()
    server.close()
  })
})
