/** Clients of the control socket that are broken, hostile, or just many: the host answers by code, lets go of them and serves on. */
import { readdirSync } from 'node:fs'
import { createConnection } from 'node:net'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { AppError } from '../../../src/shared/errors.ts'
import { procedures, topics } from '../../../src/shared/bridge/index.ts'
import type { Bridge } from '../../../src/shared/bridge/client.ts'
import { ensureBuilt } from './support/built.ts'
import { connectBridge, connectFrames, follow, isEnd } from './support/client.ts'
import { createMachine } from './support/command.ts'
import type { Machine, Started } from './support/command.ts'

const NOBODY = '01900000-0000-7000-8000-000000000000'
const MEBIBYTE = 1_048_576

let machine: Machine
let host: Started
let bridge: Bridge
let sessionId: string
let putAway: () => void

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })
beforeAll(async () => {
  putAway = await ensureBuilt()
  machine = createMachine()
  host = machine.start([], { entry: 'serve' })
  await host.says(/Wheelhouse is running/)
  bridge = await connectBridge(machine.data)
  const session = await bridge.call('sessions.create', { agentId: 'builtin', workDir: machine.project, mode: 'agent' })
  sessionId = session.id
})
afterAll(async () => {
  bridge.close()
  host.kill('SIGTERM')
  const { code } = await host.ended
  const said = host.stderr()
  await machine[Symbol.asyncDispose]()
  putAway()
  expect({ code, said }).toEqual({ code: 0, said: expect.not.stringMatching(/\n {4}at /) })
})

function rawSocket(): Socket {
  return createConnection(join(machine.data, 'host.sock')).on('error', () => undefined)
}
const closed = (socket: Socket): Promise<void> => new Promise((resolve) => socket.once('close', () => resolve()))
const descriptors = (): number => readdirSync(`/proc/${host.pid}/fd`).length
const answers = async (): Promise<unknown> => (await bridge.call('system.info', {})).host

test('DT-A24 whatever a procedure is called with, it answers by code, and never that something broke', async () => {
  const inputs: unknown[] = [
    null,
    1,
    'x',
    [],
    {},
    { sessionId: 1 },
    { sessionId: NOBODY },
    { runId: NOBODY, text: 'x' },
  ]
  inputs.push({ sessionId: NOBODY, text: '\0', requestId: '\0', title: '\ud800', expectedRev: -1, limit: 1e9 })
  inputs.push({ decisionId: NOBODY, answer: { option: 'allow_once' } }, { uploadId: 'x', workerId: 'x', path: '/\0' })
  const frames = await connectFrames(machine.data)
  const open = new Map<number, string>()
  const broke: unknown[] = []
  frames.onFrame((frame) => {
    const { id, ok, error } = frame as { id?: number; ok?: boolean; error?: { code: string } }
    if (ok === false && error?.code === 'internal') broke.push([open.get(id ?? 0), error])
    open.delete(id ?? 0)
  })
  let id = 0
  for (const name of Object.keys(procedures)) {
    for (const input of inputs) {
      open.set(++id, `${name} ${JSON.stringify(input)}`)
      frames.send({ id, call: name, input })
      if (open.size >= 32) await expect.poll(() => open.size, { timeout: 60_000 }).toBeLessThan(16)
    }
  }
  for (const name of Object.keys(topics))
    frames.send({ id: ++id, sub: name, filter: { sessionId: 'x', nested: [[[]]] } })
  await expect.poll(() => [...open.values()], { timeout: 60_000 }).toEqual([])
  expect(broke).toEqual([])
  frames.close()
  expect(await answers()).toBe('browser')
})

test('DT-A24 noise, a line without an end, and clients that die in the middle of a word', async () => {
  const before = descriptors()
  const sockets = Array.from({ length: 30 }, (_, n) => {
    const socket = rawSocket()
    socket.write(Buffer.from(Array.from({ length: 4_000 }, (_each, at) => (at * 7_919 + n * 104_729) % 256)))
    socket.write('\n{"id":1,"call":"sess\0\n{"id":')
    return socket
  })
  const endless = rawSocket()
  let left = 32
  const write = (): void => {
    while (left-- > 0) if (!endless.write('x'.repeat(MEBIBYTE))) return void endless.once('drain', write)
    endless.destroy()
  }
  write()
  await closed(endless)
  for (const socket of sockets) socket.destroy()
  expect(await answers()).toBe('browser')
  await expect.poll(descriptors).toBeLessThanOrEqual(before + 2)
})

test('clients that ask for a run and are gone before the answer leave one run, that ends', async () => {
  const submit = JSON.stringify({ id: 1, call: 'runs.submit', input: { sessionId, text: 'Hello.', key: 'the same' } })
  const sockets = Array.from({ length: 40 }, () => {
    const socket = rawSocket()
    socket.write(`${submit}\n{"id":2,"ca`)
    return socket
  })
  const events = follow(bridge, sessionId)
  const { runId } = await events.until(({ type }) => type === 'run_created')
  for (const socket of sockets) socket.destroy()
  await bridge.call('runs.stop', { sessionId })
  await events.until(isEnd(runId ?? ''))
  expect(events.events.filter(({ type }) => type === 'run_created')).toHaveLength(1)
  events.forget()
})

test('two hundred clients at once are served, and what is over a bound is refused by code', async () => {
  const before = descriptors()
  const clients = await Promise.all(Array.from({ length: 200 }, () => connectBridge(machine.data)))
  const lists = await Promise.all(clients.map((client) => client.call('sessions.list', {})))
  expect(lists.every(({ sessions }) => sessions.length === 1)).toBe(true)
  let served = 0
  const refused: string[] = []
  for (const client of clients) {
    let isServed = false
    client.subscribe(
      'session.events',
      { sessionId },
      {
        after: 0,
        event() {
          if (!isServed) served++
          isServed = true
        },
        ended: (_reason, error) => refused.push(error instanceof AppError ? error.code : 'none'),
      },
    )
  }
  await expect.poll(() => served + refused.length, { timeout: 60_000 }).toBe(200)
  expect(served).toBeGreaterThanOrEqual(50)
  expect(new Set(refused)).toEqual(new Set(['too_many_calls']))
  for (const client of clients) client.close()
  await expect.poll(descriptors, { timeout: 60_000 }).toBeLessThanOrEqual(before + 5)
  expect(await answers()).toBe('browser')
})

test('a client that asks on and never reads is hung up on, or held to its bound, and the others are served', async () => {
  const deaf = rawSocket()
  deaf.pause()
  for (let id = 1; id <= 2_000; id++) deaf.write(`${JSON.stringify({ id, call: 'sessions.list', input: {} })}\n`)
  for (let round = 0; round < 20; round++) expect(await answers()).toBe('browser')
  deaf.destroy()
})
