/**
 * One life of an installation with a key of each kind in it, and everything searched for them: what the browser was sent,
 * every file, every stream, and what each child was given.
 */
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inflateRawSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { procedures, topics } from '../../../src/shared/bridge/index.ts'
import type { HostFrame, ProcedureInput } from '../../../src/shared/bridge/index.ts'
import { createBridgeClient } from '../../../src/shared/bridge/client.ts'
import type { Bridge } from '../../../src/shared/bridge/client.ts'
import { WebSocket } from 'ws'
import { filesBelow, readIfThere } from '../../support/dir.ts'
import { startFakeModel } from '../../support/fake-model.ts'
import type { FakeModel } from '../../support/fake-model.ts'
import { leaksIn } from '../../support/planted.ts'
import { freePort } from '../../support/port.ts'
import { ensureBuilt } from './support/built.ts'
import { allowEverything, follow, isEnd } from './support/client.ts'
import { createMachine } from './support/command.ts'
import type { Machine, Started } from './support/command.ts'

const FAKE_CODEX = fileURLToPath(new URL('../../fixtures/agents/fake-codex.mjs', import.meta.url))
const RUNNING = /Wheelhouse is running\. Open (http:\/\/\S+)/
const random = (): string => randomBytes(10).toString('hex')
/** Of this run alone, each half of it too; with what JSON and percent-encoding write otherwise. */
const SAVED = `sk-${random()}"\\%/+=&<${random()}`
const ROTATED = `sk-${random()}"\\%/+=&<${random()}`
const FROM_ENV = `sk-${random()}${random()}`
const LOGIN = `login-${random()}${random()}`
const LOOK = 'env; tr "\\0" "\\n" < /proc/$PPID/environ; tr "\\0" "\\n" < /proc/$PPID/cmdline; ls -l /proc/$PPID/fd'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 })

interface Browser {
  readonly bridge: Bridge
  /** As they came and went over the socket. */
  readonly received: string[]
  readonly sent: string[]
}

/** Lets itself in by the link, as a browser does. */
async function openBrowser(link: string): Promise<Browser> {
  const { origin, host, hash } = new URL(link)
  const token = new URLSearchParams(hash.slice(1)).get('token')
  const exchanged = await fetch(`${origin}/session`, {
    method: 'POST',
    headers: { origin },
    body: JSON.stringify({ token }),
  })
  const cookie = String(exchanged.headers.get('set-cookie')).split(';', 1)[0] ?? ''
  const received: string[] = []
  const sent: string[] = []
  const socket = new WebSocket(`ws://${host}/bridge`, { headers: { origin, cookie } })
  const bridge = createBridgeClient({
    connect(handlers) {
      socket.on('message', (data: Buffer) => {
        received.push(data.toString('utf8'))
        handlers.frame(JSON.parse(data.toString('utf8')) as HostFrame)
      })
      socket.on('close', () => handlers.closed({ final: true, error: null }))
      const send = (frame: object): void => {
        sent.push(JSON.stringify(frame))
        socket.send(JSON.stringify(frame))
      }
      return { send, close: () => socket.close() }
    },
    nowMs: () => performance.now(),
    after: (ms, fn) => {
      const timer = setTimeout(fn, ms)
      return () => clearTimeout(timer)
    },
  })
  await vi.waitUntil(() => bridge.status().kind === 'open', { timeout: 30_000 })
  return { bridge, received, sent }
}

/** Every file below, as path and bytes; one that goes meanwhile held nothing. */
function filesIn(...folders: string[]): [path: string, bytes: Buffer][] {
  return filesBelow(...folders).map((path) => [path, readIfThere(path)])
}

/** Arguments and environment of every process of this machine that may be looked into, but this one. */
function processes(): [name: string, bytes: Buffer][] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => [`/proc/${pid}/cmdline`, `/proc/${pid}/environ`])
    .flatMap((path) => {
      try {
        return [[path, readFileSync(path)] as const]
      } catch {
        return []
      }
    })
    .map(([path, bytes]) => [path, bytes])
}

/** Names of what holds one of the keys. */
function holding(things: readonly (readonly [string, Buffer | string])[], ...keys: string[]): string[] {
  return things.filter(([, content]) => keys.some((key) => leaksIn(content, key).length > 0)).map(([name]) => name)
}

let machine: Machine
let model: FakeModel
let host: Started
let browser: Browser
let putAway: () => void
let gatewayPort: number

