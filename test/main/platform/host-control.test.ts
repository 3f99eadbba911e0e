import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createDurableFile } from '../../../src/main/platform/durable-file.ts'
import { createHostControl } from '../../../src/main/platform/host-control.ts'
import { pathsIn } from '../../../src/main/platform/paths.ts'
import type { FrameConnection, HostRole } from '../../../src/main/platform/types.ts'
import { createSystemClock } from '../../../src/main/platform/clock.ts'
import { createFakeClock } from '../../support/clock.ts'
import { createTempDir } from '../../support/dir.ts'
import { createFakeFailpoints } from '../../support/failpoints.ts'
import { createFakeIds } from '../../support/ids.ts'

const control = createHostControl()

/** Another process over the same folder; ended with the test. Answers what role it got. */
async function start(dataDir: string, how: 'serve' | 'hold' | 'take'): Promise<{ role: string; child: ChildProcess }> {
  const program = fileURLToPath(new URL('../../fixtures/platform/host.ts', import.meta.url))
  const child = spawn(process.execPath, ['--expose-gc', program, dataDir, how], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return { role: line.toString().trim(), child }
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

async function ask(connection: FrameConnection, frame: unknown): Promise<unknown> {
  const answer = new Promise((resolve) => {
    connection.onFrame(resolve)
  })
  connection.send(frame)
  return answer
}

function running(role: HostRole): Extract<HostRole, { kind: 'running' }> {
  if (role.kind !== 'running') throw new Error('this process became the host')
  return role
}

function host(role: HostRole): Extract<HostRole, { kind: 'host' }> {
  if (role.kind !== 'host') throw new Error('another process is the host')
  return role
}

describe('the lock', () => {
  test('DT-A27 the second start is told of the first, reaches it, and takes over at once after kill -9', async () => {
    using dir = createTempDir()
    const first = await start(dir.path, 'serve')
    expect(first.role).toBe('host')

    const connection = await running(await control.acquire(dir.path)).connect()
    expect(await ask(connection, { call: 'focus' })).toEqual({ echo: { call: 'focus' }, pid: first.child.pid })

    const closed = new Promise<void>((resolve) => connection.onClose(resolve))
    await kill(first.child)
    await closed
    // Its socket lies there still, its lock does not.
    expect(existsSync(dir.at('host.sock'))).toBe(true)
    const second = await start(dir.path, 'serve')
    expect(second.role).toBe('host')
    const again = await running(await control.acquire(dir.path)).connect()
    expect(await ask(again, 1)).toEqual({ echo: 1, pid: second.child.pid })
    again.close()
  })

  test('release gives the folder free, also to one in the same process', async () => {
    using dir = createTempDir()
    const mine = host(await control.acquire(dir.path))
    expect((await control.acquire(dir.path)).kind).toBe('running')
    expect((await start(dir.path, 'take')).role).toBe('running')
    await mine.release()
    const next = host(await control.acquire(dir.path))
    await next.release()
    expect((await start(dir.path, 'take')).role).toBe('host')
  })

  test('a refused start writes nothing and does not loosen the lock of the first', async () => {
    using dir = createTempDir()
    const mine = host(await control.acquire(dir.path))
    const before = readdirSync(dir.path)
    for (let round = 0; round < 3; round++) expect((await control.acquire(dir.path)).kind).toBe('running')
    expect((await start(dir.path, 'take')).role).toBe('running')
    expect(readdirSync(dir.path)).toEqual(before)
    expect(statSync(dir.at('host.lock')).mode & 0o777).toBe(0o600)
    await mine.release()
  })

  test('a folder that cannot be made is data_dir_unwritable', async () => {
    using dir = createTempDir()
    writeFileSync(dir.at('file'), '')
    await expect(control.acquire(dir.at('file', 'data'))).rejects.toMatchObject({ code: 'data_dir_unwritable' })
  })
})

describe('the control socket', () => {
  test('is for this user alone, replaces one that was left behind, and goes with its host', async () => {
    using dir = createTempDir()
    const { child } = await start(dir.path, 'serve')
    await kill(child)
    const role = host(await control.acquire(dir.path))
    const listening = await control.listen(dir.path, (connection) => connection.close())
    expect(statSync(dir.at('host.sock')).mode & 0o777).toBe(0o600)
    await listening[Symbol.asyncDispose]()
    expect(existsSync(dir.at('host.sock'))).toBe(false)
    await role.release()
  })

  test('with a long data folder lies elsewhere, and a client with another runtime folder finds it', async () => {
    using dir = createTempDir()
    const dataDir = dir.at('d'.repeat(100))
    const role = host(await control.acquire(dataDir))
    {
      await using _listening = await control.listen(dataDir, (connection) => {
        connection.onFrame((frame) => connection.send(frame))
      })
      const { hostSocket } = pathsIn(dataDir)
      expect(hostSocket.startsWith(dataDir)).toBe(false)
      expect(readFileSync(`${dataDir}/host.sock.path`, 'utf8')).toBe(hostSocket)
      expect(statSync(hostSocket).mode & 0o777).toBe(0o600)

      const before = process.env['XDG_RUNTIME_DIR']
      process.env['XDG_RUNTIME_DIR'] = dir.path.slice(0, 20)
      onTestFinished(() => {
        if (before === undefined) delete process.env['XDG_RUNTIME_DIR']
        else process.env['XDG_RUNTIME_DIR'] = before
      })
      const connection = await running(await control.acquire(dataDir)).connect()
      expect(await ask(connection, 'found')).toBe('found')
      connection.close()
    }
    await role.release()
  })

  test('is found by whoever comes to the folder through a link', async () => {
    using dir = createTempDir()
    mkdirSync(dir.at('real'), { mode: 0o700 })
    const alias = dir.at('l'.repeat(100))
    symlinkSync(dir.at('real'), alias)
    const { role } = await start(alias, 'serve')
    expect(role).toBe('host')
    const connection = await running(await control.acquire(dir.at('real'))).connect()
    expect(await ask(connection, 1)).toMatchObject({ echo: 1 })
    connection.close()
  })

  test('a host that does not answer is host_unreachable after five seconds', async () => {
    using dir = createTempDir()
    await start(dir.path, 'hold')
    const clock = createFakeClock()
    const files = createDurableFile({ ids: createFakeIds(), failpoints: createFakeFailpoints() })
    const patient = createHostControl({ clock, files })
    const outcome = running(await patient.acquire(dir.path))
      .connect()
      .catch((error: unknown) => error)
    const ended = outcome.then(() => true)
    // Each try is a real one: time passes as fast as the tries do.
    const real = createSystemClock()
    while (!(await Promise.race([ended, real.sleep(1).then(() => false)]))) await clock.advance(50)
    expect(await outcome).toMatchObject({ code: 'host_unreachable', retryable: true })
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(5_000)
  })

  test('a client may give up waiting', async () => {
    using dir = createTempDir()
    await start(dir.path, 'hold')
    const abort = new AbortController()
    const outcome = running(await control.acquire(dir.path)).connect(abort.signal)
    abort.abort(new Error('enough'))
    await expect(outcome).rejects.toThrow('enough')
  })
})
