/** Linux, with the bwrap that `npm run programs` asks for. */
import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createBubblewrapLauncher, doorsOut } from '../../../../src/main/workers/index.ts'
import type { Scope, SessionConfig } from '../../../../src/main/workers/index.ts'
import { createTempDir } from '../../../support/dir.ts'
import { bridgeFor } from '../bridge.ts'
import { acpFixture } from '../drivers/acp-fixture.ts'
import { clock, createHarness, failure, isAlive, prompt } from '../harness.ts'
import type { Harness } from '../harness.ts'

const PATH = process.env['PATH']
const launcherAt = (stateDir: string, more: object = {}) =>
  createBubblewrapLauncher({ clock, path: () => PATH, stateDir, ...more })

async function listening(path: string): Promise<{ path: string } & AsyncDisposable> {
  const server = createServer((socket) => socket.destroy()).listen(path)
  await once(server, 'listening')
  return { path, [Symbol.asyncDispose]: () => promisify(server.close.bind(server))() }
}

function confined(h: Harness, cfg: SessionConfig, network: 'host' | 'none', readOnly: string[] = []): SessionConfig {
  const confine = { network, writable: [h.dir], readOnly }
  return { ...cfg, launcher: launcherAt('/var/lib/of-wheelhouse'), scope: { ...cfg.scope, confine } }
}

