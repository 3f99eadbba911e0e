/** What the system refuses, and what an agent does not do. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, closeSync, mkdirSync, openSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { describe, expect, test, vi } from 'vitest'
import { createSecret } from '../../../src/main/platform/index.ts'
import { createTempDir } from '../../support/dir.ts'
import { fillUp, mountAt } from '../../support/small-disk.ts'
import { acpFixture } from './drivers/acp-fixture.ts'
import { claudeFixture } from './drivers/claude-fixture.ts'
import { allow, clock, createHarness, failure, isAlive, prompt, until } from './harness.ts'

/** How many descriptors this process may have open. */
interface Descriptors extends AsyncDisposable {
  /** No more than there are. */
  close(): Promise<void>
  /** As many as before. */
  open(): Promise<void>
}

/** By a helper that is there already: a process without a free descriptor starts none. */
async function descriptors(): Promise<Descriptors> {
  const { pid } = process
  const limit = /(\d+)/.exec(
    spawnSync('prlimit', ['--pid', `${pid}`, '--nofile', '-o', 'SOFT', '--noheadings'], { encoding: 'utf8' }).stdout,
  )
  const before = limit?.[1] ?? '1024'
  const script = `while read -r most; do prlimit --pid ${pid} --nofile="$most": && echo set; done`
  const helper = spawn('/bin/sh', ['-c', script], { stdio: ['pipe', 'pipe', 'ignore'] })
  const lines = createInterface({ input: helper.stdout })
  const set = async (most: string): Promise<void> => {
    const done = once(lines, 'line')
    helper.stdin.write(`${most}\n`)
    await done
  }
  const filled: number[] = []
  const open = (): Promise<void> => {
    for (const descriptor of filled.splice(0)) closeSync(descriptor)
    return set(before)
  }
  return {
    open,
    async close() {
      await set(`${readdirSync('/proc/self/fd').length + 16}`)
      for (;;) {
        try {
          filled.push(openSync('/dev/null', 'r'))
        } catch {
          return
        }
      }
    },
    async [Symbol.asyncDispose]() {
      await open()
      helper.stdin.end()
      await once(helper, 'exit')
    },
  }
}

describe.runIf(process.platform === 'linux')('what the system refuses', () => {
  test('WK-35 without a free descriptor the start is tried once more, and works when there is one again', async () => {
    await using h = createHarness(acpFixture, { scenario: 'ok' })
    await using limit = await descriptors()
    await limit.close()
    const opening = h.open()
    const tried = opening.then(
      () => null,
      (error: unknown) => error,
    )
    await clock.sleep(50)
    await limit.open()
    expect(await tried).toBe(null)
    expect(h.started).toHaveLength(1)
    expect(await (await opening).close()).toMatchObject({ kind: 'gone' })
  })

  test('WK-35 twice without one, no process came to be', async () => {
    await using h = createHarness(acpFixture, { scenario: 'ok' })
    await using limit = await descriptors()
    const before = readdirSync('/proc/self/fd').length
    await limit.close()
    const error = await failure(h.open())
    await limit.open()
    expect(error).toMatchObject({ code: 'worker_not_started', started: 'never' })
    expect(h.started).toEqual([])
    expect(readdirSync('/proc/self/fd').length).toBe(before)
    expect(h.workers.list()).toEqual([])
  })

  test('WK-35 arguments that are too long are refused once, for good', async () => {
    let attempts = 0
    await using h = createHarness(acpFixture, {
      scenario: 'ok',
      change: (cfg) => ({
        ...cfg,
        ...(cfg.profile === undefined ? {} : { profile: { ...cfg.profile, args: ['x'.repeat(4_000_000)] } }),
        policy: {
          ...cfg.policy,
          rules() {
            attempts += 1
            return cfg.policy.rules()
          },
        },
      }),
    })
    expect(await failure(h.open())).toMatchObject({ code: 'worker_unusable', started: 'never' })
    expect(attempts).toBe(1)
  })
})

describe('a disk that is full', () => {
  test.each([
    ['the list of MCP servers', { mcpServers: [{ name: 'one', command: '/bin/cat', args: [], env: { A: 'b' } }] }],
    [
      'the key',
      { route: { argv: [], config: {}, envSet: {}, envUnset: [], key: createSecret('sk-full-disk-0123456789') } },
    ],
  ])('WK-35 takes no copy of %s: nothing is started, and no part of it stays', async (_what, more) => {
    using dir = createTempDir()
    using disk = mountAt(dir.at('disk'), '64k')
    const privateDir = `${disk.path}/private`
    mkdirSync(privateDir, { mode: 0o700 })
    await using h = createHarness(claudeFixture, {
      scenario: 'ok',
      change: (cfg) => ({ ...cfg, ...more, privateDir, scope: { ...cfg.scope, privateDir, socketDir: privateDir } }),
    })
    // Where nothing may be mounted, a folder that takes no file stands for it; the superuser writes there all the same.
    if (disk.isMounted) fillUp(`${disk.path}/fill`)
    else chmodSync(privateDir, 0o500)
    const error = await failure(h.open())
    if (disk.isMounted || process.getuid?.() !== 0) {
      expect(error).toMatchObject({ code: 'private_dir_failed', started: 'never' })
    }
    expect(readdirSync(privateDir)).toEqual([])
    expect(h.started).toEqual([])
    expect(h.workers.list()).toEqual([])
  })
})