beforeAll(async () => {
  putAway = await ensureBuilt()
  machine = createMachine()
  model = await startFakeModel()
  gatewayPort = await freePort()
  for (const folder of [machine.data, machine.at('bin'), machine.at('reports'), machine.at('home', '.codex')]) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  }
  writeFileSync(join(machine.data, 'settings.json'), JSON.stringify({ gatewayPort }), { mode: 0o600 })
  const codex = machine.at('bin', 'codex')
  const report = `FAKE_REPORT=${machine.at('reports')}/$$`
  writeFileSync(codex, `#!/bin/sh\nFAKE=ok ${report} exec ${process.execPath} ${FAKE_CODEX} "$@"\n`)
  chmodSync(codex, 0o755)
  host = machine.start([], {
    entry: 'serve',
    env: {
      PATH: `${machine.at('bin')}:/usr/local/bin:/usr/bin:/bin`,
      WHEELHOUSE_CREDENTIAL_ENV: 'PLANTED_KEY',
      PLANTED_KEY: FROM_ENV,
    },
  })
  const [, link = ''] = await host.says(RUNNING)
  browser = await openBrowser(link)
})
afterAll(async () => {
  browser.bridge.close()
  await machine[Symbol.asyncDispose]()
  await model.close()
  putAway()
})

async function save(connection: ProcedureInput<'providers.upsert'>['connection'], key: string | null) {
  const { revision } = await browser.bridge.call('providers.list', {})
  const saved = await browser.bridge.call('providers.upsert', {
    connection,
    ...(key === null ? {} : { key }),
    expectedRevision: revision,
  })
  return saved.connectionId ?? ''
}

/** A session of that agent, and one prompt to its end. */
async function prompt(
  agentId: 'builtin' | 'codex',
  connectionId: string,
): Promise<{ sessionId: string; state: unknown }> {
  const choice = { connectionId, modelId: 'fake-model', effort: 'default' as const }
  const created = { agentId, workDir: machine.project, mode: 'agent', choice } as const
  const { id: sessionId } = await browser.bridge.call('sessions.create', created)
  const followed = follow(browser.bridge, sessionId)
  const { runId } = await browser.bridge.call('runs.submit', { sessionId, text: 'Look round.' })
  const { data } = await followed.until(isEnd(runId))
  return { sessionId, state: data['state'] }
}

