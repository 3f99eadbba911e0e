import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createBreakers, faultOf, outcomeOf } from '../../../src/main/providers/breaker/index.ts'
import {
  CLOSED,
  ended,
  FIRST_OPEN_MS,
  gate,
  LONGEST_OPEN_MS,
  probing,
} from '../../../src/main/providers/breaker/breaker.ts'
import type { AttemptOutcome, Breaker } from '../../../src/main/providers/breaker/breaker.ts'
import { createFakeClock } from '../../support/clock.ts'
import { createMemoryLog } from '../../support/log.ts'

const over = (breaker: Breaker, outcome: AttemptOutcome, nowMs: number, probe = false): Breaker =>
  ended(breaker, outcome, { beganMs: nowMs, nowMs, probe })

describe('a circuit breaker', () => {
  test('opens at five failures in a row, not at four with an answer between', () => {
    let breaker = CLOSED
    for (const outcome of ['failed', 'failed', 'failed', 'failed', 'answered', 'failed'] as const) {
      breaker = over(breaker, outcome, 0)
    }
    expect(breaker.state).toBe('closed')
    for (let n = 0; n < 4; n++) breaker = over(breaker, 'failed', 1)
    expect(breaker).toMatchObject({ state: 'open', untilMs: 1 + FIRST_OPEN_MS })
  })

  test('opens where half of ten in a minute failed, and forgets what is older', () => {
    const turns = (from: number, count: number, breaker: Breaker): Breaker =>
      Array.from({ length: count }, (_, n) => (n % 2 === 0 ? 'answered' : 'failed') as AttemptOutcome).reduce(
        (state, outcome, n) => over(state, outcome, from + n),
        breaker,
      )
    expect(turns(0, 8, CLOSED).state).toBe('closed')
    expect(turns(0, 10, CLOSED).state).toBe('open')
    expect(turns(61_000, 8, turns(0, 8, CLOSED)).state).toBe('closed')
  })

  test('lets one probe through after its time; a failed one doubles it up to five minutes, an answered one closes it', () => {
    let breaker = Array.from({ length: 5 }).reduce<Breaker>((state) => over(state, 'failed', 0), CLOSED)
    const times: number[] = []
    for (let n = 0; n < 6; n++) {
      times.push(breaker.openMs)
      expect(gate(breaker, breaker.untilMs - 1)).toBe('skip')
      expect(gate(breaker, breaker.untilMs)).toBe('probe')
      const tried = probing(breaker)
      expect(gate(tried, breaker.untilMs + 1)).toBe('skip')
      breaker = over(tried, 'failed', breaker.untilMs, true)
    }
    expect(times).toEqual([30_000, 60_000, 120_000, 240_000, 300_000, 300_000])
    expect(over(probing(breaker), 'answered', breaker.untilMs, true)).toBe(CLOSED)
  })

  test('a probe that says nothing leaves the place to the next one', () => {
    const open = Array.from({ length: 5 }).reduce<Breaker>((state) => over(state, 'failed', 0), CLOSED)
    const after = over(probing(open), 'neither', 40_000, true)
    expect([after.state, gate(after, 40_000), after.openMs]).toEqual(['open', 'probe', FIRST_OPEN_MS])
  })

  test('what began before it opened is no news; without a rule an answer closes it', () => {
    const open = Array.from({ length: 5 }).reduce<Breaker>((state) => over(state, 'failed', 100), CLOSED)
    expect(ended(open, 'answered', { beganMs: 50, nowMs: 200, probe: false })).toBe(open)
    expect(over(open, 'answered', 200)).toBe(CLOSED)
    expect(over(open, 'failed', 200)).toBe(open)
    expect(over(open, 'failed', open.untilMs)).toMatchObject({ state: 'open', openMs: 2 * FIRST_OPEN_MS })
  })

  test('whatever happens in whatever order, it is open within bounds, one probe is out at most, and an answer closes it', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 400_000 }) }),
      fc.record({ kind: fc.constant('begin' as const), guarded: fc.boolean() }),
      fc.record({
        kind: fc.constant('end' as const),
        which: fc.nat(20),
        outcome: fc.constantFrom<AttemptOutcome>('answered', 'failed', 'failed', 'neither'),
      }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        let breaker = CLOSED
        let nowMs = 0
        const running: { beganMs: number; probe: boolean }[] = []
        for (const each of steps) {
          if (each.kind === 'wait') nowMs += each.ms
          else if (each.kind === 'begin') {
            const verdict = each.guarded ? gate(breaker, nowMs) : 'pass'
            if (breaker.state === 'closed') expect(verdict).toBe('pass')
            if (each.guarded && breaker.state === 'open' && nowMs < breaker.untilMs) expect(verdict).toBe('skip')
            if (verdict === 'probe') breaker = probing(breaker)
            if (verdict !== 'skip') running.push({ beganMs: nowMs, probe: verdict === 'probe' })
          } else {
            const [attempt] = running.splice(each.which % Math.max(1, running.length), 1)
            if (attempt === undefined) continue
            const before = breaker
            breaker = ended(breaker, each.outcome, { ...attempt, nowMs })
            if (each.outcome === 'answered' && attempt.beganMs >= before.openedAtMs) {
              // Half of a minute's requests may have failed all the same, but an answer never opens anything.
              expect(breaker.state).toBe('closed')
            }
          }
          if (breaker.state !== 'closed') {
            expect(breaker.openMs).toBeGreaterThanOrEqual(FIRST_OPEN_MS)
            expect(breaker.openMs).toBeLessThanOrEqual(LONGEST_OPEN_MS)
          }
          if (breaker.state === 'probing') {
            const probes = running.filter(({ probe, beganMs }) => probe && beganMs >= breaker.openedAtMs)
            expect(probes).toHaveLength(1)
          }
        }
      }),
    )
  })
})

