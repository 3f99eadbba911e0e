import type { Bridge } from '../../../src/shared/bridge/client.ts'
import { DecisionOutcome, DecisionView, SessionView } from '../../../src/shared/bridge/index.ts'
import type { TopicEvent, TopicName } from '../../../src/shared/bridge/index.ts'
import type { AppError } from '../../../src/shared/errors.ts'
import type { Card, CardEvents, NotificationPort } from '../../../src/main/notifications/index.ts'

/** A host that answers decisions as it is told to, and tells topics what the test wants. */
export interface FakeBridge extends Bridge {
  tell<N extends TopicName>(name: N, event: TopicEvent<N>): void
  /** What `decisions.resolve` was called with. */
  readonly resolved: { decisionId: string; answer: unknown }[]
  outcome: DecisionOutcome | AppError
  subscribers(): number
}

export function createFakeBridge(): FakeBridge {
  const observers = new Map<string, Set<(event: unknown) => void>>()
  const resolved: { decisionId: string; answer: unknown }[] = []
  const bridge: FakeBridge = {
    resolved,
    outcome: { kind: 'resolved' },
    tell(name, event) {
      for (const observer of observers.get(name) ?? []) observer(event)
    },
    subscribers: () => [...observers.values()].reduce((sum, each) => sum + each.size, 0),
    call(name, input) {
      if (name !== 'decisions.resolve') return Promise.reject(new Error(`not expected: ${name}`))
      resolved.push(input as { decisionId: string; answer: unknown })
      const { outcome } = bridge
      // The one procedure that is called here.
      return outcome instanceof Error
        ? Promise.reject(outcome)
        : Promise.resolve(DecisionOutcome.parse(outcome) as never)
    },
    subscribe(name, _filter, observer) {
      const each = (event: unknown): void => observer.event(event as never)
      observers.set(name, (observers.get(name) ?? new Set()).add(each))
      return () => void observers.get(name)?.delete(each)
    },
    status: () => ({ kind: 'connecting' }),
    onStatus: () => () => {},
    close: () => {},
  }
  return bridge
}

export interface FakeNotifications extends NotificationPort {
  /** Those that stand, oldest first. */
  readonly standing: { card: Card; events: CardEvents }[]
  /** Every card ever shown. */
  readonly history: Card[]
}

export function createFakeNotifications(): FakeNotifications {
  const standing: { card: Card; events: CardEvents }[] = []
  const history: Card[] = []
  return {
    standing,
    history,
    isAvailable: () => true,
    show(card, events) {
      const entry = { card, events }
      const earlier = standing.findIndex(({ card: { tag } }) => tag === card.tag)
      if (earlier >= 0) standing.splice(earlier, 1)
      standing.push(entry)
      history.push(card)
      return () => {
        const at = standing.indexOf(entry)
        if (at >= 0) standing.splice(at, 1)
      }
    },
    stop: () => void standing.splice(0),
  }
}

const uuid = (n: number): string => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`

/** The n-th decision, of a session of its own unless told otherwise. */
export function aDecision(n: number, more: Partial<DecisionView> = {}): DecisionView {
  return DecisionView.parse({
    decisionId: uuid(n),
    kind: 'approval',
    toolCallId: `call-${n}`,
    tool: 'bash',
    toolKind: 'execute',
    title: 'Run a command',
    action: { kind: 'command', command: `npm test ${n}`, cwd: '/work', wrapper: null },
    complete: true,
    risk: 'medium',
    riskReason: 'writes files',
    options: ['allow_once', 'reject_once'],
    paths: [],
    createdAt: 1_000 + n,
    expiresAt: null,
    status: 'pending',
    answer: null,
    by: null,
    settledAt: null,
    told: null,
    sessionId: uuid(1_000 + n),
    runId: uuid(2_000 + n),
    sessionTitle: `Session ${n}`,
    agentId: 'builtin',
    workDir: '/work',
    refusalReason: 'in_answer',
    ...more,
  })
}

export function aSession(n: number, more: Partial<SessionView> = {}): SessionView {
  return SessionView.parse({
    id: uuid(1_000 + n),
    title: `Session ${n}`,
    agentId: 'builtin',
    workDir: '/work',
    extraDirs: [],
    mode: 'agent',
    choice: { connectionId: null, modelId: null, effort: 'default' },
    choiceLabel: 'Rehearsal',
    rehearsal: true,
    configRev: 1,
    state: 'idle',
    activeRun: null,
    lastRun: null,
    pendingDecisions: 0,
    headSeq: 0,
    createdAt: 1,
    updatedAt: 1,
    archivedAt: null,
    ...more,
  })
}

export const settled = (decision: DecisionView): DecisionView => ({
  ...decision,
  status: 'resolved',
  answer: { option: 'allow_once' },
  by: { via: 'window', connection: null },
  settledAt: 2_000,
})
