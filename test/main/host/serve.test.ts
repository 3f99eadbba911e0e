/** One host and those who come to it: second starts, commands, hostile and broken clients. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createPort } from 'node:net'
import { createConnection } from 'node:net'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Bridge } from '../../../src/shared/bridge/client.ts'
import { freePort } from '../../support/port.ts'
import { ensureBuilt } from './support/built.ts'
import { allowEverything, connectBridge, connectFrames, follow, isEnd } from './support/client.ts'
import { createMachine } from './support/command.ts'
import type { Machine, Started } from './support/command.ts'

const RUNNING = /Wheelhouse is running\. Open (http:\/\/\S+)/

let machine: Machine

// Each test starts processes; a busy machine takes its time over them.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 })
beforeAll(ensureBuilt)
beforeEach(() => {
  machine = createMachine()
})
afterEach(() => machine[Symbol.asyncDispose]())

async function serve(...args: string[]): Promise<Started> {
  const host = machine.start(args, { entry: 'serve' })
  await host.says(RUNNING)
  return host
}

const create = (bridge: Bridge, more: object = {}) =>
  bridge.call('sessions.create', { agentId: 'builtin', workDir: machine.project, mode: 'agent', ...more })

async function failing(args: readonly string[], options: Parameters<Machine['run']>[1] = {}): Promise<string> {
  const { code, stderr } = await machine.run(args, options)
  expect(code).toBe(1)
  expect(stderr).not.toMatch(/\n {4}at /)
  return stderr
}

/** Codex's own config file, and a gateway that takes a port which is free. */
async function codexConfig(text: string): Promise<string> {
  mkdirSync(machine.data, { mode: 0o700 })
  const settings = JSON.stringify({ gatewayPort: await freePort() })
  writeFileSync(join(machine.data, 'settings.json'), settings, { mode: 0o600 })
  const config = machine.at('home', '.codex/config.toml')
  mkdirSync(dirname(config))
  writeFileSync(config, text)
  return config
}

describe('one host for a data folder', () => {
  test('DT-A27 a second start hands over, prints a new link, and ends with 0', async () => {
    const first = await serve()
    const [, link] = RUNNING.exec(first.stdout()) ?? []
    const second = await machine.run([], { entry: 'serve' })
    expect(second.code).toBe(0)
    const [, other] = /already running\. Open (http:\/\/\S+)/.exec(second.stdout) ?? []
    expect(other).toContain(new URL(link ?? '').origin)
    expect(other).not.toBe(link)
  })

  test('a command is a client of the running host, and leaves it running', async () => {
    const host = await serve()
    writeFileSync(join(machine.project, 'notes.txt'), 'one\n')
    const run = await machine.run(['run', '--agent', 'builtin', '--approve', 'once', '--dir', machine.project, 'Add.'])
    expect(run.code).toBe(0)
    const bridge = await connectBridge(machine.data)
    const { sessions } = await bridge.call('sessions.list', {})
    expect(sessions).toMatchObject([{ lastRun: { state: 'completed' } }])
    host.kill('SIGTERM')
    expect((await host.ended).code).toBe(0)
  })

  test('a host that goes away under a command ends it with a sentence', async () => {
    const host = await serve()
    const run = machine.start(['run', '--agent', 'builtin', '--dir', machine.project, 'Count slowly.'])
    await run.says(/I count slowly/)
    host.kill('SIGKILL')
    expect((await run.ended).code).toBe(1)
    expect(run.stderr()).toContain('[host_unreachable]')
  })

  test('two commands at once share one private host, which ends with the last', async () => {
    const first = machine.start(['run', '--agent', 'builtin', '--dir', machine.project, '--json', 'Count slowly.'])
    await first.says(/"output_text"/)
    const other = machine.at('other')
    mkdirSync(other)
    const second = machine.start(['run', '--agent', 'builtin', '--dir', other, '--json', 'Count slowly.'])
    await second.says(/"output_text"/)
    first.kill('SIGINT')
    await second.says(/"seq":40,/)
    second.kill('SIGINT')
    expect([(await first.ended).code, (await second.ended).code]).toEqual([130, 130])
    expect(second.stdout()).toContain('"state":"cancelled"')
    expect(machine.workers()).toEqual([])
  })

  test('a config file that a quit cannot give back is named at the end', async () => {
    const config = await codexConfig('a = 1')
    const host = await serve()
    expect(await machine.run(['takeover', 'enable', '--client', 'codex'])).toMatchObject({ code: 0 })
    chmodSync(config, 0o400)
    host.kill('SIGTERM')
    expect((await host.ended).code).toBe(0)
    expect(host.stderr()).toMatch(/config\.toml cannot be changed: it is read-only.*\[takeover_config_unwritable\]/)
  })
})