/** One request as a plain agent makes it. */
function askGateway(key: string): Promise<{ status: number; text: string }> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${LOGIN}`, 'chatgpt-account-id': LOGIN }
  return new Promise((resolve, reject) => {
    const path = `/k/${key}/v1/responses`
    const request = httpRequest({ host: '127.0.0.1', port: gatewayPort, method: 'POST', path, headers }, (answer) => {
      let text = ''
      answer.on('data', (chunk: Buffer) => (text += chunk.toString()))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
    })
    request.on('error', reject)
    request.end('{"model":"fake-model","input":[]}')
  })
}

/** Everything that a window may ask for without naming a thing, and everything that it may watch. */
async function askForAll(): Promise<void> {
  for (const [name, { kind, input }] of Object.entries(procedures)) {
    if (kind !== 'query' || !input.safeParse({}).success) continue
    await browser.bridge.call(name as 'system.info', {}).catch(() => undefined)
  }
  for (const by of ['day', 'session', 'connection', 'model'] as const) {
    await browser.bridge.call('usage.summary', { by })
  }
}

test('PR-A50 no key stands in a frame, a file, a stream, a process or what an agent was given, in any form', async () => {
  const { bridge, received, sent } = browser
  allowEverything(bridge)
  for (const [name, { filter }] of Object.entries(topics)) {
    if (filter.safeParse({}).success) bridge.subscribe(name as 'providers', {}, { event: () => undefined })
  }

  const own = {
    name: 'Own',
    client: 'builtin',
    preset: 'custom',
    baseUrl: model.baseUrl,
    manualModelId: 'fake-model',
  } as const
  const id = await save({ ...own, protocol: 'responses' }, SAVED)
  const fromEnv = await save({ ...own, protocol: 'responses', name: 'Env', credentialEnv: 'PLANTED_KEY' }, null)
  const codex = await save({ ...own, client: 'codex', name: 'Codex' }, SAVED)
  await bridge.call('providers.discover', { id })
  model.script({ status: 401, error: { message: `no such key: ${SAVED}` } })
  await expect(bridge.call('providers.testSaved', { id })).rejects.toMatchObject({
    code: 'model_profile_credential_not_ready',
  })

  // A command looks at all that it can reach; the Provider fails with the key.
  const look = { id: 'call_1', name: 'bash', input: { command: LOOK } }
  model.script({ text: 'I look.', calls: [look] }, { text: 'That is all.' })
  const first = await prompt('builtin', id)
  expect(first.state).toBe('completed')
  model.script({ text: 'Hello.' })
  expect((await prompt('builtin', fromEnv)).state).toBe('completed')
  model.script({ status: 400, error: { message: `Bearer ${SAVED} is not good` } })
  expect((await prompt('builtin', id)).state).toBe('failed')
  expect((await prompt('codex', codex)).state).toBe('completed')
  await save({ ...own, id: codex, client: 'codex', name: 'Codex' }, ROTATED)

  // The gateway leads a plain agent, whose login comes along.
  await bridge.call('gateway.setUpstream', { client: 'codex', connectionId: codex })
  const { digest } = await bridge.call('gateway.plan', { client: 'codex', kind: 'base_url' })
  await bridge.call('gateway.enable', { client: 'codex', kind: 'base_url', digest })
  const config = machine.at('home', '.codex', 'config.toml')
  const [gatewayKey = ''] = /whg_[\w-]{43}/.exec(readFileSync(config, 'utf8')) ?? []
  model.script({ text: 'Hello.' }, { status: 500, error: { message: `${ROTATED} broke, with ${gatewayKey}` } })
  expect((await askGateway(gatewayKey)).status).toBe(200)
  const failed = await askGateway(gatewayKey)
  expect(failed.status).toBe(500)
  for (const format of ['markdown', 'jsonl'] as const) {
    await bridge.call('sessions.export', { sessionId: first.sessionId, format })
  }
  await bridge.call('sessions.snapshot', { sessionId: first.sessionId })
  await askForAll()

  // Each key was in use, so there was something to find.
  const inUse = new Set(model.requests.map(({ key }) => key))
  expect(inUse).toEqual(new Set([SAVED, FROM_ENV, ROTATED]))
  const reports = filesIn(machine.at('reports'))
  const wire = reports.map(([, bytes]) => bytes.toString('utf8')).find((text) => text.includes('account/login/start'))
  const [, routeId = ''] = /"apiKey":"([\w-]{43})"/.exec(wire ?? '') ?? []
  expect(routeId).not.toBe('')
  expect(wire?.split(routeId)).toHaveLength(2)

  const keys = [SAVED, ROTATED, FROM_ENV, LOGIN, gatewayKey, routeId]
  const { base64 } = await bridge.call('diagnostics.export', {})
  const diagnostics = unzip(Buffer.from(base64, 'base64'))
  const secrets = join(machine.data, 'providers', 'secrets', 'secrets.json')
  const numbered = (frames: readonly string[]) => frames.map((frame, index) => [`${index}: ${frame}`, frame] as const)
  const files = () => filesIn(machine.data, machine.at('home'), machine.project)
  const streams = () => [['stdout', host.stdout()] as const, ['stderr', host.stderr()] as const]
  expect(holding(numbered(received), ...keys)).toEqual([])
  expect(holding(diagnostics, ...keys)).toEqual([])
  expect(holding(files(), SAVED, ROTATED, FROM_ENV)).toEqual([secrets])
  expect(holding(files(), gatewayKey).toSorted()).toEqual([secrets, config].toSorted())
  expect(holding(files(), routeId, LOGIN)).toEqual([])
  expect(holding(numbered(model.requests.map(({ body }) => JSON.stringify(body))), ...keys)).toEqual([])
  expect(holding(reports, SAVED, ROTATED, FROM_ENV, LOGIN, gatewayKey)).toEqual([])
  expect(holding(processes(), ...keys)).toEqual([`/proc/${host.pid}/environ`])
  expect(leaksIn(failed.text, ROTATED)).toEqual([])
  // What does hold one is found: the frames that brought it in, and a file that is planted.
  expect(holding(numbered(sent), SAVED, ROTATED)).toHaveLength(3)
  const planted = machine.at('home', 'planted')
  for (const key of keys) {
    writeFileSync(planted, Buffer.from(`x${key}`, 'utf16le'))
    expect(holding(files(), key)).toContain(planted)
  }
  writeFileSync(planted, '')

  // A model that says its own key, split over many events: the agent keeps what it heard, and Wheelhouse passes none of it on.
  model.script({ text: `You use ${SAVED}, ${ROTATED}, ${FROM_ENV}, ${gatewayKey}.` })
  const last = await prompt('builtin', id)
  expect(last.state).toBe('completed')
  const shown = await bridge.call('sessions.snapshot', { sessionId: last.sessionId })
  expect(JSON.stringify(shown)).toContain('You use [secret], [secret], [secret], [secret].')
  await bridge.call('system.logs.tail', {})
  host.kill('SIGTERM')
  expect((await host.ended).code).toBe(0)
  expect(holding(numbered(received), ...keys)).toEqual([])
  expect(holding(streams(), ...keys)).toEqual([])
  const heard = join(machine.data, 'agent')
  expect(
    holding(
      files().filter(([path]) => !path.startsWith(heard)),
      ...keys,
    ),
  ).toEqual([secrets])
})

/** Names and contents of a ZIP archive's entries. */
function unzip(archive: Buffer): [name: string, bytes: Buffer][] {
  const entries: [string, Buffer][] = []
  for (let at = 0; archive.readUInt32LE(at) === 0x04_03_4b_50;) {
    const packed = archive.readUInt32LE(at + 18)
    const name = archive.readUInt16LE(at + 26)
    const from = at + 30 + name + archive.readUInt16LE(at + 28)
    const bytes = inflateRawSync(archive.subarray(from, from + packed))
    entries.push([archive.toString('utf8', at + 30, at + 30 + name), bytes])
    at = from + packed
  }
  return entries
}
