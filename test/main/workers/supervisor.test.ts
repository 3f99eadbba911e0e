import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createSecret } from '../../../src/main/platform/index.ts'
import { createLinuxSource } from '../../../src/main/workers/process/linux.ts'
import { createProcessTable, createUnsupportedTable } from '../../../src/main/workers/process/table.ts'
import { buildEnv, LIMITS } from '../../../src/main/workers/index.ts'
import type { Command, PreflightRequest, SessionConfig, Worker } from '../../../src/main/workers/index.ts'
import { acpFixture } from './drivers/acp-fixture.ts'
import { clock, createHarness, failure, hasReport, isAlive, prompt, until } from './harness.ts'
import type { Harness, HarnessOptions } from './harness.ts'

const harness = (options: Partial<HarnessOptions> = {}): Harness =>
  createHarness(acpFixture, { scenario: 'ok', ...options })
const AT_ONCE = { closeStdinMs: 0, termGraceMs: 0 }

/** A second worker's configuration beside the harness's own. */
async function another(h: Harness, n: number): Promise<SessionConfig> {
  const workerId = `${h.cfg.workerId.slice(0, -4)}${String(n).padStart(4, '0')}`
  const privateDir = await h.workers.privateDir(workerId)
  return { ...h.cfg, workerId, privateDir, scope: { ...h.cfg.scope, workerId, privateDir } }
}

function checkOf({ cfg: { env, privateDir, profile } }: Harness): PreflightRequest {
  return { env, route: null, privateDir, ...(profile === undefined ? {} : { profile }) }
}

function spawnBare(h: Harness, command: Command): Promise<Worker> {
  const redaction = { ...h.cfg.redaction, secrets: [createSecret('sk-secret-1')] }
  const onStarted = (): Promise<void> => Promise.resolve()
  return h.workers.spawn(
    { workerId: 'bare', runId: '', product: 'Program', command, redaction, onStarted },
    new AbortController().signal,
  )
}