describe('a start that cannot be', () => {
  test('a port that is taken', async () => {
    const blocker = createPort().listen(0, '127.0.0.1')
    await new Promise((resolve) => blocker.once('listening', resolve))
    const { port } = blocker.address() as AddressInfo
    try {
      expect(await failing(['--port', String(port)], { entry: 'serve' })).toMatch(/\[port_taken\]/)
    } finally {
      blocker.close()
    }
  })

  test.runIf(process.getuid?.() === 0)('a data folder that may not be written', async () => {
    mkdirSync(machine.data, { mode: 0o755 })
    chmodSync(machine.at(), 0o755)
    const said = await failing([], { entry: 'serve', uid: 65_534 })
    expect(said).toMatch(/WHEELHOUSE_HOME.*\[data_dir_unwritable\]/s)
  })

  test('a database of a newer build is left as it is', async () => {
    await machine.run(['sessions'])
    const db = new Sqlite(join(machine.data, 'wheelhouse.db'))
    db.prepare(
      `INSERT INTO schema_migrations (system, version, name, sha256, applied_at) VALUES ('runtime', 999, 'later', 'x', 0)`,
    ).run()
    db.close()
    expect(await failing([], { entry: 'serve' })).toMatch(/\[schema_too_new\]/)
    expect(await failing(['sessions'])).toMatch(/\[schema_too_new\]/)
  })

  test(
    'a catalog of Providers that cannot be read is left alone, and so are the sessions',
    { timeout: 60_000 },
    async () => {
      await machine.run(['run', '--agent', 'builtin', '--approve', 'deny', '--dir', machine.project, 'Hello.'])
      const catalog = join(machine.data, 'providers/catalog.json')
      writeFileSync(catalog, '{"broken')
      const { code, stdout } = await machine.run(['sessions'])
      expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('Hello.') })
      const said = await failing(['run', '--agent', 'builtin', '--dir', machine.project, 'x'])
      expect(said).toMatch(/catalog\.json.*left as it is.*\[model_profiles_unavailable\]/s)
      expect(readFileSync(catalog, 'utf8')).toBe('{"broken')
    },
  )

  test('without the catalog, config files are shown and given back: alone, beside a host, by a quit', async () => {
    const config = await codexConfig('a = 1')
    const first = await serve()
    const on = await machine.run(['takeover', 'enable', '--client', 'codex'])
    expect(on).toMatchObject({ code: 0 })
    const led = readFileSync(config, 'utf8')
    const record = join(machine.data, 'providers/takeover/codex.json')
    const recorded = readFileSync(record, 'utf8')
    first.kill('SIGKILL')
    await first.ended
    writeFileSync(join(machine.data, 'providers/catalog.json'), '{"broken')
    const crashed = (): void => {
      writeFileSync(config, led)
      writeFileSync(record, recorded)
    }

    const status = await machine.run(['takeover', 'status'])
    expect(status.stdout).toMatch(/not listening \(model_profiles_unavailable\)\ncodex: broken/)
    expect(readFileSync(config, 'utf8')).toBe(led)
    for (const action of ['disable', 'restore']) {
      crashed()
      expect(await machine.run(['takeover', action, '--client', 'codex'])).toMatchObject({ code: 0 })
      expect(readFileSync(config, 'utf8')).toBe('a = 1')
    }

    crashed()
    const host = await serve()
    expect(await failing(['takeover', 'enable', '--client', 'codex'])).toContain('[model_profiles_unavailable]')
    for (const action of ['disable', 'restore']) {
      crashed()
      expect(await machine.run(['takeover', action, '--client', 'codex'])).toMatchObject({ code: 0 })
      expect(readFileSync(config, 'utf8')).toBe('a = 1')
    }
    crashed()
    host.kill('SIGTERM')
    expect((await host.ended).code).toBe(0)
    expect(readFileSync(config, 'utf8')).toBe('a = 1')
  })

  test('a damaged database', async () => {
    mkdirSync(machine.data, { mode: 0o700 })
    writeFileSync(join(machine.data, 'wheelhouse.db'), 'no database at all, but long enough to be looked at'.repeat(50))
    expect(await failing(['sessions'])).toMatch(/\[database_corrupt\]/)
  })
})

