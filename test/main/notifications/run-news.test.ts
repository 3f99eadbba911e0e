import { describe, expect, test } from 'vitest'
import { createAnnouncer } from '../../../src/main/notifications/announcer.ts'
import { isQuietTime } from '../../../src/main/notifications/quiet.ts'
import { createRunNews } from '../../../src/main/notifications/run-news.ts'
import type { SessionView } from '../../../src/shared/bridge/index.ts'
import { createFakeClock } from '../../support/clock.ts'
import { aSession, createFakeBridge, createFakeNotifications } from './support.ts'

const ended = (runId: string, state: NonNullable<SessionView['lastRun']>['state']): Partial<SessionView> => ({
  lastRun: { runId, state, finishedAt: 5, errorCode: null },
})

function setUp(isQuiet = false) {
  const clock = createFakeClock()
  const bridge = createFakeBridge()
  const port = createFakeNotifications()
  const announcer = createAnnouncer({ clock, port, openSummary: () => {} })
  const opened: unknown[] = []
  createRunNews({
    bridge,
    announcer,
    isQuiet: () => isQuiet,
    redact: (text) => text,
    open: (place) => opened.push(place),
  })
  bridge.tell('sessions', { kind: 'snapshot', sessions: [aSession(1, ended('old', 'completed'))] })
  const change = (more: Partial<SessionView>): void =>
    bridge.tell('sessions', { kind: 'changed', session: aSession(1, more) })
  return { port, opened, change }
}

describe('news of runs', () => {
  test.each([
    ['completed', 'Finished'],
    ['failed', 'Failed'],
    ['timed_out', 'Ran out of time'],
    ['incomplete', 'Ended before it was done'],
  ] as const)('a run that %s is told once, and a click opens its session', (state, body) => {
    const { port, opened, change } = setUp()
    change(ended('new', state))
    change(ended('new', state))
    expect(port.history).toMatchObject([{ title: 'Session 1', body, buttons: [] }])
    port.standing[0]?.events.clicked()
    expect(opened).toEqual([{ kind: 'session', sessionId: aSession(1).id }])
  })

  test('what ended before, or was cancelled, is no news', () => {
    const { port, change } = setUp()
    change(ended('old', 'completed'))
    change(ended('new', 'cancelled'))
    expect(port.history).toEqual([])
  })

  test('an agent that could not be ended leads to the health view', () => {
    const { port, opened, change } = setUp()
    change({ ...ended('old', 'completed'), state: 'held' })
    port.standing[0]?.events.clicked()
    expect(opened).toEqual([{ kind: 'health' }])
  })

  test('nothing is told while somebody looks', () => {
    const { port, change } = setUp(true)
    change(ended('new', 'completed'))
    expect(port.history).toEqual([])
  })

  test('the card goes when the next run begins', () => {
    const { port, change } = setUp()
    change(ended('new', 'completed'))
    change({ ...ended('new', 'completed'), activeRun: { runId: 'r', state: 'running', startedAt: 1, createdAt: 1 } })
    expect(port.standing).toEqual([])
  })
})

describe('quiet hours', () => {
  const at = (hours: number, minutes = 0): number => new Date(2026, 0, 5, hours, minutes).getTime()
  const overnight = { notifications: true, doNotDisturb: { from: '22:00', to: '07:30' } }
  test.each([
    [at(23), true],
    [at(3), true],
    [at(7, 29), true],
    [at(7, 30), false],
    [at(21, 59), false],
    [at(22), true],
  ])('over midnight: %i', (nowMs, quiet) => {
    expect(isQuietTime(overnight, nowMs)).toBe(quiet)
  })

  test('end where they end on the same day', () => {
    const lunch = { notifications: true, doNotDisturb: { from: '12:00', to: '13:00' } }
    expect([at(11, 59), at(12), at(13)].map((nowMs) => isQuietTime(lunch, nowMs))).toEqual([false, true, false])
  })

  test('are always, once notifications are switched off', () => {
    expect(isQuietTime({ notifications: false, doNotDisturb: null }, at(12))).toBe(true)
  })
})
