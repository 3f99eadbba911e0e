import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { relay } from '../../../../src/main/providers/router/relay.ts'
import type { BodyReader } from '../../../../src/main/providers/upstream/answer-body.ts'
import type { AnswerBody } from '../../../../src/main/providers/upstream/index.ts'
import { listen, MIB, open, startRouter, startUpstream } from './support.ts'

/** An agent's connection, from both of its ends. */
async function connection() {
  const arrived = Promise.withResolvers<ServerResponse>()
  const server = createServer((_request, response) => arrived.resolve(response))
  const port = await listen(server)
  const asked = httpRequest({ host: '127.0.0.1', port }).end()
  const answered = once(asked, 'response') as Promise<[IncomingMessage]>
  answered.catch(() => undefined)
  return { sink: await arrived.promise, answered, [Symbol.dispose]: () => server.close().closeAllConnections() }
}

/** An upstream whose chunks are sent by hand. */
function source() {
  const spent: Buffer[] = []
  let reader: BodyReader | null = null
  const body: AnswerBody = {
    read: (next) => (reader = next),
    putBack: () => undefined,
    pause: () => undefined,
    resume: () => undefined,
    destroy: () => undefined,
    spent: (chunk) => void spent.push(chunk),
  }
  return { body, spent, say: (text: string) => reader?.data(Buffer.from(text)), end: () => reader?.ended(null) }
}

test.each([
  ['is spent once it has left', false, ['one', 'two']],
  ['is not, where it is kept', true, []],
])('a chunk %s', async (_what, keeps, wanted) => {
  using agent = await connection()
  const upstream = source()
  const relayed = relay(upstream.body, agent.sink, () => keeps)
  agent.sink.flushHeaders()
  const [response] = await agent.answered
  expect(upstream.spent).toEqual([])
  upstream.say('one')
  upstream.say('two')
  upstream.end()
  expect(await relayed).toBe('ended')
  agent.sink.end()
  expect((await response.toArray()).join('')).toBe('onetwo')
  expect(upstream.spent.map(String)).toEqual(wanted)
})

test('a chunk that cannot leave any more is not spent: something may still be written from it', async () => {
  using agent = await connection()
  const upstream = source()
  const relayed = relay(upstream.body, agent.sink, () => false)
  agent.sink.destroy()
  upstream.say('late')
  expect(await relayed).toBe('agent_gone')
  await wait(10)
  expect(upstream.spent).toEqual([])
})

test.each([
  ['24 MiB, as they are', 24 * MIB, (bytes: Buffer) => bytes, {}],
  ['512 KiB, packed', MIB / 2, (bytes: Buffer) => gzipSync(bytes, { level: 0 }), { 'content-encoding': 'gzip' }],
])(
  'PR-A51 an agent that reads by fits and starts gets every byte, and its usage is read to the end: %s',
  async (_how, size, pack, encoding) => {
    const [head, tail] = ['event: x\ndata: "', '"\n\n']
    const told =
      'event: response.completed\ndata: {"response":{"id":"r1","usage":{"input_tokens":3,"output_tokens":2}}}\n\n'
    const body = pack(Buffer.from(head + randomBytes(size / 2).toString('hex') + tail + told))
    await using upstream = await startUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', ...encoding })
      // Pieces of all sizes: several come in one read, and one in several.
      for (let at = 0, piece = 7; at < body.length; at += piece, piece = (piece * 31 + 11) % 300_007)
        response.write(body.subarray(at, at + piece))
      response.end()
    })
    await using to = await startRouter({ baseUrl: upstream.url })
    const response = await open(to, { path: '/v1/responses', body: '{"model":"model-a"}' })
    const chunks: Buffer[] = []
    for await (const chunk of response as AsyncIterable<Buffer>) if (chunks.push(chunk) % 40 === 0) await wait(2)
    expect(Buffer.concat(chunks).equals(body)).toBe(true)
    expect(await to.exchange()).toMatchObject({ end: 'completed', responseId: 'r1', usage: { input: 3, output: 2 } })
  },
)
