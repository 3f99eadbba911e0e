/** What every driver has to do, whatever its agent speaks. A fake agent plays each scenario by the same name. */
import { spawn } from 'node:child_process'
import { readdirSync, rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { inspect } from 'node:util'
import { createSecret } from '../../../src/main/platform/index.ts'
import { bridgeFor } from './bridge.ts'
import { allow, clock, createHarness, failure, hasReport, isAlive, prompt, refuse, until } from './harness.ts'
import type { DriverFixture, Harness, WireLine } from './harness.ts'

const QUICK = { closeStdinMs: 2_000, termGraceMs: 1_000 }
const MARKER = 'MARKER-7351'

export function describeDriverConformance(fixture: DriverFixture): void {
  const harness = (scenario: string, more: Omit<Parameters<typeof createHarness>[1], 'scenario'> = {}): Harness =>
    createHarness(fixture, { scenario, ...more })

  const wireOf = (h: Harness, is: (line: WireLine) => boolean): WireLine[] => h.report().wire.filter(is)

  describe(`a ${fixture.name} worker`, () => {
    test('WK-01 answers prompt after prompt, leads its own group and session, and is gone when closed', async () => {
      await using h = harness('ok')
      const session = await h.open()
      const first = await session.prompt(prompt('hello'))
      const second = await session.prompt(prompt('again'))
      expect([first.stop, second.stop]).toEqual(['end_turn', 'end_turn'])
      const { pid, pgid, sid } = h.report()
      expect([pgid, sid]).toEqual([pid, pid])
      expect(session.process).toMatchObject({ pid, pgid: pid, exact: true })
      const said = h.content.flatMap((item) => (item.kind === 'text' && item.turn === 1 ? item.text : ''))
      expect(said.join('')).toBe('hello')
      expect(await session.close(QUICK)).toMatchObject({ kind: 'gone' })
      expect(await isAlive(h.table, pid)).toBe(false)
      expect(h.workers.list()).toEqual([])
    })

    test('WK-02 is given exactly its own environment', async () => {
      process.env['CANARY'] = 'leaked'
      process.env['NODE_V8_COVERAGE'] = '/nowhere'
      try {
        await using h = harness('ok')
        await h.open()
        // The shell in front of the fake adds what POSIX says a shell keeps.
        const { PWD: _pwd, SHLVL: _level, _: _last, OLDPWD: _old, ...env } = h.report().env
        expect(env).toEqual({ ...h.cfg.env, ...fixture.ownEnv, WHEELHOUSE_WORKER: h.cfg.workerId })
      } finally {
        delete process.env['CANARY']
        delete process.env['NODE_V8_COVERAGE']
      }
    })

    test('WK-03 inherits three descriptors and no other', async () => {
      await using h = harness('ok')
      await h.open()
      const numbers = h.descriptors().map((line) => line.split(' ')[0])
      const inherited = await descriptorsOfAnyChild()
      expect(numbers.filter((number) => !inherited.has(number ?? ''))).toEqual(['0', '1', '2'])
    })

    test('WK-04 a missing program is tried exactly twice, and leaves nothing', async () => {
      await using h = harness('ok')
      rmSync(`${h.dir}/bin/${fixture.program}`)
      const before = readdirSync('/proc/self/fd').length
      const began = clock.monotonicMs()
      expect(await failure(h.open())).toMatchObject({ code: 'worker_not_started', started: 'never' })
      expect(clock.monotonicMs() - began).toBeGreaterThanOrEqual(249)
      expect(readdirSync(h.cfg.privateDir)).toEqual([])
      expect(h.workers.list()).toEqual([])
      expect(readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(before + 1)
    })

    test('WK-05 a missing folder is refused without an attempt', async () => {
      await using h = harness('ok', { change: (cfg) => ({ ...cfg, cwd: `${cfg.cwd}/nowhere` }) })
      expect(await failure(h.open())).toMatchObject({ code: 'worker_unusable', started: 'never' })
      expect(hasReport(h)).toBe(false)
    })

    test('WK-06 an exit in the handshake is told with its last line, sanitized', async () => {
      await using h = harness('die-handshake')
      const error = await failure(h.open())
      expect(error).toMatchObject({ code: 'agent_exited_early', started: 'ended' })
      expect(error.message).toContain('cannot go on, ask [email]')
      expect(error.message).not.toContain('first line')
    })

    test('WK-07 a handshake that hangs is given up, and nothing of it remains', async () => {
      await using h = harness('hang-handshake', { change: (cfg) => ({ ...cfg, limits: { handshakeMs: 300 } }) })
      expect(await failure(h.open())).toMatchObject({ code: 'handshake_timeout', started: 'ended' })
      const [identity] = h.started
      expect(identity === undefined ? null : await h.table.members(identity)).toEqual([])
    })

    test('WK-08 its owner records it before its first byte, and a record that fails ends the start', async () => {
      let wireAtStart: number | null = null
      await using h = harness('ok', {
        change: (cfg) => ({
          ...cfg,
          async onStarted(process) {
            await until('the fake reports', () => hasReport(h))
            await clock.sleep(50)
            wireAtStart = h.report().wire.length
            await cfg.onStarted(process)
          },
        }),
      })
      await h.open()
      expect(wireAtStart).toBe(0)
      expect(h.started).toHaveLength(1)
      await using broken = harness('ok', {
        change: (cfg) => ({ ...cfg, onStarted: () => Promise.reject(new Error('the ledger is full')) }),
      })
      expect(await failure(broken.open())).toMatchObject({ code: 'handshake_failed', started: 'ended' })
      expect(broken.workers.list()).toEqual([])
    })

    test('WK-09 its MCP bridge gets the token in the handshake, and the session opens', async () => {
      await using h = harness('handshake-needs-token')
      await using bridge = await bridgeFor(h)
      const session = await h.workers.open(fixture.name, bridge.cfg, {}, new AbortController().signal)
      expect(bridge.handoffs).toEqual(['delivered'])
      expect(bridge.token.taker?.pid).toBe(h.report().children[0])
      expect(await session.close(QUICK)).toMatchObject({ kind: 'gone' })
      expect(bridge.handoffs).toEqual(['delivered', 'closed'])
      expect(await isAlive(h.table, h.report().children[0] ?? 0)).toBe(false)
      expect(readdirSync(h.cfg.privateDir)).toEqual([])
    })

    test('WK-10 a mode that is not confirmed is unsafe', async () => {
      await using h = harness('badmode', { change: (cfg) => ({ ...cfg, limits: { modeConfirmMs: 500 } }) })
      const error = await failure(h.open().then((session) => session.prompt(prompt('hello'))))
      expect(error).toMatchObject({ code: 'unsafe_mode' })
      expect(wireOf(h, fixture.isPrompt)).toHaveLength(fixture.modeProof === 'before_prompt' ? 0 : 1)
      await until('the worker is gone', async () => !(await isAlive(h.table, h.report().pid)))
    })

    test('WK-11 a mode that is left in a turn is unsafe, and no allow is sent after it', async () => {
      const decision = Promise.withResolvers<typeof allow>()
      await using h = harness('mode-leaves', { decide: () => decision.promise })
      const session = await h.open()
      expect(await failure(session.prompt(prompt('hello')))).toMatchObject({ code: 'unsafe_mode' })
      decision.resolve(allow)
      expect(await session.close()).toMatchObject({ kind: 'gone' })
      expect(wireOf(h, fixture.isAllow)).toEqual([])
    })

    test('WK-12 words of the conversation reach the content alone', async () => {
      await using h = harness('marker-words')
      const session = await h.open()
      const result = await session.prompt(prompt('hello'))
      await session.close(QUICK)
      const updates: unknown[] = []
      for await (const update of session.updates()) updates.push(update)
      expect(updates.length).toBeGreaterThan(2)
      expect(JSON.stringify([updates, result, h.refusals, h.log.entries])).not.toContain(MARKER)
      expect(JSON.stringify(h.content)).toContain(`${MARKER} said`)
      expect(JSON.stringify(h.requests)).toContain(`${MARKER} input`)
    })

    test('WK-13 a refusal is recorded once, before its answer', async () => {
      await using h = harness('refuse-one')
      let answersThen: number | null = null
      h.onRefusal = () => (answersThen = wireOf(h, fixture.isAnswer).length)
      const session = await h.open()
      const result = await session.prompt(prompt('hello'))
      expect(answersThen).toBe(0)
      expect(wireOf(h, fixture.isAnswer)).toHaveLength(1)
      expect(h.refusals).toHaveLength(1)
      expect(result.refusals).toMatchObject([{ toolCallId: h.requests[0]?.toolCallId, by: 'person' }])
      await session.close(QUICK)
      const permissions: unknown[] = []
      for await (const update of session.updates()) if (update.kind === 'permission') permissions.push(update)
      expect(permissions).toMatchObject([{ allowed: false, by: 'person' }])
      expect(h.told).toEqual([[h.requests[0]?.requestId, 'sent']])
    })

    test('WK-14 a refusal survives an agent that dies of it', async () => {
      await using h = harness('refuse-then-die')
      const session = await h.open()
      expect(await failure(session.prompt(prompt('hello')))).toMatchObject({ code: 'worker_failed' })
      expect(h.refusals).toHaveLength(1)
    })

    test('WK-15 what is asked beyond the bound is refused undecided', async () => {
      const decisions = Promise.withResolvers<typeof refuse>()
      await using h = harness('ask-many', {
        env: { FAKE_COUNT: '33' },
        decide: () => decisions.promise,
      })
      const session = await h.open()
      const turn = session.prompt(prompt('hello'))
      await until('as many wait as may, and one is refused', () => h.requests.length >= 32 && h.refusals.length > 0)
      expect(h.requests).toHaveLength(32)
      expect(h.refusals).toMatchObject([{ by: 'bounds' }])
      decisions.resolve(refuse)
      const { refusals } = await turn
      expect(refusals).toHaveLength(33)
    })

    test('WK-16 a cancel ends the turn and leaves the worker; idle, it writes nothing', async () => {
      await using h = harness('hang-turn')
      const session = await h.open()
      const turn = session.prompt(prompt('hello'))
      expect(await session.cancel()).toBe('sent')
      expect(await turn).toMatchObject({ stop: 'cancelled' })
      const order = h.report().wire.filter((line) => fixture.isPrompt(line) || fixture.isCancel(line))
      expect(order.map((line) => fixture.isCancel(line))).toEqual([false, true])
      const before = h.report().wire.length
      expect(await session.cancel()).toBe('no_turn')
      expect(h.report().wire).toHaveLength(before)
      expect(await isAlive(h.table, session.process.pid)).toBe(true)
    })

    test("WK-17 an agent's own cancel is no cancel of ours", async () => {
      await using h = harness('agent-cancels')
      const session = await h.open()
      expect(await failure(session.prompt(prompt('hello')))).toMatchObject({ code: 'turn_interrupted' })
      await using denied = harness('deny-then-cancel')
      const other = await denied.open()
      expect(await other.prompt(prompt('hello'))).toMatchObject({ stop: 'ended_by_denial' })
    })

    test('WK-18 a cancel takes back what is being asked', async () => {
      const aborted = Promise.withResolvers<void>()
      await using h = harness('ask-and-wait', {
        decide: (_request, signal) => {
          signal.addEventListener('abort', () => aborted.resolve())
          return new Promise(() => undefined)
        },
      })
      const session = await h.open()
      const turn = session.prompt(prompt('hello'))
      await until('it asks', () => h.requests.length === 1)
      await session.cancel()
      await aborted.promise
      expect(await turn).toMatchObject({ stop: 'cancelled', refusals: [{ by: 'cancelled' }] })
      expect(wireOf(h, fixture.isAllow)).toEqual([])
    })

    test('WK-19 giving up the wait leaves the turn', async () => {
      await using h = harness('slow-turn')
      const session = await h.open()
      const leave = new AbortController()
      const turn = failure(session.prompt(prompt('hello'), leave.signal))
      leave.abort()
      expect(await turn).toMatchObject({ code: 'aborted' })
      expect(await failure(session.prompt(prompt('too early')))).toMatchObject({ code: 'turn_in_flight' })
      h.openGate()
      let next: unknown = null
      await until('the next prompt works', async () => {
        next = await session.prompt(prompt('again')).catch(() => null)
        return next !== null
      })
      expect(next).toMatchObject({ stop: 'end_turn' })
    })

    test('WK-20 a flood without a reader ends, and says what was dropped', async () => {
      await using h = harness('flood')
      const session = await h.open()
      expect(await session.prompt(prompt('hello'))).toMatchObject({ stop: 'end_turn' })
      expect(session.diagnostics().droppedUpdates).toBeGreaterThanOrEqual(9_700)
      await session.close(QUICK)
      const sequence: number[] = []
      for await (const update of session.updates()) sequence.push(update.seq)
      expect(sequence.length).toBeLessThanOrEqual(256)
      expect(sequence.at(-1)).toBeLessThanOrEqual(300)
    })

    test.each([
      ['exit-3', 'worker_failed'],
      ['exit-143', 'worker_lost'],
      ['exit-0', 'worker_lost'],
    ])('WK-21 %s in a turn is %s', async (scenario, code) => {
      await using h = harness(scenario)
      const session = await h.open()
      expect(await failure(session.prompt(prompt('hello')))).toMatchObject({ code })
      await until('its slot is free', () => h.workers.list().length === 0)
    })

    test('WK-21 killed in a turn it is lost', async () => {
      await using h = harness('hang-turn')
      const session = await h.open()
      const turn = failure(session.prompt(prompt('hello')))
      // Before it has proven its mode it would be unverified.
      await until('it works', () => h.content.some((item) => item.kind === 'text' && item.turn === 1))
      process.kill(session.process.pid, 'SIGKILL')
      expect(await turn).toMatchObject({ code: 'worker_lost' })
      expect(await session.exited).toMatchObject({ signal: 'SIGKILL', requested: false })
    })

    test('WK-22 who ignores the end of input and SIGTERM is killed', async () => {
      await using h = harness('ignore-term')
      const session = await h.open()
      expect(await session.close({ closeStdinMs: 200, termGraceMs: 200 })).toEqual({
        kind: 'gone',
        strongest: 'kill',
        strays: [],
      })
    })

    test('WK-23 a child in the group goes with it, and a second close has the same answer', async () => {
      await using h = harness('grandchild')
      const session = await h.open()
      await session.prompt(prompt('hello'))
      const [child = 0] = h.report().children
      expect(await isAlive(h.table, child)).toBe(true)
      const [first, second] = await Promise.all([session.close(QUICK), session.close()])
      expect(second).toBe(first)
      expect(first).toMatchObject({ kind: 'gone' })
      expect(await isAlive(h.table, child)).toBe(false)
    })

    test('WK-24 a deaf child in a session of its own, holding the output, is ended by its own identity', async () => {
      await using h = harness('setsid-holds-stdout')
      const session = await h.open()
      await session.prompt(prompt('hello'))
      const [child = 0] = h.report().children
      const outcome = await session.close({ closeStdinMs: 500, termGraceMs: 500 })
      expect(outcome).toEqual({ kind: 'gone', strongest: 'kill', strays: [] })
      expect(await isAlive(h.table, child)).toBe(false)
    })

    test('WK-25 no secret leaves with an error, an update or the log', async () => {
      const secret = 'sk-secret-value-0123456789'
      await using h = harness('secrets', {
        env: { FAKE_SECRET: secret },
        change: (cfg) => ({ ...cfg, redaction: { ...cfg.redaction, secrets: [createSecret(secret)] } }),
      })
      const session = await h.open()
      const thrown = await session.prompt(prompt('hello')).then(
        () => null,
        (error: unknown) => error,
      )
      expect(thrown).toMatchObject({ code: 'turn_failed' })
      await session.close(QUICK)
      const shown = [
        inspect(thrown, { depth: 9 }),
        JSON.stringify([thrown, session.diagnostics(), h.content, h.log.entries]),
      ]
      expect(shown.join('\n')).not.toContain(secret)
      expect(session.diagnostics().stderr.join('\n')).toContain('for [email]')
    })

    test('WK-26 a known conversation is reopened in silence; others are refused', async () => {
      await using h = harness('ok')
      const session = await h.open(fixture.known)
      expect(session.facts.loaded).toBe(true)
      expect(h.content.every((item) => item.turn === 0)).toBe(true)
      await session.close(QUICK)
      const updates: unknown[] = []
      for await (const update of session.updates()) updates.push(update)
      expect(updates).toEqual([])
      await using unknown = harness('ok')
      expect(await failure(unknown.open(`${fixture.known.slice(0, -1)}9`))).toMatchObject({
        code: 'agent_session_not_found',
        started: 'ended',
      })
      await using malformed = harness('ok')
      expect(await failure(malformed.open(fixture.malformed))).toMatchObject({
        code: 'worker_unusable',
        started: 'never',
      })
    })
  })
}

/** What this test process hands to every child, whoever starts it. */
async function descriptorsOfAnyChild(): Promise<ReadonlySet<string>> {
  const child = spawn('/bin/sh', ['-c', '(ls /proc/$$/fd); true'], { stdio: ['ignore', 'pipe', 'ignore'] })
  let listed = ''
  child.stdout.on('data', (chunk: Buffer) => (listed += chunk.toString()))
  await new Promise((resolve) => child.once('close', resolve))
  return new Set(listed.split('\n').filter((number) => Number(number) > 2))
}
