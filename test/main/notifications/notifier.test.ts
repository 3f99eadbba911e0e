import { describe, expect, test } from 'vitest'
import { createAnnouncer, WINDOW_MS } from '../../../src/main/notifications/announcer.ts'
import { createNotifier, SETTLE_MS } from '../../../src/main/notifications/notifier.ts'
import { AppError } from '../../../src/shared/errors.ts'
import type { DecisionView } from '../../../src/shared/bridge/index.ts'
import { createFakeClock } from '../../support/clock.ts'
import { aDecision, createFakeBridge, createFakeNotifications, settled } from './support.ts'

function setUp(options: { isQuiet?: (decision: DecisionView) => boolean } = {}) {
  const clock = createFakeClock()
  const bridge = createFakeBridge()
  const port = createFakeNotifications()
  const opened: string[] = []
  const announcer = createAnnouncer({ clock, port, openSummary: () => opened.push('approvals') })
  const notifier = createNotifier({
    clock,
    bridge,
    announcer,
    isQuiet: options.isQuiet ?? (() => false),
    redact: (text) => text.replaceAll('hunter2', '[secret]'),
    open: (decisionId) => opened.push(decisionId),
  })
  bridge.tell('decisions', { kind: 'snapshot', decisions: [] })
  const ask = (decision: DecisionView): void => bridge.tell('decisions', { kind: 'requested', decision })
  const settle = (decision: DecisionView): void =>
    bridge.tell('decisions', { kind: 'settled', decision: settled(decision) })
  const bodies = (): string[] => port.standing.map(({ card }) => card.body)
  return { clock, bridge, port, opened, announcer, notifier, ask, settle, bodies }
}

describe('a decision that waits', () => {
  test('becomes one notification after 400 ms, and not before', async () => {
    const { clock, ask, bodies } = setUp()
    ask(aDecision(1))
    await clock.advance(SETTLE_MS - 1)
    expect(bodies()).toEqual([])
    await clock.advance(1)
    expect(bodies()).toEqual(['npm test 1'])
  })

  test('is never told of when it is settled within 400 ms', async () => {
    const { clock, ask, settle, port } = setUp()
    const decision = aDecision(1)
    ask(decision)
    await clock.advance(SETTLE_MS / 2)
    settle(decision)
    await clock.advance(10_000)
    expect(port.history).toEqual([])
  })

  test('is told of when it waited before the notifier came', async () => {
    const { clock, bridge, bodies } = setUp()
    bridge.tell('decisions', { kind: 'snapshot', decisions: [aDecision(1)] })
    await clock.advance(SETTLE_MS)
    expect(bodies()).toEqual(['npm test 1'])
  })

  test('takes its notification away when it is settled, whoever settled it', async () => {
    const { clock, ask, settle, bodies } = setUp()
    const decision = aDecision(1)
    ask(decision)
    await clock.advance(SETTLE_MS)
    settle(decision)
    expect(bodies()).toEqual([])
  })

  test('takes its notification away when a new snapshot no longer holds it', async () => {
    const { clock, bridge, ask, bodies } = setUp()
    ask(aDecision(1))
    await clock.advance(SETTLE_MS)
    bridge.tell('decisions', { kind: 'snapshot', decisions: [] })
    expect(bodies()).toEqual([])
  })

  test('replaces an older one of its session, which comes back when the newer is settled', async () => {
    const { clock, ask, settle, bodies } = setUp()
    const older = aDecision(1)
    const newer = aDecision(2, { sessionId: older.sessionId })
    ask(older)
    await clock.advance(SETTLE_MS)
    ask(newer)
    await clock.advance(SETTLE_MS)
    expect(bodies()).toEqual(['npm test 2'])
    settle(newer)
    expect(bodies()).toEqual(['npm test 1'])
  })

  test('stays away once the person put it away', async () => {
    const { clock, ask, port, bridge } = setUp()
    const decision = aDecision(1)
    ask(decision)
    await clock.advance(SETTLE_MS)
    port.standing.pop()?.events.dismissed()
    bridge.tell('decisions', { kind: 'snapshot', decisions: [decision] })
    await clock.advance(SETTLE_MS)
    expect(port.standing).toEqual([])
  })

  test('is not told of at a quiet time, nor afterwards', async () => {
    let quiet = true
    const { clock, ask, port } = setUp({ isQuiet: () => quiet })
    ask(aDecision(1))
    await clock.advance(SETTLE_MS)
    quiet = false
    await clock.advance(60_000)
    expect(port.history).toEqual([])
  })
})

