import type { Bridge } from '../../shared/bridge/client.ts'
import type { DecisionView, GatewayView, SessionView } from '../../shared/bridge/index.ts'

/** What a person may want to look at: what waits for them, and what is under way. */
export interface Attention {
  /** Oldest first. */
  pending: readonly DecisionView[]
  running: readonly SessionView[]
  /** Null until the host has told it. */
  gateway: GatewayView | null
}

const UNDER_WAY: ReadonlySet<SessionView['state']> = new Set(['starting', 'running', 'waiting', 'recovering'])

/** Follows the decisions and the sessions, and tells after each change. Answers the function that ends it. */
export function watchAttention(bridge: Bridge, onChange: (attention: Attention) => void): () => void {
  const decisions = new Map<string, DecisionView>()
  const sessions = new Map<string, SessionView>()
  let gateway: GatewayView | null = null
  const tell = (): void =>
    onChange({
      pending: [...decisions.values()].sort((a, b) => a.createdAt - b.createdAt),
      running: [...sessions.values()].filter(({ state }) => UNDER_WAY.has(state)),
      gateway,
    })

  const forgetDecisions = bridge.subscribe(
    'decisions',
    {},
    {
      event(event) {
        if (event.kind === 'snapshot') {
          decisions.clear()
          for (const each of event.decisions) decisions.set(each.decisionId, each)
        } else if (event.kind === 'requested') decisions.set(event.decision.decisionId, event.decision)
        else decisions.delete(event.decision.decisionId)
        tell()
      },
    },
  )
  const forgetSessions = bridge.subscribe(
    'sessions',
    {},
    {
      event(event) {
        if (event.kind === 'snapshot') {
          sessions.clear()
          for (const each of event.sessions) sessions.set(each.id, each)
        } else if (event.kind === 'changed') sessions.set(event.session.id, event.session)
        else sessions.delete(event.sessionId)
        tell()
      },
    },
  )
  const forgetGateway = bridge.subscribe(
    'gateway',
    {},
    {
      event(event) {
        gateway = event
        tell()
      },
    },
  )
  return () => {
    forgetGateway()
    forgetDecisions()
    forgetSessions()
  }
}
