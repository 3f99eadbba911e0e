import { describe, expect, test } from 'vitest'
import { countedClock } from '../../support/counted-clock.ts'
import { acpFixture } from './drivers/acp-fixture.ts'
import { clock, createHarness, failure, isAlive, prompt, until } from './harness.ts'
import type { Harness, HarnessOptions } from './harness.ts'

const harness = (options: HarnessOptions): Harness => createHarness(acpFixture, options)

describe('the stream of an agent', () => {
  test('WK-38 a hundred lines that cannot be read pass, turn by turn; one more ends the session', async () => {
    await using h = harness({ scenario: 'garbage', env: { FAKE_COUNT: '60' } })
    const session = await h.open()
    await session.prompt(prompt('one'))
    expect(await session.prompt(prompt('two'))).toMatchObject({ stop: 'end_turn' })
    expect(session.diagnostics().invalidLines).toBe(120)
    await using worse = harness({ scenario: 'garbage', env: { FAKE_COUNT: '101' } })
    const other = await worse.open()
    expect(await failure(other.prompt(prompt('one')))).toMatchObject({ code: 'worker_protocol_error' })
    await until('it is gone', async () => !(await isAlive(worse.table, other.process.pid)))
  })

  test('WK-38 a value that is nested 100,000 deep is refused and counted, and the turn goes on', async () => {
    await using h = harness({ scenario: 'deep', env: { FAKE_COUNT: '100000' } })
    const session = await h.open()
    expect(await session.prompt(prompt('one'))).toMatchObject({ stop: 'end_turn' })
    expect(session.diagnostics().invalidLines).toBeGreaterThan(0)
    expect(await session.prompt(prompt('two'))).toMatchObject({ stop: 'end_turn' })
  })

  test('WK-36 a line may be as long as the bound, and not longer', async () => {
    const limits = { lineBytes: 100_000 }
    await using h = harness({
      scenario: 'long-line',
      env: { FAKE_COUNT: '100000' },
      change: (cfg) => ({ ...cfg, limits }),
    })
    expect(await (await h.open()).prompt(prompt('one'))).toMatchObject({ stop: 'end_turn' })
    await using longer = harness({
      scenario: 'long-line',
      env: { FAKE_COUNT: '100001' },
      change: (cfg) => ({ ...cfg, limits }),
    })
    expect(await failure((await longer.open()).prompt(prompt('one')))).toMatchObject({ code: 'line_too_long' })
  })

  test('WK-36 WK-39 a line of megabytes is read off the thread, and what follows it after it', async () => {
    await using h = harness({ scenario: 'long-line', env: { FAKE_COUNT: '3000000' } })
    const session = await h.open()
    expect(await session.prompt(prompt('one'))).toMatchObject({ stop: 'end_turn' })
    expect(session.diagnostics().invalidLines).toBe(0)
    expect(await session.close()).toMatchObject({ kind: 'gone' })
  })

  test('WK-36 100 MB without a line break end the session without being kept', async () => {
    await using h = harness({ scenario: 'no-newline' })
    const session = await h.open()
    const before = process.memoryUsage().rss
    let peak = before
    const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 5)
    const error = await failure(session.prompt(prompt('one')))
    clearInterval(watch)
    expect(error).toMatchObject({ code: 'line_too_long' })
    expect(peak - before).toBeLessThan(96 * 1_024 * 1_024)
  })

  test('WK-41 a worker that closes its output and lives on is lost, and released', async () => {
    await using h = harness({ scenario: 'close-stdout' })
    const session = await h.open()
    expect(await failure(session.prompt(prompt('one')))).toMatchObject({ code: 'worker_lost' })
    await until('it is gone', async () => !(await isAlive(h.table, session.process.pid)))
  })

  test('P-5 a session that is closed, after a turn and in one, leaves no timer behind', async () => {
    const { clock: counted, waiting } = countedClock()
    await using h = harness({ scenario: 'ok', clock: counted })
    const session = await h.open()
    await session.prompt(prompt('one'))
    await session.close()
    await using busy = harness({ scenario: 'hang-turn', clock: counted })
    const other = await busy.open()
    const turn = failure(other.prompt(prompt('one')))
    await until('it works', () => busy.content.length > 0)
    await other.cancel()
    await other.close()
    await turn
    // What ended is told of by then; nothing of it waits for its time.
    await new Promise((resolve) => setImmediate(resolve))
    expect(waiting()).toBe(0)
  })

  test('WK-66 closing in a turn cancels it before the input ends', async () => {
    await using h = harness({ scenario: 'hang-turn' })
    const session = await h.open()
    const turn = failure(session.prompt(prompt('one')))
    await until('it works', () => h.content.length > 0)
    expect(await session.close()).toMatchObject({ kind: 'gone', strongest: 'stdin' })
    expect(await turn).toMatchObject({ code: 'session_ended' })
    expect(h.report().wire.at(-1)).toMatchObject({ method: 'session/cancel' })
  })

  test('WK-72 a cancel that the agent does not carry through ends the shells of that turn alone', async () => {
    await using h = harness({ scenario: 'shell-on-cancel' })
    const session = await h.open()
    await session.prompt(prompt('one'))
    await clock.sleep(50)
    const turn = failure(session.prompt(prompt('two')))
    await until('its shell runs', () => h.report().children.length === 2)
    const [background = 0, shell = 0] = h.report().children
    expect(await isAlive(h.table, shell)).toBe(true)
    const before = clock.monotonicMs()
    await session.cancel()
    await until('the shell is gone', async () => !(await isAlive(h.table, shell)))
    expect(clock.monotonicMs() - before).toBeGreaterThan(1_900)
    expect(await isAlive(h.table, background)).toBe(true)
    expect(await isAlive(h.table, session.process.pid)).toBe(true)
    await session.close({ closeStdinMs: 0, termGraceMs: 0 })
    expect(await turn).toMatchObject({ code: 'session_ended' })
  })

  test('a failed turn tells whether it is the login', async () => {
    await using h = harness({ scenario: 'login' })
    expect(await failure((await h.open()).prompt(prompt('one')))).toMatchObject({ code: 'login_required' })
    await using odd = harness({ scenario: 'unknown-stop' })
    expect(await failure((await odd.open()).prompt(prompt('one')))).toMatchObject({ code: 'stop_unknown' })
    await using old = harness({ scenario: 'old-protocol' })
    expect(await failure(old.open())).toMatchObject({ code: 'protocol_unsupported', started: 'ended' })
  })
})