describe('the number of notifications', () => {
  test('DT-A04 five sessions that ask become five notifications, and each click opens exactly its decision', async () => {
    const { clock, ask, port, opened } = setUp()
    const decisions = [1, 2, 3, 4, 5].map((n) => aDecision(n))
    for (const decision of decisions) ask(decision)
    await clock.advance(SETTLE_MS)
    for (const { events } of port.standing) events.clicked()
    expect(opened).toEqual(decisions.map(({ decisionId }) => decisionId))
  })

  test('is six in any minute: the rest become one summary that opens all approvals', async () => {
    const { clock, ask, port, opened, bodies } = setUp()
    for (let n = 1; n <= 10; n++) ask(aDecision(n))
    await clock.advance(SETTLE_MS)
    expect(port.history).toHaveLength(6)
    await clock.advance(WINDOW_MS)
    expect(port.history).toHaveLength(7)
    expect(bodies().at(-1)).toBe('4 more wait for you')
    port.standing.at(-1)?.events.clicked()
    expect(opened).toEqual(['approvals'])
  })

  test('takes the summary away when all that it counted is settled', async () => {
    const { clock, ask, settle, port } = setUp()
    const decisions = Array.from({ length: 8 }, (_, at) => aDecision(at + 1))
    for (const decision of decisions) ask(decision)
    await clock.advance(SETTLE_MS + WINDOW_MS)
    expect(port.standing).toHaveLength(7)
    for (const decision of decisions) settle(decision)
    expect(port.standing).toEqual([])
  })

  test('leaves a single one that had to wait its own card', async () => {
    const { clock, ask, bodies } = setUp()
    for (let n = 1; n <= 7; n++) ask(aDecision(n))
    await clock.advance(SETTLE_MS + WINDOW_MS)
    expect(bodies().at(-1)).toBe('npm test 7')
  })
})

describe('the buttons', () => {
  test('DT-A05 Allow once and Deny answer the decision', async () => {
    const { clock, bridge, ask, port } = setUp()
    const [first, second] = [aDecision(1), aDecision(2)]
    ask(first)
    ask(second)
    await clock.advance(SETTLE_MS)
    expect(port.standing[0]?.card.buttons).toEqual(['Allow once', 'Deny'])
    port.standing[0]?.events.pressed(0)
    port.standing[1]?.events.pressed(1)
    expect(bridge.resolved).toEqual([
      { decisionId: first.decisionId, answer: { option: 'allow_once' } },
      { decisionId: second.decisionId, answer: { option: 'reject_once' } },
    ])
  })

  test('DT-A05 a button on a settled decision says so and does nothing', async () => {
    const { clock, bridge, ask, port, bodies } = setUp()
    ask(aDecision(1))
    await clock.advance(SETTLE_MS)
    bridge.outcome = {
      kind: 'already_resolved',
      answer: { option: 'reject_once' },
      by: { via: 'cli', connection: null },
      atMs: 5,
    }
    port.standing[0]?.events.pressed(0)
    await clock.advance(0)
    expect(bodies().at(-1)).toBe('Denied before, in a terminal.')
    expect(bridge.resolved).toHaveLength(1)
  })

  test('an answer that could not be given is told with its reason', async () => {
    const { clock, bridge, ask, port, bodies } = setUp()
    ask(aDecision(1))
    await clock.advance(SETTLE_MS)
    bridge.outcome = new AppError('host_stopping', 'Wheelhouse is closing.')
    port.standing[0]?.events.pressed(0)
    await clock.advance(0)
    expect(bodies().at(-1)).toBe('Wheelhouse is closing.')
  })

  test.each([
    ['of high risk', { risk: 'high' as const }],
    ['of unknown risk', { risk: null }],
    ['that was cut', { complete: false }],
    ['that is a question', { kind: 'question' as const }],
    ['whose policy offers no single allow', { options: ['reject_once' as const] }],
  ])('are not on a decision %s', async (_what, more) => {
    const { clock, ask, port } = setUp()
    ask(aDecision(1, more))
    await clock.advance(SETTLE_MS)
    expect(port.standing[0]?.card.buttons).toEqual([])
  })
})

describe('what leaves for the system', () => {
  test('holds no registered secret, also where it would be cut in two', async () => {
    const { clock, ask, bodies } = setUp()
    const command = `echo ${'x'.repeat(110)} hunter2`
    ask(aDecision(1, { action: { kind: 'command', command, cwd: '/work', wrapper: null } }))
    await clock.advance(SETTLE_MS)
    expect(bodies()[0]).not.toContain('hun')
  })

  test('ends with the notifier', async () => {
    const { clock, bridge, ask, notifier, port } = setUp()
    ask(aDecision(1))
    await clock.advance(SETTLE_MS)
    ask(aDecision(2))
    notifier[Symbol.dispose]()
    await clock.advance(SETTLE_MS)
    expect(port.standing).toEqual([])
    expect(bridge.subscribers()).toBe(0)
    expect(clock.pending()).toBe(0)
  })
})
