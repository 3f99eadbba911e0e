import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { createBufferPool } from '../../../../src/main/providers/router/budget.ts'
import { retryAfterMs } from '../../../../src/main/providers/router/exchange-notes.ts'
import { createPeerCheck, findOwner } from '../../../../src/main/providers/router/peer.ts'
import { createFakeClock } from '../../../support/clock.ts'
import { createMemoryLog } from '../../../support/log.ts'
import { answerEvents, call, listen, open, startRouter, startUpstream } from './support.ts'

const BODY = '{"model":"model-a"}'
const OPEN_STREAM = 'event: x\ndata: {}\n\n'

describe('the listener', () => {
  test('answers the same port again, and a pinned one that is taken by nobody else', async () => {
    await using first = await startRouter({ baseUrl: 'http://127.0.0.1:1' })
    expect(await first.router.ensureListening()).toEqual({ port: first.port })
    await using second = await startRouter({ baseUrl: 'http://127.0.0.1:1', pinnedPort: null })
    expect(second.router.port()).toBe(null)
    await expect(second.router.ensureListening({ pinnedPort: first.port })).rejects.toMatchObject({
      code: 'route_listener_failed',
    })
    expect(second.router.port()).toBe(null)
    await first.router.stop(AbortSignal.abort())
    expect(await second.router.ensureListening({ pinnedPort: first.port })).toEqual({ port: first.port })
  })

  test('a stop lets a running answer finish', async () => {
    const finish = Promise.withResolvers<void>()
    await using upstream = await startUpstream((_request, response) => {
      answerEvents(response, OPEN_STREAM)
      void finish.promise.then(() => response.end('event: response.completed\ndata: {}\n\n'))
    })
    await using to = await startRouter({ baseUrl: upstream.url })
    const response = await open(to, { path: '/v1/responses', body: BODY })
    let text = ''
    response.on('data', (chunk: Buffer) => (text += chunk.toString()))
    const stopped = to.router.stop(new AbortController().signal)
    finish.resolve()
    await Promise.all([stopped, once(response, 'end')])
    expect(text).toContain('response.completed')
    expect(to.router.flights()).toBe(0)
  })

  test('a stop cuts after 2 s what does not end', async () => {
    const clock = createFakeClock()
    await using upstream = await startUpstream((_request, response) => answerEvents(response, OPEN_STREAM))
    await using to = await startRouter({ baseUrl: upstream.url, clock })
    const response = await open(to, { path: '/v1/responses', body: BODY })
    response.on('error', () => undefined).resume()
    const closed = new Promise((resolve) => response.once('close', resolve))
    const stopped = to.router.stop(new AbortController().signal)
    await clock.advance(1_999)
    expect(to.router.flights()).toBe(1)
    await clock.advance(1)
    await Promise.all([stopped, closed])
    await expect.poll(() => to.router.flights()).toBe(0)
  })

  test('a released route’s answer ends', async () => {
    await using upstream = await startUpstream((_request, response) => answerEvents(response, OPEN_STREAM))
    await using to = await startRouter({ baseUrl: upstream.url })
    const ended = to.nextExchange()
    const running = call(to, { path: '/v1/responses', body: BODY })
    await expect.poll(() => to.marked.length).toBe(1)
    to.router.abortRoute(to.marked[0] ?? '')
    await running
    expect(await ended).toMatchObject({ end: 'upstream_disconnected' })
  })
})