describe('the door of the workers', () => {
  test('WK-33 a slot too many is refused at once, and one that is free is given', async () => {
    await using h = harness()
    const configs = await Promise.all(Array.from({ length: LIMITS.workers }, (_, n) => another(h, n)))
    const open = (cfg: SessionConfig) => h.workers.open('acp', cfg, {}, new AbortController().signal)
    const bare = configs.map((cfg) =>
      h.workers.spawn(
        {
          workerId: cfg.workerId,
          runId: 'run',
          product: 'sleeper',
          command: { path: '/bin/sleep', args: ['300'], env: {}, cwd: h.cfg.cwd },
          redaction: h.cfg.redaction,
          onStarted: () => Promise.resolve(),
        },
        new AbortController().signal,
      ),
    )
    const [first] = await Promise.all(bare)
    expect(h.workers.list()).toHaveLength(LIMITS.workers)
    expect(await failure(open(h.cfg))).toMatchObject({ code: 'workers_full', started: 'never' })
    expect(await first?.release(AT_ONCE)).toMatchObject({ kind: 'gone' })
    const session = await open(h.cfg)
    expect(await session.prompt(prompt('hello'))).toMatchObject({ stop: 'end_turn' })
    const outcomes = await h.workers.closeAll(AT_ONCE)
    expect([...outcomes.values()].every(({ kind }) => kind === 'gone')).toBe(true)
    expect(outcomes.size).toBe(LIMITS.workers)
    expect(h.workers.list()).toEqual([])
  }, 60_000)

  test('WK-34 where processes cannot be identified, nothing is started', async () => {
    await using h = harness({ processes: createUnsupportedTable() })
    expect(await failure(h.open())).toMatchObject({ code: 'platform_unsupported', started: 'never' })
    const { env, privateDir } = h.cfg
    const checked = await h.workers.driver('acp').preflight(checkOf(h), new AbortController().signal)
    expect(checked).toMatchObject({ path: null, failed: { name: 'platform', status: 'fail' } })
    const command = { path: '/bin/true', args: [], env, cwd: privateDir }
    expect(await failure(spawnBare(h, command))).toMatchObject({ code: 'platform_unsupported', started: 'never' })
    expect(hasReport(h)).toBe(false)
  })

  test('WK-73 a conversation that a live worker has is in use', async () => {
    await using h = harness()
    await h.open('fake-session-1')
    const cfg = await another(h, 1)
    const second = h.workers.open('acp', cfg, { load: 'fake-session-1' }, new AbortController().signal)
    expect(await failure(second)).toMatchObject({ code: 'session_in_use', started: 'never' })
  })

  test('WK-32 what an earlier host left is ended by identity and mark, and its folders are swept', async () => {
    await using h = harness()
    const workerId = `${h.cfg.workerId.slice(0, -4)}0099`
    const folders = `${h.dir}/workers`
    for (const earlier of [h.cfg.workerId, workerId, 'earlier']) mkdirSync(`${folders}/${earlier}`, { recursive: true })
    // What this host made is never swept, whoever it is for: a check has no record and no slot.
    const own = (await another(h, 1)).workerId
    const left = spawn('/bin/sh', ['-c', "trap '' TERM; while :; do sleep 300; done"], {
      detached: true,
      env: { PATH: '/usr/bin:/bin', WHEELHOUSE_WORKER: workerId },
      stdio: 'ignore',
    })
    const identity = await h.table.lookup(left.pid ?? 0)
    expect(await h.workers.reap(workerId, identity, { termGraceMs: 200 })).toMatchObject({
      kind: 'gone',
      strongest: 'kill',
    })
    expect(await h.table.marked(workerId)).toEqual([])
    expect(await h.workers.sweep(new Set([workerId]))).toEqual({ removed: 2, kept: 2 })
    expect(new Set(readdirSync(folders))).toEqual(new Set([workerId, own]))
    symlinkSync(h.cfg.cwd, `${folders}/link`)
    expect(await h.workers.sweep(new Set())).toEqual({ removed: 2, kept: 1 })
    expect(readdirSync(h.cfg.cwd)).toEqual([])
  })

  test('WK-65 a start that told no identity is found by its mark', async () => {
    await using h = harness()
    const workerId = `${h.cfg.workerId.slice(0, -4)}0098`
    const left = spawn('/bin/sleep', ['300'], {
      detached: true,
      env: { PATH: '/usr/bin:/bin', WHEELHOUSE_WORKER: workerId },
      stdio: 'ignore',
    })
    await until('it runs', async () => (await h.table.marked(workerId))?.length === 1)
    expect(await h.workers.reap(workerId, null)).toMatchObject({ kind: 'gone' })
    expect(await isAlive(h.table, left.pid ?? 0)).toBe(false)
    expect(await h.workers.reap(workerId, null)).toEqual({ kind: 'gone', strongest: 'none', strays: [] })
  })

  test('W-3 a start that told no identity is held where the listing cannot be read', async () => {
    const source = { ...createLinuxSource(clock), rows: () => Promise.resolve(null) }
    await using h = harness({ processes: createProcessTable({ source, clock }) })
    const workerId = `${h.cfg.workerId.slice(0, -4)}0096`
    expect(await h.workers.reap(workerId, null)).toMatchObject({ kind: 'held', reason: 'identity_unknown' })
  })

  test('WK-53 a bare program is refused without its folder, and with a secret among its arguments', async () => {
    await using h = harness()
    const command = { path: '/bin/true', args: [], env: {}, cwd: h.cfg.cwd }
    const refused = { code: 'worker_unusable', started: 'never' }
    expect(await failure(spawnBare(h, { ...command, cwd: `${h.dir}/gone` }))).toMatchObject(refused)
    expect(await failure(spawnBare(h, { ...command, args: ['--key=sk-secret-1'] }))).toMatchObject(refused)
    expect(h.workers.list()).toEqual([])
  })

  test('WK-29 one that cannot be proven gone keeps its slot until a person settles it', async () => {
    await using h = harness()
    const vague = { ...(await h.open()).process, exact: false }
    const workerId = `${h.cfg.workerId.slice(0, -4)}0097`
    expect(await h.workers.reap(workerId, vague)).toMatchObject({ kind: 'held', reason: 'identity_unknown' })
    const held = h.workers.list().find((record) => record.workerId === workerId)
    expect(held?.state).toMatchObject({ kind: 'held', reason: 'identity_unknown' })
    expect(() => h.workers.settle(h.cfg.workerId)).toThrow(expect.objectContaining({ code: 'worker_not_held' }))
    h.workers.settle(workerId)
    expect(() => h.workers.settle(workerId)).toThrow(expect.objectContaining({ code: 'worker_unknown' }))
  })

  test('W-7 an aborted start leaves nothing', async () => {
    await using h = harness({ scenario: 'hang-handshake' })
    const leave = new AbortController()
    const opening = failure(h.open(undefined, leave.signal))
    await until('it started', () => h.started.length === 1)
    leave.abort()
    expect(await opening).toMatchObject({ code: 'aborted', started: 'ended' })
    expect(h.workers.list()).toEqual([])
  })

  test.each([
    ['a relative command', [{ name: 'a', command: 'tool', args: [], env: {} }]],
    ['a secret in its arguments', [{ name: 'a', command: '/bin/cat', args: ['--key=sk-secret-1'], env: {} }]],
    ['a name with two underscores', [{ name: 'a__b', command: '/bin/cat', args: [], env: {} }]],
    [
      'a name twice',
      [
        { name: 'a', command: '/bin/cat', args: [], env: {} },
        { name: 'a', command: '/bin/cat', args: [], env: {} },
      ],
    ],
  ])('WK-53 an MCP server with %s is refused', async (_what, mcpServers) => {
    const secrets = [createSecret('sk-secret-1')]
    await using h = harness({
      change: (cfg) => ({ ...cfg, mcpServers, redaction: { ...cfg.redaction, secrets } }),
    })
    expect(await failure(h.open())).toMatchObject({ code: 'worker_unusable', started: 'never' })
    expect(hasReport(h)).toBe(false)
  })

  test('WK-52 a private folder that others may enter, or that is a link, is not used', async () => {
    await using h = harness()
    const open = { ...h.cfg, privateDir: `${h.dir}/open` }
    mkdirSync(open.privateDir, { mode: 0o755 })
    const signal = new AbortController().signal
    expect(await failure(h.workers.open('acp', open, {}, signal))).toMatchObject({ code: 'private_dir_unsafe' })
    const linked = { ...h.cfg, privateDir: `${h.dir}/linked` }
    symlinkSync(h.cfg.privateDir, linked.privateDir)
    expect(await failure(h.workers.open('acp', linked, {}, signal))).toMatchObject({ code: 'private_dir_unsafe' })
  })

  test('WK-55 a launcher that cannot confine, or adds to the environment, is refused', async () => {
    const confine = { network: 'host', writable: [], readOnly: [] } as const
    await using h = harness({ change: (cfg) => ({ ...cfg, scope: { ...cfg.scope, confine } }) })
    expect(await failure(h.open())).toMatchObject({ code: 'launch_scope_unsupported', started: 'never' })
    await using adding = harness({
      change: (cfg) => ({
        ...cfg,
        launcher: {
          name: 'adding',
          launch: ({ scope, command }) =>
            Promise.resolve({ command: { ...command, env: { ...command.env, EXTRA: '1' } }, workDir: scope.workDir }),
          receipts: () => Promise.resolve([]),
        },
      }),
    })
    expect(await failure(adding.open())).toMatchObject({ code: 'launch_scope_unsupported', started: 'never' })
  })

  test('WK-57 a preflight says what is missing, or what answers', async () => {
    await using h = harness()
    const { env, profile } = h.cfg
    const request = checkOf(h)
    const signal = new AbortController().signal
    const good = await h.workers.driver('acp').preflight(request, signal)
    expect(good).toMatchObject({ version: '1.2.3', failed: null })
    expect(good.checks.map(({ name, status }) => `${name} ${status}`)).toEqual(['starts pass', 'handshake pass'])
    const missing = {
      ...request,
      ...(profile === undefined ? {} : { profile: { ...profile, command: 'no-such-agent' } }),
    }
    expect(await h.workers.driver('acp').preflight(missing, signal)).toMatchObject({
      path: null,
      failed: { name: 'starts', status: 'fail' },
    })
    const dying = { ...request, env: { ...env, FAKE: 'die-handshake' } }
    const ended = await h.workers.driver('acp').preflight(dying, signal)
    expect(ended.failed).toMatchObject({ name: 'starts' })
    expect(ended.failed?.message).toContain('cannot go on')
  })

  test('W-40 an environment is made of exact names, and what is given wins', () => {
    const host: Record<string, string> = { HOME: '/home/a', PATH: '/bin', CANARY: 'x', MINE: '1', LANG: 'C' }
    const env = buildEnv(['MINE'], (name) => host[name], { PATH: '/opt', 'BAD=NAME': 'x', 'BAD\0': 'x', NUL: 'a\0b' })
    expect(Object.entries(env)).toEqual([
      ['HOME', '/home/a'],
      ['LANG', 'C'],
      ['MINE', '1'],
      ['PATH', '/opt'],
    ])
  })

  test('P-7 a worker that leaves when its input ends is released soon after', async () => {
    await using h = harness()
    const session = await h.open()
    let leftAt = 0
    void session.exited.then(() => (leftAt = clock.monotonicMs()))
    await session.close()
    expect(clock.monotonicMs() - leftAt).toBeLessThan(2_000)
  })
})