describe('what a client sends', () => {
  test('DT-A24 malformed frames are answered by code, and the host serves on', async () => {
    await serve()
    const frames = await connectFrames(machine.data)
    const answers: unknown[] = []
    frames.onFrame((frame) => answers.push(frame))
    frames.send({ nonsense: true })
    frames.send({ id: 1, call: 'sessions.list', input: { limit: 'many' } })
    frames.send({ id: 2, call: 'no.such', input: {} })
    frames.send({ id: 3, sub: 'no.such', filter: {} })
    frames.send({ id: 4, call: 'runs.submit', input: { sessionId: '01900000-0000-7000-8000-000000000000', text: '' } })
    frames.send({ id: 5, call: 'runs.submit', input: { sessionId: '01900000-0000-7000-8000-000000000000', text: 'x' } })
    frames.send({ id: 6, sub: 'session.events', filter: { sessionId: '01900000-0000-7000-8000-000000000000' } })
    frames.send({
      id: 7,
      call: 'runs.submit',
      input: { sessionId: '01900000-0000-7000-8000-000000000000', text: 'x'.repeat(300_000) },
    })
    await expect.poll(() => answers.length, { timeout: 10_000 }).toBeGreaterThanOrEqual(9)
    const by = (id: number) => answers.find((each) => (each as { id?: number }).id === id)
    expect(answers[1]).toMatchObject({ bad: { code: 'frame_malformed' } })
    expect(by(1)).toMatchObject({ ok: false, error: { code: 'input_invalid' } })
    expect(by(2)).toMatchObject({ ok: false, error: { code: 'procedure_unknown' } })
    expect(by(3)).toMatchObject({ end: 'error', error: { code: 'topic_unknown' } })
    expect(by(4)).toMatchObject({ ok: false, error: { code: 'prompt_invalid' } })
    expect(by(5)).toMatchObject({ ok: false, error: { code: 'session_not_found' } })
    expect(by(6)).toMatchObject({ end: 'error', error: { code: 'session_not_found' } })
    expect(by(7)).toMatchObject({ ok: false, error: { code: 'input_invalid' } })

    const raw = createConnection(join(machine.data, 'host.sock'))
    raw.on('error', () => undefined)
    raw.write('{not json\n\0\0\0\n[1,2\n"lone \ud800"\n')
    raw.write(`${'['.repeat(100_000)}\n`)
    raw.write(`"${'x'.repeat(3_000_000)}"\n`)
    await new Promise((resolve) => setTimeout(resolve, 500))
    raw.destroy()
    const bridge = await connectBridge(machine.data)
    expect(await bridge.call('system.info', {})).toMatchObject({ host: 'browser' })
  })

  test(
    'a session in a run cannot be deleted under it; afterwards nothing of it is left',
    { timeout: 60_000 },
    async () => {
      await serve()
      const bridge = await connectBridge(machine.data)
      const session = await create(bridge)
      const events = follow(bridge, session.id)
      const { runId } = await bridge.call('runs.submit', { sessionId: session.id, text: 'Count slowly.' })
      await events.until(({ type }) => type === 'output_text')
      await expect(bridge.call('sessions.delete', { sessionId: session.id })).rejects.toMatchObject({
        code: expect.stringMatching(/^session_(run_active|busy)$/),
      })
      expect(await bridge.call('runs.stop', { sessionId: session.id })).toEqual({ code: 'stop_accepted' })
      expect((await events.until(isEnd(runId))).state).toBe('cancelled')
      await expect
        .poll(() => bridge.call('sessions.delete', { sessionId: session.id }).catch(() => null), { timeout: 10_000 })
        .toEqual({ deleted: true })
      await expect.poll(() => machine.workers(), { timeout: 15_000 }).toEqual([])
      await expect(bridge.call('sessions.get', { sessionId: session.id })).rejects.toMatchObject({
        code: 'session_not_found',
      })
      expect((await bridge.call('workers.list', {})).workers).toEqual([])
    },
  )
})

