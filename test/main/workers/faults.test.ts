/** What the system refuses, and what an agent does not do. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { describe, expect, test } from 'vitest'
import { acpFixture } from './drivers/acp-fixture.ts'
import { clock, createHarness, failure, isAlive, prompt, until } from './harness.ts'

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
