import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createMcpServers, executorMigrations } from '../../../src/main/executor/index.ts'
import type { McpServers } from '../../../src/main/executor/index.ts'
import { testMcpServer } from '../../../src/main/executor/mcp/index.ts'
import { publishArtifact } from '../../../src/main/executor/mcp/publish-tool.ts'
import { createWorkerLedger } from '../../../src/main/executor/ledger.ts'
import { createIds, createSecret, createSecretRegistry, createSystemClock } from '../../../src/main/platform/index.ts'
import type { Secret } from '../../../src/main/platform/index.ts'
import { runtimeMigrations } from '../../../src/main/runtime/index.ts'
import { createWorkers } from '../../../src/main/workers/index.ts'
import { AppError } from '../../../src/shared/errors.ts'
import type { McpServerInput } from '../../../src/shared/mcp.ts'
import { createTempDir } from '../../support/dir.ts'
import { createMemoryLog } from '../../support/log.ts'
import { openTestStore } from '../../support/store.ts'
import type { TestStore } from '../../support/store.ts'

const SECRET = 'value-of-a-secret-0123456789'
const PATH = '/usr/bin:/bin'

function input(more: Partial<McpServerInput> = {}): McpServerInput {
  return {
    scope: { kind: 'person' },
    name: 'files',
    command: 'sh',
    args: ['-c', 'true'],
    env: [],
    required: false,
    enabled: true,
    ...more,
  }
}