describe.runIf(process.platform === 'linux')('a confined worker', () => {
  test('WK-56 writes where it may alone, has no network, gets its token, and takes its daemons along', async () => {
    using outside = createTempDir()
    await using h = createHarness(acpFixture, {
      scenario: 'confined',
      env: { FAKE_OUTSIDE: outside.at('written'), FAKE_SERVERS: 'start' },
      change: (cfg) => ({ ...cfg, env: { ...cfg.env, FAKE_KEPT: `${cfg.cwd}/kept/written` } }),
    })
    mkdirSync(`${h.cfg.cwd}/kept`)
    await using bridge = await bridgeFor(h)
    const cfg = confined(h, bridge.cfg, 'none', [`${h.cfg.cwd}/kept`])
    const session = await h.workers.open('acp', cfg, {}, new AbortController().signal)
    expect(bridge.handoffs).toEqual(['delivered'])
    await session.prompt(prompt('what can you do?'))
    const said = h.content.flatMap((item) => (item.kind === 'text' && item.turn === 1 ? item.text : '')).join('')
    expect(JSON.parse(said)).toEqual({ outside: false, kept: false, here: true, networks: ['lo'] })
    expect(existsSync(outside.at('written'))).toBe(false)

    const inside = await h.table.family(session.process, h.cfg.workerId)
    expect(inside.length).toBeGreaterThan(0)
    expect(await session.close({ closeStdinMs: 500, termGraceMs: 500 })).toMatchObject({ kind: 'gone', strays: [] })
    for (const { pid } of inside) expect(await isAlive(h.table, pid)).toBe(false)
    expect(await cfg.launcher?.receipts(h.cfg.workerId, new AbortController().signal)).toMatchObject([
      { kind: 'confined', url: null },
    ])
  })

  test('WK-55 what it cannot honour it refuses before anything runs', async () => {
    await using h = createHarness(acpFixture, { scenario: 'ok' })
    const open = (scope: Partial<Scope>, launcher = launcherAt(h.dir)) =>
      failure(
        h.workers.open(
          'acp',
          { ...h.cfg, launcher, scope: { ...h.cfg.scope, ...scope } },
          {},
          new AbortController().signal,
        ),
      )
    const refused = { code: 'launch_scope_unsupported', started: 'never' }
    const confine = (writable: string[]) => ({ confine: { network: 'host' as const, writable, readOnly: [] } })
    expect(await open({ confine: null })).toMatchObject(refused)
    // The folder of the state, what lies above it or leads to it, and what is no folder at all.
    symlinkSync(h.dir, `${h.dir}/link`)
    for (const path of ['/', h.dir, `${h.dir}/link`, `${h.dir}/..`, '/no/such/folder', 'relative']) {
      expect(await open(confine([path]))).toMatchObject(refused)
    }
    expect(await open(confine([]), launcherAt('/var/lib/x', { path: () => '/nowhere' }))).toMatchObject(refused)
    expect(await launcherAt('/var/lib/x', { platform: 'darwin' }).trial()).toContain('Linux alone')
    expect(await launcherAt('/var/lib/x').trial()).toBe(null)
    const route = { argv: [], config: {}, envSet: {}, envUnset: [] }
    const cut = { ...confined(h, h.cfg, 'none'), route }
    expect(await failure(h.workers.open('acp', cut, {}, new AbortController().signal))).toMatchObject(refused)
  })

  test('WK-56 of two folders one in the other the inner one’s word holds there', async () => {
    using dir = createTempDir()
    for (const name of ['home/kept/deep', 'home/scratch', 'project', 'private'])
      mkdirSync(dir.at(name), { recursive: true })
    const confine = {
      network: 'host' as const,
      writable: [dir.at('home/kept/deep'), dir.at('home')],
      readOnly: [dir.at('home/kept')],
      scratch: [dir.at('home/scratch')],
    }
    const [workDir, privateDir] = [dir.at('project'), dir.at('private')]
    const scope: Scope = { runId: 'r', workerId: 'w', workDir, privateDir, socketDir: privateDir, confine }
    writeFileSync(dir.at('home/scratch/of-another'), '')
    const script =
      'for at in home home/kept home/kept/deep home/scratch; do touch $0/$at/new && echo $at; done; ls $0/home/scratch'
    const command = { path: '/bin/sh', args: ['-c', script, dir.path], env: {}, cwd: workDir }
    const launched = await launcherAt('/var/lib/x').launch({ scope, command }, new AbortController().signal)
    const { stdout } = spawnSync(launched.command.path, launched.command.args, { encoding: 'utf8', timeout: 30_000 })
    expect(stdout.split('\n').filter(Boolean)).toEqual(['home', 'home/kept/deep', 'home/scratch', 'new'])
    expect(readdirSync(dir.at('home/scratch'))).toEqual(['of-another'])
  })

  test('WK-56 no link leads out: of a person’s own what it leads to counts, and one that may be laid from inside is refused', async () => {
    using dir = createTempDir()
    for (const name of ['state', 'home', 'project', 'private']) mkdirSync(dir.at(name))
    symlinkSync(dir.at('project'), dir.at('a-name-that-is-longer-than-what-it-leads-to'))
    symlinkSync(dir.path, dir.at('above'))
    symlinkSync('../home', dir.at('project/laid'))
    symlinkSync('project/laid/.', dir.at('round-about'))
    const [workDir, privateDir] = [dir.at('project'), dir.at('private')]
    const launch = async (root: string): Promise<readonly string[]> => {
      const confine = { network: 'host' as const, writable: [dir.at(root)], readOnly: [] }
      const scope: Scope = { runId: 'r', workerId: 'w', workDir, privateDir, socketDir: privateDir, confine }
      const command = { path: '/bin/true', args: [], env: {}, cwd: workDir }
      const { signal } = new AbortController()
      return (await launcherAt(dir.at('state')).launch({ scope, command }, signal)).command.args
    }
    const args = await launch('a-name-that-is-longer-than-what-it-leads-to')
    expect(args.flatMap((arg, at) => (arg === '--bind' ? [args[at + 1]] : []))).toEqual([workDir, privateDir])
    for (const root of ['above', 'project/laid', 'round-about']) {
      await expect(launch(root)).rejects.toMatchObject({ code: 'launch_scope_unsupported' })
    }
  })

  test('WK-56 the doors of a login are closed for a host that was started without its environment', () => {
    expect(doorsOut({}, 1_000)).toEqual(
      expect.arrayContaining(['/run/user/1000/bus', '/run/user/1000/systemd', '/run/docker.sock', '/tmp/tmux-1000']),
    )
    const named = doorsOut({ XDG_RUNTIME_DIR: '/rt', TMUX_TMPDIR: '/mux', TMPDIR: 'relative' }, 5)
    expect(named).toEqual(expect.arrayContaining(['/rt/bus', '/run/user/5/bus', '/mux/tmux-5', '/tmp/zellij-5']))
    expect(named.every((path) => path.startsWith('/'))).toBe(true)
  })

  test('WK-56 the host’s own folder is not seen but for what is given of it, and no door leads to who acts outside', async () => {
    using dir = createTempDir()
    for (const name of ['state/private', 'project', 'doors']) mkdirSync(dir.at(name), { recursive: true })
    writeFileSync(dir.at('state/secrets.json'), '')
    await using bus = await listening(dir.at('bus'))
    await using other = await listening(dir.at('doors/other'))
    const confine = { network: 'host' as const, writable: [], readOnly: [] }
    const [workDir, privateDir] = [dir.at('project'), dir.at('state/private')]
    const scope: Scope = { runId: 'r', workerId: 'w', workDir, privateDir, socketDir: privateDir, confine }
    const script = `
      const { readdirSync, writeFileSync } = require('node:fs')
      const [state, ...sockets] = process.argv.slice(1)
      writeFileSync(state + '/private/mine', '')
      const reach = (path) => new Promise((resolve) =>
        require('node:net').connect(path).on('connect', () => resolve('reached')).on('error', ({ code }) => resolve(code)))
      Promise.all(sockets.map(reach)).then((reached) => {
        console.log(JSON.stringify({ seen: readdirSync(state), reached }))
        process.exit()
      })`
    const args = ['-e', script, dir.at('state'), bus.path, other.path]
    const command = { path: process.execPath, args, env: {}, cwd: workDir }
    const doors = [bus.path, dir.at('doors'), dir.at('none')]
    const sandbox = launcherAt(dir.at('state'), { doors })
    const launched = await sandbox.launch({ scope, command }, new AbortController().signal)
    const { stdout } = await promisify(execFile)(launched.command.path, [...launched.command.args], { timeout: 30_000 })
    expect(JSON.parse(stdout)).toEqual({ seen: ['private'], reached: ['ECONNREFUSED', 'ENOENT'] })
    expect(existsSync(dir.at('state/private/mine'))).toBe(true)
  })
})