describe('the breakers of all connections', () => {
  test('run on the monotonic clock: a wall clock that jumps moves nothing', async () => {
    const clock = createFakeClock()
    const changes: string[] = []
    const breakers = createBreakers({ clock, log: createMemoryLog(), onChange: () => changes.push('moved') })
    for (let n = 0; n < 5; n++) breakers.begin('a', true)?.end('failed')
    expect(changes).toHaveLength(1)
    expect(breakers.view('a')).toEqual({ state: 'open', untilMs: clock.nowMs() + 30_000 })
    clock.jumpWall(-3_600_000)
    expect(breakers.begin('a', true)).toBeNull()
    expect(breakers.waitMs(['a'])).toBe(30_000)
    expect(breakers.waitMs(['a', 'b'])).toBe(0)
    await clock.advance(30_000)
    const probe = breakers.begin('a', true)
    expect([probe === null, breakers.begin('a', true)]).toEqual([false, null])
    probe?.end('answered')
    // Its first word counts.
    probe?.end('failed')
    expect([breakers.view('a'), breakers.view('b')]).toEqual([null, null])
  })

  test('an edit of the connection forgets what was learnt of it', () => {
    const breakers = createBreakers({ clock: createFakeClock(), log: createMemoryLog(), onChange: () => undefined })
    for (let n = 0; n < 5; n++) breakers.begin('a', false)?.end('failed')
    breakers.forget('a')
    expect(breakers.view('a')).toBeNull()
  })
})

describe('what an ended request says of its Provider', () => {
  const ENDED = { origin: 'upstream', status: 200, code: null, streamError: null, end: 'completed' } as const

  test('failures are transport, 5xx, a stream without its end and a server’s error in it; nothing else is', () => {
    const outcomes = [
      { ...ENDED, origin: 'router', status: 502, code: 'upstream_unreachable' },
      { ...ENDED, origin: 'router', status: 504, code: 'upstream_timeout' },
      { ...ENDED, status: 503, end: 'failed' },
      { ...ENDED, code: 'upstream_disconnected', end: 'upstream_disconnected' },
      { ...ENDED, streamError: 'overloaded_error', end: 'failed' },
      { ...ENDED, streamError: 'server_error', end: 'failed' },
    ] as const
    expect(outcomes.map(outcomeOf)).toEqual(outcomes.map(() => 'failed'))
    expect([ENDED, { ...ENDED, status: 404 }, { ...ENDED, status: 429 }].map(outcomeOf)).toEqual(
      Array.from({ length: 3 }, () => 'answered'),
    )
    expect(outcomeOf({ ...ENDED, streamError: 'rate_limit_error', end: 'failed' })).toBe('answered')
    expect(outcomeOf({ ...ENDED, end: 'client_aborted' })).toBe('neither')
    expect(outcomeOf({ ...ENDED, origin: 'router', status: 400, code: 'request_body_malformed' })).toBe('neither')
  })

  test('an error event names whose fault it is', () => {
    const words = ['api_error', 'error', 'invalid_request_error', 'authentication_error', 'rate_limit_exceeded']
    expect(words.map(faultOf)).toEqual(['server', 'server', 'request', 'request', 'too_many'])
  })
})
