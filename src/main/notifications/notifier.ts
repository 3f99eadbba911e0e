import { desktop } from '../../shared/strings/desktop.ts'
import type { Bridge } from '../../shared/bridge/client.ts'
import type { DecisionView } from '../../shared/bridge/index.ts'
import { AppError } from '../../shared/errors.ts'
import type { Clock } from '../platform/index.ts'
import type { Announcer } from './announcer.ts'
import { BODY_CHARS, decisionLine, decisionTitle, settledLine, shortened } from './text.ts'
import type { Card } from './types.ts'

/** What a rule or a person at the window answers by then never becomes a notification. */
export const SETTLE_MS = 400

export interface NotifierDeps {
  clock: Clock
  bridge: Bridge
  announcer: Announcer
  /** Not now: switched off, quiet hours, or the person looks at it already. */
  isQuiet(decision: DecisionView): boolean
  redact(text: string): string
  open(decisionId: string): void
}

interface Waiting {
  decision: DecisionView
  /** `due` may be shown; `done` was dismissed by the person or came at a quiet time. */
  stage: 'settling' | 'due' | 'done'
  timer: Disposable | null
}

/**
 * A client of the bridge like a window: what waits for an answer becomes a notification, at most one for each session, the
 * newest first. It goes as soon as the decision is settled, whoever settled it.
 */
export function createNotifier(deps: NotifierDeps): Disposable {
  const { clock, bridge, announcer } = deps
  const waiting = new Map<string, Waiting>()
  const shown = new Map<string, { decisionId: string; withdraw(): void }>()

  /** Puts the newest decision of the session that may be shown in the place of whatever stands there. */
  const reconcile = (sessionId: string): void => {
    const candidates = [...waiting.values()].filter(
      ({ decision, stage }) => decision.sessionId === sessionId && stage === 'due',
    )
    const next = candidates.at(-1)
    const current = shown.get(sessionId)
    if (current?.decisionId === next?.decision.decisionId) return
    shown.delete(sessionId)
    if (next !== undefined && !deps.isQuiet(next.decision)) return show(next)
    if (next !== undefined) next.stage = 'done'
    current?.withdraw()
  }

  const show = (entry: Waiting): void => {
    const { decision } = entry
    const put = { decisionId: decision.decisionId, withdraw: (): void => {} }
    shown.set(decision.sessionId, put)
    put.withdraw = announcer.announce({
      card: cardOf(decision, deps.redact),
      clicked: () => deps.open(decision.decisionId),
      pressed: (button) => void answer(decision, button),
      dismissed: () => {
        entry.stage = 'done'
        if (shown.get(decision.sessionId) === put) shown.delete(decision.sessionId)
      },
    })
  }

  const answer = async (decision: DecisionView, button: number): Promise<void> => {
    const option = BUTTONS[button]?.option
    if (option === undefined) return
    const { decisionId } = decision
    const say = (body: string): void => {
      const title = titleOf(decision, deps.redact)
      const text = shortened(deps.redact(body), BODY_CHARS)
      const card: Card = { tag: `answer:${decisionId}`, about: 'news', title, body: text, buttons: [] }
      announcer.announce({ card, clicked: () => deps.open(decisionId) })
    }
    try {
      const outcome = await bridge.call('decisions.resolve', { decisionId, answer: { option } })
      if (outcome.kind !== 'resolved') say(settledLine(outcome))
    } catch (error) {
      say(error instanceof AppError ? error.message : desktop.notifications.notAnswered)
    }
  }

  const add = (decision: DecisionView): void => {
    if (decision.status !== 'pending') return remove(decision.decisionId)
    const known = waiting.get(decision.decisionId)
    if (known !== undefined) {
      known.decision = decision
      return
    }
    const entry: Waiting = { decision, stage: 'settling', timer: null }
    waiting.set(decision.decisionId, entry)
    entry.timer = clock.after(SETTLE_MS, () => {
      entry.stage = 'due'
      reconcile(decision.sessionId)
    })
  }

  const remove = (decisionId: string): void => {
    const entry = waiting.get(decisionId)
    if (entry === undefined) return
    entry.timer?.[Symbol.dispose]()
    waiting.delete(decisionId)
    reconcile(entry.decision.sessionId)
  }

  const forget = bridge.subscribe(
    'decisions',
    {},
    {
      event(event) {
        if (event.kind === 'requested') return add(event.decision)
        if (event.kind === 'settled') return remove(event.decision.decisionId)
        const pending = new Set(event.decisions.map(({ decisionId }) => decisionId))
        for (const decisionId of waiting.keys()) if (!pending.has(decisionId)) remove(decisionId)
        for (const decision of event.decisions) add(decision)
      },
    },
  )

  return {
    [Symbol.dispose]() {
      forget()
      for (const { timer } of waiting.values()) timer?.[Symbol.dispose]()
      waiting.clear()
      for (const { withdraw } of shown.values()) withdraw()
      shown.clear()
    },
  }
}

const BUTTONS = [
  { label: desktop.notifications.allowOnce, option: 'allow_once' },
  { label: desktop.notifications.deny, option: 'reject_once' },
] as const

/** What is of high risk, or was cut, is answered where all of it can be read. */
function cardOf(decision: DecisionView, redact: (text: string) => string): Card {
  const { kind, risk, complete, options, sessionId } = decision
  const answerable = kind === 'approval' && complete && (risk === 'low' || risk === 'medium')
  const buttons = answerable && BUTTONS.every(({ option }) => options.includes(option)) ? BUTTONS : []
  return {
    tag: `decision:${sessionId}`,
    about: 'waiting',
    title: titleOf(decision, redact),
    // Redacted before it is cut, since half a secret is found by nobody.
    body: shortened(redact(decisionLine(decision)), BODY_CHARS),
    buttons: buttons.map(({ label }) => label),
  }
}

const titleOf = (decision: DecisionView, redact: (text: string) => string): string =>
  decisionTitle({ ...decision, sessionTitle: redact(decision.sessionTitle) })
