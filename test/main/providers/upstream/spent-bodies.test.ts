/** When the memory of a request's body may be used anew: once nothing can be written from it any more, and not before. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createUpstream } from '../../../../src/main/providers/upstream/index.ts'
import { bodyOf } from '../../../bench/router.ts'
import { call, listen, MIB, startRouter, startUpstream } from '../router/support.ts'

const HEAD_END = '\r\n\r\n'

/** As Node's HTTP server hands a body on: chunks that are the whole of their memory. */
function chunks(count: number): Uint8Array[] {
  return Array.from({ length: count }, () => new Uint8Array(new ArrayBuffer(65_536)).fill(0x61))
}

const sizes = (of: readonly Uint8Array[]): number[] => [...new Set(of.map(({ byteLength }) => byteLength))]

/** A Provider by hand: it reads nothing until it is told to. */
async function startDeaf() {
  const arrived = Promise.withResolvers<Socket>()
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on('error', () => undefined)
    arrived.resolve(socket)
  })
  const port = await listen(server)
  return {
    url: new URL(`http://127.0.0.1:${port}/v1/messages`),
    socket: arrived.promise,
    async [Symbol.asyncDispose]() {
      const closed = once(server.close(), 'close')
      ;(await arrived.promise).destroy()
      await closed
    },
  }
}

const post = (url: URL, body: readonly Uint8Array[]) =>
  ({ url, method: 'POST', headers: {}, body, auth: { mode: 'none', key: null } }) as const

test('a body is given back once it was sent and answered', async () => {
  await using provider = await startUpstream()
  const upstream = createUpstream()
  const body = chunks(32)
  const answer = await upstream.send(post(new URL(provider.url), body), AbortSignal.timeout(5_000))
  answer.body.destroy()
  expect(provider.seen.map((seen) => seen.body.equals(Buffer.alloc(2 * MIB, 'a')))).toEqual([true])
  upstream.spent(body)
  expect(sizes(body)).toEqual([0])
  await upstream.close()
})

test('nothing is given back while a connection still writes, and even after it was cut until it is closed', async () => {
  await using provider = await startDeaf()
  const upstream = createUpstream()
  const cut = new AbortController()
  const body = chunks(256)
  const sent = upstream.send(post(provider.url, body), cut.signal).catch((error: unknown) => error)
  await provider.socket
  // Long enough for the kernel's buffers to fill.
  await wait(50)
  upstream.spent(body)
  expect(sizes(body)).toEqual([65_536])
  cut.abort(new Error('the agent hung up'))
  upstream.spent(body)
  expect(sizes(body)).toEqual([65_536])
  expect(await sent).toMatchObject({ message: 'the agent hung up' })
  await expect.poll(() => (upstream.spent(body), sizes(body))).toEqual([0])
  await upstream.close()
})

test('what a proxy carries is left to the collection: its connections are not seen', async () => {
  await using provider = await startDeaf()
  const upstream = createUpstream({ proxyFor: () => provider.url.origin, connectMs: 100 })
  const body = chunks(1)
  await upstream.send(post(new URL('http://models.example/v1'), body), AbortSignal.timeout(300)).catch(() => undefined)
  upstream.spent(body)
  expect(sizes(body)).toEqual([65_536])
  await upstream.close()
})

test('PR-A51 a Provider that answers before it has read the request never reads another byte than was sent', async () => {
  const wanted = bodyOf('model-a', 3 * MIB)
  const wrong: number[] = []
  const server = createServer((socket) => {
    let seen = Buffer.alloc(0)
    let checked = 0
    let start = -1
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      seen = Buffer.concat([seen, chunk])
      if (start < 0 && seen.includes(HEAD_END)) {
        start = seen.indexOf(HEAD_END) + HEAD_END.length
        const body = '{"error":"too much"}'
        socket.write(
          `HTTP/1.1 413 No\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
        )
      }
      if (start >= 0) {
        const body = seen.subarray(start)
        if (!body.subarray(checked).equals(wanted.subarray(checked, body.length))) wrong.push(checked)
        checked = body.length
      }
      // The rest is read slowly, long after the exchange is over.
      socket.pause()
      setTimeout(() => socket.resume(), 3)
    })
  })
  const port = await listen(server)
  await using to = await startRouter({ baseUrl: `http://127.0.0.1:${port}` })
  const replies = await Promise.all(
    Array.from({ length: 12 }, async (_, index) => {
      await wait(index * 4)
      return await call(to, { path: '/v1/responses', body: wanted })
    }),
  )
  expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 413))
  await wait(50)
  expect(wrong).toEqual([])
  server.close()
})
