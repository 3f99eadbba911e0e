/** A stream of each dialect, cut at every byte: in two pieces it arrives whole, and ended there it is never a success. */
import { expect, test } from 'vitest'
import { STREAMS } from '../../../fuzz/router-properties.ts'
import { freePort } from '../../../support/port.ts'
import { create, createWorld, customInput, secret } from '../support.ts'
import { call, startRouter, startUpstream } from './support.ts'
import type { FakeUpstream } from './support.ts'

const PROTOCOLS = ['responses', 'anthropic_messages'] as const
type Protocol = (typeof PROTOCOLS)[number]
/** What the upstream does at the cut. */
type Then = 'ends' | 'dies'

const PATHS = { responses: '/v1/responses', anthropic_messages: '/v1/messages' } as const
const EVENTS = { 'content-type': 'text/event-stream' }
/** At once; the machine is small. */
const LANES = 16

/** Answers as much of the stream as the request's own header says, and then does what another says. */
function startCutting(protocol: Protocol): Promise<FakeUpstream> {
  const bytes = Buffer.from(STREAMS[protocol])
  return startUpstream(({ headers }, response) => {
    response.writeHead(200, EVENTS)
    response.write(bytes.subarray(0, Number(headers['x-at'])))
    setImmediate(() => (headers['x-then'] === 'ends' ? response.end() : response.destroy()))
  })
}

interface Seen {
  at: number
  /** False: the connection was cut inside the answer. */
  complete: boolean
  body: Buffer
}

/** Asks once for each cut, and answers what came, in order. */
async function askAtEach(url: string, auth: Record<string, string>, cuts: readonly number[], then: Then) {
  const left = [...cuts]
  const seen: Seen[] = []
  const lane = async (): Promise<void> => {
    for (let at = left.shift(); at !== undefined; at = left.shift()) seen.push({ at, ...(await ask(at)) })
  }
  const ask = async (at: number): Promise<Omit<Seen, 'at'>> => {
    const headers = { ...auth, 'content-type': 'application/json', 'x-at': String(at), 'x-then': then }
    const { body } = await fetch(url, { method: 'POST', headers, body: '{"model":"model-a"}' })
    const chunks: Uint8Array[] = []
    let complete = true
    try {
      for await (const chunk of body ?? []) chunks.push(chunk)
    } catch {
      complete = false
    }
    return { complete, body: Buffer.concat(chunks) }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return seen.toSorted((one, other) => one.at - other.at)
}

/** Every offset next to the end of an event, and every n-th between them. */
function offsets(protocol: Protocol, step: number): number[] {
  const bytes = Buffer.from(STREAMS[protocol])
  const near = (at: number): boolean => bytes.subarray(Math.max(0, at - 4), at + 3).includes('\n')
  return Array.from({ length: bytes.length - 1 }, (_, index) => 1 + index).filter((at) => near(at) || at % step === 0)
}

/** Where the event that says how it ended is whole. */
function terminalEnd(protocol: Protocol): number {
  const text = STREAMS[protocol]
  const from = text.indexOf(protocol === 'responses' ? 'event: response.completed' : 'event: message_delta')
  return Buffer.byteLength(text.slice(0, text.indexOf('\n\n', from) + 2))
}

const ERROR_EVENT = /event: error\ndata: \{"type":"error"[^\n]*\}\n\n$/

/** Those that a client would take for a whole answer, or that hold a byte which was not sent. */
function wrong(protocol: Protocol, seen: readonly Seen[]): unknown[] {
  const whole = Buffer.from(STREAMS[protocol])
  const end = terminalEnd(protocol)
  return seen.flatMap(({ at, complete, body }) => {
    const text = body.toString('latin1')
    const told = ERROR_EVENT.exec(text)
    const passed = body.subarray(0, told?.index ?? body.length)
    const exact = whole.subarray(0, at).subarray(0, passed.length).equals(passed)
    const honest = at >= end || !complete || told !== null
    return exact && honest ? [] : [{ at, complete, told: told !== null, text: text.slice(-80) }]
  })
}

for (const protocol of PROTOCOLS) {
  test(`PR-A51 a recorded ${protocol} stream arrives as it was, wherever it is cut in two`, async () => {
    const stream = Buffer.from(STREAMS[protocol])
    const cuts = Array.from({ length: stream.length - 1 }, (_, index) => index + 1)
    // One answer holds the stream once for each cut.
    await using upstream = await startUpstream((_request, response) => {
      response.writeHead(200, EVENTS)
      const pieces = cuts.flatMap((at) => [stream.subarray(0, at), stream.subarray(at)])[Symbol.iterator]()
      const next = (): void => {
        const { value, done } = pieces.next()
        if (done === true) response.end()
        else response.write(value, () => setImmediate(next))
      }
      next()
    })
    await using to = await startRouter({ baseUrl: upstream.url, binding: { routeProtocol: protocol } })
    const reply = await call(to, { path: PATHS[protocol], body: '{"model":"model-a"}' })
    expect(reply.complete).toBe(true)
    expect(reply.body.equals(Buffer.concat(cuts.map(() => stream)))).toBe(true)
    expect((await to.exchange()).end).toBe('completed')
  })

  test(`PR-A54 PR-A74 a ${protocol} stream that ends or dies anywhere before its last word is no success`, async () => {
    await using upstream = await startCutting(protocol)
    await using to = await startRouter({ baseUrl: upstream.url, binding: { routeProtocol: protocol } })
    const url = `http://127.0.0.1:${to.port}${PATHS[protocol]}`
    const auth = { authorization: `Bearer ${to.routeId}` }
    expect(wrong(protocol, await askAtEach(url, auth, offsets(protocol, 7), 'ends'))).toEqual([])
    expect(wrong(protocol, await askAtEach(url, auth, offsets(protocol, 60), 'dies'))).toEqual([])
  })

  test(`PR-A74 nor is it at the gateway (${protocol})`, async () => {
    const port = await freePort()
    await using world = await createWorld({
      gateway: { port: () => port, keepTakeover: () => false, resume: true, home: '/nowhere' },
    })
    await using upstream = await startCutting(protocol)
    const { providers } = await world.open()
    const client = protocol === 'responses' ? 'codex' : 'claude'
    const key = `whg_${'k'.repeat(43)}`
    await world.credentials.set('gateway:local', secret(key))
    const { id } = await create(providers, customInput('One', upstream.url, { client }))
    await providers.gateway().setUpstream(client, id)
    const url = `http://127.0.0.1:${port}${client === 'claude' ? '/claude' : ''}${PATHS[protocol]}`
    const auth = { 'x-wheelhouse-gateway-key': key }
    const seen = await askAtEach(url, auth, offsets(protocol, 60), 'ends')
    expect(seen.filter(({ body }) => ERROR_EVENT.test(body.toString()))).not.toEqual([])
    expect(wrong(protocol, seen)).toEqual([])
  })
}
