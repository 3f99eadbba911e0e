/** What only raw sockets show: a header's own bytes. And what a rule's resend may hold. */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { expect, test } from 'vitest'
import { aBinding, answerJson, call, MIB, startRouter, startUpstream } from './support.ts'

const BODY = '{"model":"model-a"}'
/** Latin-1, and UTF-8 of two and of four bytes: no text for the Router, bytes alone. */
const STRANGE = Buffer.from([0x63, 0xe9, 0xff, 0x20, 0xc3, 0xa9, 0x20, 0xf0, 0x9f, 0x99, 0x82])
const END = '\r\n\r\n'

/** What arrives until it holds the word. */
async function until(socket: Socket, word: string): Promise<Buffer> {
  let seen = Buffer.alloc(0)
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    seen = Buffer.concat([seen, chunk as Buffer])
    if (seen.includes(word)) break
  }
  return seen
}

test.each([
  ['with its body', true, '200 OK', '{"id":"r"}'],
  ['before its body', false, '200 OK', '{"id":"r"}'],
  ['as an error', true, '500 Oh', '{"error":"x"}'],
])('a header’s bytes pass as they are, both ways: an answer %s', async (_how, together, status, body) => {
  const asked = Promise.withResolvers<Buffer>()
  const headIsThere = Promise.withResolvers<void>()
  const provider = createServer((socket) => {
    socket.on('error', () => undefined)
    const answer = async (): Promise<void> => {
      asked.resolve(await until(socket, BODY))
      const head = [
        Buffer.from(
          `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nx-answer: `,
        ),
        STRANGE,
        Buffer.from(END),
      ]
      socket.write(Buffer.concat(together ? [...head, Buffer.from(body)] : head))
      if (together) return
      await headIsThere.promise
      socket.write(body)
    }
    void answer()
  })
  provider.listen(0, '127.0.0.1')
  await once(provider, 'listening')
  await using to = await startRouter({ baseUrl: `http://127.0.0.1:${(provider.address() as AddressInfo).port}` })
  const agent = connect(to.port, '127.0.0.1').on('error', () => undefined)
  const start = [
    'POST /v1/responses HTTP/1.1',
    `host: 127.0.0.1:${to.port}`,
    `authorization: Bearer ${to.routeId}`,
    `content-length: ${BODY.length}`,
    'x-asked: ',
  ].join('\r\n')
  agent.write(Buffer.concat([Buffer.from(start), STRANGE, Buffer.from(END + BODY)]))
  const head = await until(agent, END)
  headIsThere.resolve()
  expect(head.includes(Buffer.concat([Buffer.from('x-answer: '), STRANGE, Buffer.from('\r\n')]))).toBe(true)
  const upstreamSaw = await asked.promise
  expect(upstreamSaw.includes(Buffer.concat([Buffer.from('x-asked: '), STRANGE, Buffer.from('\r\n')]))).toBe(true)
  agent.destroy()
  provider.close()
})

test('PR-A63 8 MiB are sent to the next Provider too; one byte more goes to the own one alone', async () => {
  await using upstream = await startUpstream((request, response) => {
    if (request.body.includes('"model-b"')) answerJson(request, response)
    else response.writeHead(503, { 'content-type': 'application/json' }).end('{"error":"x"}')
  })
  const other = aBinding('other', { connectionId: 'connection-2', upstreamModel: 'model-b' })
  await using to = await startRouter({
    baseUrl: upstream.url,
    bodyCapBytes: 16 * MIB,
    port: {
      failover: () => ({ on429: false, candidates: [{ binding: other, strips: false }] }),
      begin: () => ({ end: () => undefined }),
    },
  })
  const sized = (bytes: number): string => `{"model":"model-a","x":"${'a'.repeat(bytes - 26)}"}`
  const kept = await call(to, { path: '/v1/responses', body: sized(8 * MIB) })
  expect([kept.status, (await to.exchange(0)).failoverIndex]).toEqual([200, 1])
  expect(upstream.seen.map((request) => request.body.length)).toEqual([8 * MIB, 8 * MIB])
  const over = await call(to, { path: '/v1/responses', body: sized(8 * MIB + 1) })
  expect([over.status, over.text, (await to.exchange(1)).failoverIndex]).toEqual([503, '{"error":"x"}', 0])
  expect(upstream.seen).toHaveLength(3)
})