describe('a program that is there and does not start', () => {
  const replaced = (h: { dir: string }, text: string, mode: number): void => {
    const path = `${h.dir}/bin/${acpFixture.program}`
    writeFileSync(path, text)
    chmodSync(path, mode)
  }

  test.each([
    ['may not be run', '#!/bin/sh\n', 0o600],
    ['names an interpreter that is missing', '#!/nowhere/at/all\n', 0o700],
  ])('WK-04 one that %s is no process', async (_why, text, mode) => {
    await using h = createHarness(acpFixture, { scenario: 'ok' })
    replaced(h, text, mode)
    expect(await failure(h.open())).toMatchObject({ code: 'worker_not_started', started: 'never' })
    expect(readdirSync(h.cfg.privateDir)).toEqual([])
  })

  test.each([
    ['finds no program behind it', 'exec nowhere-at-all\n'],
    ['ends well, and too early', 'exit 0\n'],
  ])('WK-06 one that %s exited early', async (_why, text) => {
    await using h = createHarness(acpFixture, { scenario: 'ok' })
    replaced(h, `#!/bin/sh\n${text}`, 0o700)
    expect(await failure(h.open())).toMatchObject({ code: 'agent_exited_early', started: 'ended' })
    expect(h.workers.list()).toEqual([])
  })
})

describe('what an agent does too much of', () => {
  test('WK-41 a flood on stderr is read to its end, its last lines are kept, and the turn goes on', async () => {
    await using h = createHarness(acpFixture, { scenario: 'ok' })
    const program = `${h.dir}/bin/${acpFixture.program}`
    const flood = 'yes "a line of the flood" | head -c 64000000 >&2; echo "the last of it" >&2'
    writeFileSync(program, readFileSync(program, 'utf8').replace('\nexec ', `\n${flood}\nexec `))
    const session = await h.open()
    expect(await session.prompt(prompt('hello'))).toMatchObject({ stop: 'end_turn' })
    const { stderr } = session.diagnostics()
    expect(stderr.at(-1)).toBe('the last of it')
    expect(stderr).toHaveLength(50)
  })
})

describe('what fails on our side', () => {
  test('WK-13 a refusal that cannot be recorded stands, is answered, and is counted', async () => {
    await using h = createHarness(acpFixture, { scenario: 'refuse-one' })
    h.onRefusal = () => {
      throw new Error('the record is full')
    }
    const session = await h.open()
    expect((await session.prompt(prompt('hello'))).refusals).toHaveLength(1)
    expect(h.report().wire.filter(acpFixture.isAnswer)).toHaveLength(1)
    expect(h.report().wire.filter(acpFixture.isAllow)).toEqual([])
    expect(session.diagnostics().refusalsUnrecorded).toBe(1)
  })

  test('WK-15 a policy that fails refuses', async () => {
    await using h = createHarness(acpFixture, {
      scenario: 'refuse-one',
      decide: () => Promise.reject(new Error('the rules cannot be read')),
    })
    const result = await (await h.open()).prompt(prompt('hello'))
    expect(result.refusals).toMatchObject([{ by: 'bounds' }])
    expect(h.report().wire.filter(acpFixture.isAllow)).toEqual([])
  })

  test('WK-27 a wall clock that jumps by a day changes nothing', async () => {
    const now = vi.spyOn(Date, 'now')
    try {
      await using h = createHarness(acpFixture, {
        scenario: 'refuse-one',
        decide() {
          now.mockImplementation(() => performance.timeOrigin + performance.now() + 86_400_000)
          return Promise.resolve(allow)
        },
      })
      const session = await h.open()
      expect((await session.prompt(prompt('hello'))).stop).toBe('end_turn')
      expect(await session.close({ closeStdinMs: 5_000 })).toMatchObject({ kind: 'gone', strongest: 'stdin' })
    } finally {
      now.mockRestore()
    }
  })
})

describe('what an agent does not do', () => {
  test('WK-40 one that does not read cannot be cancelled, but is ended', async () => {
    await using h = createHarness(acpFixture, {
      scenario: 'deaf',
      change: (cfg) => ({ ...cfg, limits: { cancelWriteMs: 300 } }),
    })
    const session = await h.open()
    const turn = failure(session.prompt(prompt('x'.repeat(1_048_576))))
    const began = clock.monotonicMs()
    expect(await failure(session.cancel())).toMatchObject({ code: 'cancel_stuck' })
    expect(clock.monotonicMs() - began).toBeGreaterThanOrEqual(299)
    expect(await session.close({ closeStdinMs: 300, termGraceMs: 300 })).toMatchObject({ kind: 'gone' })
    expect(await turn).toMatchObject({ code: 'session_ended' })
    await until('it is gone', async () => !(await isAlive(h.table, session.process.pid)))
  })
})