describe('MCP servers', () => {
  let store: TestStore
  let mcp: McpServers
  const kept = new Map<string, Secret>()
  const secrets = createSecretRegistry()

  /** How many secrets the store takes. */
  let room = Infinity

  beforeEach(async () => {
    kept.clear()
    room = Infinity
    store = await openTestStore([...runtimeMigrations, ...executorMigrations], {})
    mcp = createMcpServers({
      clock: createSystemClock(),
      ids: createIds(),
      log: createMemoryLog(),
      store,
      secrets,
      secretStore: {
        set(ref, secret) {
          const applied = kept.size < room
          if (applied) kept.set(ref, secret)
          return Promise.resolve({ applied, durable: applied })
        },
        refs: () => Promise.resolve([...kept.keys()]),
        get: (ref) => Promise.resolve(kept.get(ref) ?? null),
        delete(ref) {
          kept.delete(ref)
          return Promise.resolve({ applied: true, durable: true })
        },
      },
    })
  })
  afterEach(() => store[Symbol.dispose]())

  test('a secret is stored beside the row, told to nobody, and given to the server', async () => {
    const env = [
      { name: 'PLAIN', value: 'seen', secret: false },
      { name: 'API_KEY', value: SECRET, secret: true },
    ]
    const made = await mcp.upsert(input({ env }), 0)
    expect(made.env).toEqual([
      { name: 'PLAIN', value: 'seen' },
      { name: 'API_KEY', value: null },
    ])
    expect(JSON.stringify(store.db.prepare('SELECT * FROM mcp_servers').all())).not.toContain(SECRET)
    expect(secrets.redact(`it is ${SECRET}`)).not.toContain(SECRET)
    const { servers } = await mcp.resolve('/anywhere', ['files'], { PATH })
    expect(servers[0]?.server).toMatchObject({ name: 'files', env: { PATH, PLAIN: 'seen', API_KEY: SECRET } })
    expect(servers[0]?.server.command.startsWith('/')).toBe(true)
    expect(servers[0]?.secrets.map((secret) => secret.reveal('redactor'))).toEqual([SECRET])

    // Kept where the person leaves it as it is, gone with the variable.
    const again = await mcp.upsert(
      input({ id: made.id, env: [{ name: 'API_KEY', value: null, secret: true }] }),
      made.rev,
    )
    expect(kept.size).toBe(1)
    await mcp.upsert(input({ id: made.id }), again.rev)
    expect(kept.size).toBe(0)
  })

  test('WK-53 a secret among the arguments is refused, and nothing of it is stored', async () => {
    const leaking = input({ args: [`--key=${SECRET}`], env: [{ name: 'KEY', value: SECRET, secret: true }] })
    await expect(mcp.upsert(leaking, 0)).rejects.toMatchObject({ code: 'input_invalid' })
    expect(kept.size).toBe(0)
    expect(mcp.list()).toEqual([])
  })

  test('a secret that the store does not take changes nothing, and none stays of those before it', async () => {
    room = 1
    const env = ['ONE', 'TWO'].map((name) => ({ name, value: `${SECRET}-${name}`, secret: true }))
    await expect(mcp.upsert(input({ env }), 0)).rejects.toMatchObject({ code: 'credential_store_failed' })
    expect([kept.size, mcp.list().length]).toEqual([0, 0])
  })

  test('a secret that no server names is swept, and no other', async () => {
    await mcp.upsert(input({ env: [{ name: 'KEY', value: SECRET, secret: true }] }), 0)
    const named = [...kept.keys()]
    kept.set('mcp:of-a-crash:x', createSecret('left behind'))
    await mcp.sweep()
    expect([...kept.keys()]).toEqual(named)
  })

  test('a project has its own beside those of the person, and its own of a name comes first', async () => {
    await mcp.upsert(input({ name: 'everywhere' }), 0)
    await mcp.upsert(input({ args: ['of-the-person'] }), 0)
    const project = { kind: 'project', path: '/project/app/' } as const
    await mcp.upsert(input({ scope: project, args: ['of-the-project'], required: true }), 0)
    expect(mcp.list()).toHaveLength(3)
    expect(mcp.list('/project/app/sub').map(({ name, args }) => [name, args[0]])).toEqual([
      ['everywhere', '-c'],
      ['files', 'of-the-project'],
    ])
    expect(mcp.offered('/project/app').map(({ name, required }) => [name, required])).toEqual([
      ['everywhere', false],
      ['files', true],
    ])
    // A folder beside it, whose name begins alike.
    expect(mcp.list('/project/application').map(({ args }) => args[0])).toEqual(['-c', 'of-the-person'])
  })

  test('two windows that change one server do not overwrite each other', async () => {
    const made = await mcp.upsert(input(), 0)
    await mcp.upsert(input({ id: made.id, enabled: false }), made.rev)
    const late = mcp.upsert(input({ id: made.id }), made.rev)
    await expect(late).rejects.toMatchObject({ code: 'config_conflict' })
    await expect(mcp.delete(made.id, made.rev)).rejects.toMatchObject({ code: 'config_conflict' })
    expect(mcp.offered('/')).toEqual([])
    await mcp.delete(made.id, made.rev + 1)
    expect(mcp.list()).toEqual([])
    await expect(mcp.upsert(input({ name: 'twice' }), 0)).resolves.toMatchObject({ rev: 1 })
    await expect(mcp.upsert(input({ name: 'twice' }), 0)).rejects.toMatchObject({ code: 'config_value_invalid' })
  })

  test('a program that is not there is missing', async () => {
    await mcp.upsert(input({ command: 'no-such-program-anywhere' }), 0)
    expect(await mcp.resolve('/', ['files'], { PATH })).toEqual({ servers: [], missing: ['files'] })
  })

  test('a test starts the server, asks for its tools, and leaves nothing', async () => {
    using dir = createTempDir()
    mkdirSync(dir.at('bin'))
    const script = dir.at('bin', 'server')
    writeFileSync(
      script,
      `#!/bin/sh
echo "with $KEY" >&2
read -r _; echo '{"jsonrpc":"2.0","id":1,"result":{"serverInfo":{"name":"small","version":"1.2"}}}'
read -r _; read -r _; echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"one"}],"nextCursor":"x"}}'
read -r _; echo '{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"two"}]}}'
read -r _ || exit 0
`,
    )
    chmodSync(script, 0o700)
    const clock = createSystemClock()
    const log = createMemoryLog()
    const ids = createIds()
    const hostEnv = (name: string): string | undefined => ({ PATH, HOME: dir.path })[name]
    const workers = createWorkers({ clock, ids, log, paths: { workers: dir.path }, secrets, hostEnv })
    const ledger = createWorkerLedger({ store, clock })
    const run = (of: McpServerInput) =>
      testMcpServer(
        { clock, ids, log, store, workers, ledger, servers: mcp, hostEnv },
        of,
        new AbortController().signal,
      )
    const good = input({ command: script, args: [], env: [{ name: 'KEY', value: SECRET, secret: true }] })
    expect(await run(good)).toEqual({
      ok: true,
      server: { name: 'small', version: '1.2' },
      tools: ['one', 'two'],
      message: '',
      hint: null,
    })
    const dies = await run({ ...good, args: ['-c', 'echo "no: $KEY" >&2; exit 3'], command: '/bin/sh' })
    expect(dies).toMatchObject({ ok: false, tools: [] })
    expect(dies.message).toContain('It said: no:')
    expect(JSON.stringify(dies)).not.toContain(SECRET)
    expect(await run(input({ command: 'no-such-program-anywhere' }))).toMatchObject({
      ok: false,
      message: 'There is no program no-such-program-anywhere on this machine.',
    })
    // One that writes without end must not have the host's time until the deadline.
    const floods = await run(input({ command: 'yes', args: [] }))
    expect(floods.message).toBe('It writes on and on, and none of it is an answer.')
    expect(workers.list()).toEqual([])
    expect(ledger.open()).toEqual([])
  })
})

describe('publishing a file', () => {
  const never = new AbortController().signal
  const run = { runId: 'run-1', cwd: '/project' }

  test('is for the run that has the worker, from its work directory', async () => {
    const asked: unknown[] = []
    const artifacts = {
      publish(request: { path: string }) {
        asked.push(request)
        return Promise.resolve({ filename: 'report.pdf', bytes: 12 })
      },
    }
    expect(await publishArtifact(artifacts, run, { path: 'out/report.pdf' }, never)).toEqual({
      text: 'Published report.pdf, 12 bytes.',
      failed: false,
    })
    expect(asked).toEqual([{ runId: 'run-1', path: '/project/out/report.pdf' }])
    expect(await publishArtifact(artifacts, null, { path: 'a' }, never)).toMatchObject({ failed: true })
    expect(await publishArtifact(artifacts, run, { file: 'a' }, never)).toMatchObject({ failed: true })
  })

  test('a refusal is told to the agent in the words of the person', async () => {
    const artifacts = {
      publish: () => Promise.reject(new AppError('input_path_escape', 'The file lies outside of the project.')),
    }
    expect(await publishArtifact(artifacts, run, { path: '/etc/passwd' }, never)).toEqual({
      text: 'The file was not published. The file lies outside of the project.',
      failed: true,
    })
  })
})
