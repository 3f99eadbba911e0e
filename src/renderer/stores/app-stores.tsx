import { createContext, use } from 'react'
import type { ReactNode } from 'react'
import { useStore } from 'zustand'
import type { StoreApi } from 'zustand/vanilla'
import type { Bridge } from '../../shared/bridge/client.ts'
import type {
  CatalogView,
  DecisionView,
  GatewayView,
  Notice,
  RuleView,
  ScheduleView,
  SessionView,
  TrustedFolder,
  WorkerView,
} from '../../shared/bridge/index.ts'
import { AppError } from '../../shared/errors.ts'
import { keepTopic } from './topic-store.ts'
import type { TopicState } from './topic-store.ts'

/** One small store per topic of state. Components read narrow slices of them. */
export interface AppStores {
  sessions: StoreApi<TopicState<ReadonlyMap<string, SessionView>>>
  /** Pending ones, oldest first, and what became of those that this window saw pending. */
  decisions: StoreApi<TopicState<DecisionsState>>
  providers: StoreApi<TopicState<CatalogView | null>>
  gateway: StoreApi<TopicState<GatewayView | null>>
  workers: StoreApi<TopicState<readonly WorkerView[]>>
  settings: StoreApi<TopicState<Readonly<Record<string, unknown>>>>
  /** Newest first. */
  rules: StoreApi<TopicState<readonly RuleView[]>>
  /** What a person said of folders, by their path. */
  trust: StoreApi<TopicState<readonly TrustedFolder[]>>
  schedules: StoreApi<TopicState<SchedulesState>>
  /** What each session's agent takes as a slash command. */
  commands: StoreApi<TopicState<ReadonlyMap<string, readonly { name: string; description: string }[]>>>
  notices: StoreApi<TopicState<readonly Notice[]>>
}

/** `executing`: this host starts them by itself. */
export interface SchedulesState {
  schedules: readonly ScheduleView[]
  executing: boolean
}

export interface DecisionsState {
  pending: readonly DecisionView[]
  /** By decision id; the newest `MAX_SETTLED`. */
  settled: ReadonlyMap<string, DecisionView>
}

const MAX_SETTLED = 200

export function createAppStores(bridge: Bridge): AppStores {
  return {
    sessions: keepTopic(bridge, 'sessions', {}, new Map() as ReadonlyMap<string, SessionView>, (sessions, event) => {
      if (event.kind === 'snapshot') return new Map(event.sessions.map((session) => [session.id, session]))
      const next = new Map(sessions)
      if (event.kind === 'changed') next.set(event.session.id, event.session)
      else next.delete(event.sessionId)
      return next
    }),
    decisions: keepTopic<'decisions', DecisionsState>(
      bridge,
      'decisions',
      {},
      { pending: [], settled: new Map() },
      (state, event) => {
        if (event.kind === 'snapshot') return { ...state, pending: event.decisions }
        const others = state.pending.filter((decision) => decision.decisionId !== event.decision.decisionId)
        if (event.kind === 'requested') return { ...state, pending: [...others, event.decision] }
        const settled = new Map(state.settled).set(event.decision.decisionId, event.decision)
        for (const id of [...settled.keys()].slice(0, Math.max(0, settled.size - MAX_SETTLED))) settled.delete(id)
        return { pending: others, settled }
      },
    ),
    providers: keepTopic(bridge, 'providers', {}, null as CatalogView | null, (_state, catalog) => catalog),
    gateway: keepTopic(bridge, 'gateway', {}, null as GatewayView | null, (_state, view) => view),
    workers: keepTopic(bridge, 'workers', {}, [] as readonly WorkerView[], (_state, event) => event.workers),
    settings: keepTopic<'settings', Readonly<Record<string, unknown>>>(
      bridge,
      'settings',
      {},
      {},
      (_state, event) => event.values,
    ),
    rules: keepTopic(bridge, 'rules', {}, [] as readonly RuleView[], (_state, event) => event.rules),
    trust: keepTopic(bridge, 'trust', {}, [] as readonly TrustedFolder[], (_state, event) => event.folders),
    schedules: keepTopic<'schedules', SchedulesState>(
      bridge,
      'schedules',
      {},
      { schedules: [], executing: true },
      (_state, event) => event,
    ),
    commands: keepTopic(
      bridge,
      'commands',
      {},
      new Map() as ReadonlyMap<string, readonly { name: string; description: string }[]>,
      (commands, event) =>
        event.kind === 'snapshot'
          ? new Map(event.sessions.map((each) => [each.sessionId, each.commands]))
          : new Map(commands).set(event.sessionId, event.commands),
    ),
    notices: keepTopic(bridge, 'notices', {}, [] as readonly Notice[], (notices, event) =>
      event.kind === 'snapshot' ? event.notices : [...notices, event.notice].slice(-50),
    ),
  }
}

const StoresContext = createContext<AppStores | null>(null)

export function StoresProvider({ stores, children }: { stores: AppStores; children: ReactNode }) {
  return <StoresContext value={stores}>{children}</StoresContext>
}

export function useStores(): AppStores {
  const stores = use(StoresContext)
  if (stores === null) throw new AppError('internal', 'A component stands outside of its StoresProvider.')
  return stores
}

/** A slice of one store; the component renders again only when the slice changes identity. */
export function useTopic<K extends keyof AppStores, T>(
  name: K,
  select: (state: ReturnType<AppStores[K]['getState']>) => T,
): T {
  const store = useStores()[name] as StoreApi<ReturnType<AppStores[K]['getState']>>
  return useStore(store, select)
}
