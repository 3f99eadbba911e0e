import { PassThrough, Readable } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'

import { createPeer, readLines } from '../../src/agent/rpc.ts'
import { aFolder, aModel, anAgent } from './support.ts'

test('initialize offers protocol 1, loading of sessions and the three modes', async () => {
  const agent = anAgent(null)
  const hello = await agent.call('initialize', { protocolVersion: 1, clientCapabilities: {} })
  expect(hello).toMatchObject({
    protocolVersion: 1,
    agentInfo: { name: 'wheelhouse' },
    agentCapabilities: { loadSession: true, sessionCapabilities: { resume: {} } },
  })
  const { modes } = await agent.call('session/new', { cwd: await aFolder(), mcpServers: [] })
  expect(modes.availableModes.map((mode: { id: string }) => mode.id)).toEqual(['read_only', 'ask', 'anything'])
})

test('malformed frames are answered or dropped, and the agent lives on', async () => {
  const model = await aModel({ text: 'still here' })
  const agent = anAgent(model)
  const session = await agent.session(await aFolder())
  for (const line of [
    'not json',
    '[]',
    '42',
    'null',
    '{"jsonrpc":"2.0"}',
    '{"jsonrpc":"2.0","id":{},"method":"initialize"}',
    '{"jsonrpc":"2.0","id":99999,"result":{}}',
    '{"jsonrpc":"2.0","id":"x","error":{"code":"no"}}',
    '{"jsonrpc":"2.0","method":"session/cancel"}',
    '{"jsonrpc":"2.0","method":"_unknown/notification","params":{"a":1}}',
    '\u0000\u0001',
  ]) {
    agent.raw(line)
  }
  const codeOf = (method: string, params: object): Promise<unknown> =>
    agent.call(method, params).catch((e: unknown) => e)
  expect(await codeOf('_unknown/request', {})).toMatchObject({ code: -32_601 })
  expect(await codeOf('session/prompt', { sessionId: session })).toMatchObject({ code: -32_602 })
  expect(await codeOf('session/prompt', { sessionId: session, prompt: [{ type: 'audio' }] })).toMatchObject({
    code: -32_602,
  })
  expect((await agent.prompt(session, 'hello?')).stopReason).toBe('end_turn')
  const complaints = agent.frames.filter((frame) => frame.error !== undefined && frame.id === null)
  expect(complaints.map((frame) => frame.error?.code)).toContain(-32_700)
})

test('a second prompt while one runs is refused, and the first goes on', async () => {
  const model = await aModel({ text: 'wait', hang: true })
  const agent = anAgent(model)
  const session = await agent.session(await aFolder())
  const first = agent.prompt(session, 'one')
  await agent.waitFor((frame) => frame.method === 'session/update')
  expect(await agent.prompt(session, 'two').catch((e: unknown) => e)).toMatchObject({ code: -32_600 })
  agent.notify('session/cancel', { sessionId: session })
  expect((await first).stopReason).toBe('cancelled')
})

test('standard output carries frames alone, and nothing is complained of on standard error', async () => {
  const model = await aModel({ text: 'ok' })
  const agent = anAgent(model, { dialect: 'messages', effort: 'max' })
  await agent.prompt(await agent.session(await aFolder()), 'go')
  for (const frame of agent.frames) expect(frame).toMatchObject({ jsonrpc: '2.0' })
  await agent.end()
  expect(agent.stderr()).toBe('')
})

test('lines are the same however the pipe cuts them', async () => {
  const line = fc.string({ unit: 'grapheme', maxLength: 40 }).map((text) => text.replaceAll('\n', ' ').trim())
  await fc.assert(
    fc.asyncProperty(
      fc.array(line),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      async (lines, cuts) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''))
        const chunks: Buffer[] = []
        for (let at = 0, n = 0; at < bytes.length; n += 1) {
          const size = cuts[n % cuts.length] ?? 1
          chunks.push(bytes.subarray(at, at + size))
          at += size
        }
        const seen: string[] = []
        await readLines(
          Readable.from(chunks),
          (text) => seen.push(text),
          () => seen.push('too long'),
        )
        expect(seen).toEqual(lines.filter((text) => text.trim() !== ''))
      },
    ),
  )
})

test('a line over the bound is dropped to its end and reported with its size', async () => {
  const seen: unknown[] = []
  const input = Readable.from([Buffer.from('short\n'), Buffer.from('x'.repeat(30)), Buffer.from('y\nnext\n')])
  await readLines(
    input,
    (line) => seen.push(line),
    (bytes) => seen.push(bytes),
    10,
  )
  expect(seen).toEqual(['short', 31, 'next'])
})

test('whatever bytes arrive, the peer neither throws nor stops reading', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(fc.json(), fc.string()), { maxLength: 20 }), async (lines) => {
      const input = new PassThrough()
      const output = new PassThrough()
      output.resume()
      let last: unknown = null
      const peer = createPeer(input, output, {
        request: () => Promise.resolve({}),
        notification: (_method, params) => (last = params),
      })
      for (const line of lines) input.write(`${line}\n`)
      input.end('{"jsonrpc":"2.0","method":"last","params":"seen"}\n')
      await peer.closed
      expect(last).toBe('seen')
    }),
    { numRuns: 50 },
  )
})