describe('a body', () => {
  test('that has not arrived in 60 s is refused', async () => {
    const clock = createFakeClock()
    await using to = await startRouter({ baseUrl: 'http://127.0.0.1:1', clock })
    const socket = connect(to.port, '127.0.0.1')
    const closed = once(socket, 'close')
    let reply = ''
    socket.on('data', (chunk: Buffer) => (reply += chunk.toString()))
    socket.write(
      `POST /v1/responses HTTP/1.1\r\nHost: 127.0.0.1:${to.port}\r\nx-api-key: ${to.routeId}\r\nContent-Length: 9\r\n\r\n{`,
    )
    await expect.poll(() => to.router.flights()).toBe(1)
    await clock.advance(60_000)
    await expect.poll(() => reply).toContain('request_body_malformed')
    await clock.advance(5_000)
    await closed
    expect(reply).toMatch(/^HTTP\/1\.1 400/)
  })

  test('shares one bound with all others, and gives its share back', () => {
    const newBudget = createBufferPool(100)
    const [first, second] = [newBudget(), newBudget()]
    first.take(60)
    second.take(40)
    expect(() => second.take(1)).toThrowError(expect.objectContaining({ code: 'route_overloaded' }))
    first.release()
    first.release()
    expect(() => second.take(60)).not.toThrow()
    expect(() => second.take(1)).toThrowError(expect.objectContaining({ code: 'route_overloaded' }))
  })
})

describe('small readings', () => {
  test('PR-A42 a connection’s owner is found in the plain and the mapped table, by both its ends whole', () => {
    const rest = '00000000:00000000 00:00000000 00000000'
    const table = [
      '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
      `   0: 0100007F:1F90 0100007F:C000 01 ${rest}     0        0 11 1 0`,
      `  12: 0100007F:C000 0100007F:1F90 01 ${rest} 65534        0 2 1 0`,
      `   3: 0000000000000000FFFF00000100007F:C001 0000000000000000FFFF00000100007F:1F90 01 ${rest}  1000        0 3 1 0`,
      `   4: 0200007F:C002 0100007F:1F90 01 ${rest}  1000        0 3 1 0`,
      `   5: 0100007F:C003 0100007F:1F90 06 ${rest}     0        0 0 3 0`,
    ].join('\n')
    const router = { address: '127.0.0.1', port: 0x1f90 }
    const ownerOf = (port: number, address = '127.0.0.1') => findOwner(table, { address, port }, router)
    expect(ownerOf(0xc000)).toBe(65_534)
    expect(ownerOf(0xc001)).toBe(1_000)
    expect(findOwner(table, router, { address: '127.0.0.1', port: 0xc000 })).toBe(0)
    expect([ownerOf(0xc002), ownerOf(0xc002, '127.0.0.2')]).toEqual([null, 1_000])
    // What was closed is printed as root's.
    expect(ownerOf(0xc003)).toBe(null)
  })

  test('a connection that dies while its owner is looked up says nothing about others', async () => {
    const log = createMemoryLog()
    const arrived = Promise.withResolvers<Socket>()
    const server = createServer((socket) => arrived.resolve(socket))
    const agent = connect(await listen(server), '127.0.0.1').on('error', () => undefined)
    const socket = await arrived.promise
    const verdict = createPeerCheck({ uid: 1_000_000, log })(socket)
    agent.resetAndDestroy()
    socket.destroy()
    expect(await verdict).not.toBe('same_user')
    expect(log.entries).toEqual([])
    server.close()
  })

  test('a retry hint is milliseconds, seconds or a date', () => {
    expect(retryAfterMs({ 'retry-after-ms': '250', 'retry-after': '9' }, 0)).toBe(250)
    expect(retryAfterMs({ 'retry-after': '1.5' }, 0)).toBe(1_500)
    expect(retryAfterMs({ 'retry-after': 'Thu, 01 Jan 1970 00:00:10 GMT' }, 4_000)).toBe(6_000)
    expect(retryAfterMs({ 'retry-after': 'soon' }, 0)).toBe(null)
    expect(retryAfterMs({ 'retry-after': '-1' }, 0)).toBe(null)
    expect(retryAfterMs({ 'retry-after-ms': '', 'retry-after': ['2', '3'] }, 0)).toBe(2_000)
    for (const far of ['1e306', 'Infinity', 'Fri, 31 Dec 9999 23:59:59 GMT']) {
      expect(retryAfterMs({ 'retry-after': far }, 0)).toBe(86_400_000)
    }
    expect(retryAfterMs({}, 0)).toBe(null)
  })
})