describe('a Provider that misbehaves', () => {
  const upstream = async (answer: (request: IncomingMessage, response: ServerResponse) => void) => {
    const server = createServer(answer).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    return { url: `http://127.0.0.1:${port}/v1`, close: () => (server.closeAllConnections(), server.close()) }
  }

  async function sessionOn(bridge: Bridge, baseUrl: string) {
    const { revision } = await bridge.call('providers.list', {})
    const { connectionId } = await bridge.call('providers.upsert', {
      connection: {
        name: 'Odd',
        client: 'builtin',
        preset: 'custom',
        baseUrl,
        authMode: 'bearer',
        protocol: 'responses',
        manualModelId: 'odd-1',
      },
      key: 'sk-a-key-that-is-wrong-0123456789',
      expectedRevision: revision,
    })
    return create(bridge, { choice: { connectionId, modelId: 'odd-1', effort: 'default' } })
  }

  test('a wrong key fails the run by name and status, once', async () => {
    let asked = 0
    const odd = await upstream((_request, response) => {
      asked++
      response.writeHead(401, { 'content-type': 'application/json' })
      response.end('{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}')
    })
    try {
      await serve()
      const bridge = await connectBridge(machine.data)
      const session = await sessionOn(bridge, odd.url)
      const events = follow(bridge, session.id)
      const { runId } = await bridge.call('runs.submit', { sessionId: session.id, text: 'Hello.' })
      const end = await events.until(isEnd(runId))
      expect(end).toMatchObject({ state: 'failed', data: { error: { code: 'provider_auth_failed' } } })
      expect(asked).toBe(1)
      expect(JSON.stringify(events.events)).not.toContain('sk-a-key')
    } finally {
      odd.close()
    }
  })

  test('one that never answers does not hold up a stop', async () => {
    const odd = await upstream(() => undefined)
    try {
      const host = await serve()
      const bridge = await connectBridge(machine.data)
      const session = await sessionOn(bridge, odd.url)
      const events = follow(bridge, session.id)
      const first = await bridge.call('runs.submit', { sessionId: session.id, text: 'Hello.' })
      await events.until(({ state }) => state === 'running')
      await bridge.call('runs.stop', { sessionId: session.id })
      expect((await events.until(isEnd(first.runId))).state).toBe('cancelled')
      const second = await bridge.call('runs.submit', { sessionId: session.id, text: 'Hello again.' })
      await events.until(({ runId, state }) => runId === second.runId && state === 'running')
      host.kill('SIGTERM')
      expect((await host.ended).code).toBe(0)
      expect(machine.workers()).toEqual([])
    } finally {
      odd.close()
    }
  })

  test('one that is not there fails the run by name', async () => {
    await serve()
    const bridge = await connectBridge(machine.data)
    const session = await sessionOn(bridge, 'http://127.0.0.1:9/v1')
    const events = follow(bridge, session.id)
    const { runId } = await bridge.call('runs.submit', { sessionId: session.id, text: 'Hello.' })
    const end = await events.until(isEnd(runId))
    expect(end).toMatchObject({ state: 'failed', data: { error: { code: 'network_unavailable' } } })
    allowEverything(bridge)()
  })
})
