import type { CatalogView, GatewayView, Notice, TopicEvent } from '../../shared/bridge/index.ts'
import type { Places } from '../deliveries/index.ts'
import type { AgentExecutor, FolderTrust, SessionRuntimes } from '../executor/index.ts'
import type { Clock, Log, Settings } from '../platform/index.ts'
import type { Providers } from '../providers/index.ts'
import type { DeliveryView as Delivery, Runtime } from '../runtime/index.ts'
import { deliveryView } from './handlers/deliveries.ts'
import { gatewayView, requestView } from './handlers/gateway.ts'
import { catalogView } from './handlers/providers.ts'
import { ruleViews } from './handlers/rules.ts'
import { createCommandsTopic } from './commands.ts'
import { schedulesEvent } from './handlers/schedules.ts'
import type { Schedules } from '../schedules/index.ts'
import { createStateTopic } from './state-topic.ts'
import type { TopicSources } from './types.ts'
import type { Views } from './views.ts'

/** Sessions that change often are told at most this often. */
const SESSION_TICK_MS = 50
const LISTED_SESSIONS = 500
const MAX_NOTICES = 50
const LISTED_REQUESTS = 100

export interface SourceDeps {
  clock: Clock
  log: Log
  runtime: Runtime
  executor: AgentExecutor
  providers: Providers
  settings: Settings
  places: Places
  schedules: Schedules
  trust: FolderTrust
  runtimes: Pick<SessionRuntimes, 'labelOf'>
  views: Views
}

export interface Sources {
  sources: TopicSources
  /** An app-wide fact for every window. */
  notify(notice: Notice): void
  stop(): void
}

/** The topics, fed by what the systems tell after their commits. */
export function createSources(deps: SourceDeps): Sources {
  const { clock, log, runtime, executor, providers, settings, places, views } = deps

  const sessions = createStateTopic<TopicEvent<'sessions'>>(async () => ({
    kind: 'snapshot',
    sessions: await views.sessions(runtime.sessions.list({ limit: LISTED_SESSIONS }).sessions),
  }))
  const decisions = createStateTopic<TopicEvent<'decisions'>>(() => ({
    kind: 'snapshot',
    decisions: views.decisions(runtime.decisions.pending(null)),
  }))
  const workersEvent = (): TopicEvent<'workers'> => ({ workers: executor.overview().map(views.worker) })
  const workers = createStateTopic(workersEvent)
  const settingsEvent = (): TopicEvent<'settings'> => ({ values: { ...settings.values() } })
  const settingsTopic = createStateTopic(settingsEvent)
  const catalog = async (): Promise<CatalogView> => catalogView(await providers.catalog())
  const providersTopic = createStateTopic(catalog)
  const rulesEvent = (): TopicEvent<'rules'> => ({ rules: ruleViews(runtime) })
  const rules = createStateTopic(rulesEvent)
  const trustEvent = (): TopicEvent<'trust'> => ({ folders: [...deps.trust.list()] })
  const trust = createStateTopic(trustEvent)
  const targetsEvent = async (): Promise<TopicEvent<'deliveries'>> => ({
    kind: 'targets',
    targets: await places.views(),
  })
  const deliveries = createStateTopic(targetsEvent)
  const schedulesTopic = createStateTopic<TopicEvent<'schedules'>>(() => schedulesEvent(deps))
  let toldTargets = JSON.stringify(settings.get('deliveryTargets'))
  const gateway = async (): Promise<GatewayView> => gatewayView(await providers.gateway().status())
  const gatewayTopic = createStateTopic(gateway)
  const requests = createStateTopic<TopicEvent<'requests'>>(() => ({
    kind: 'snapshot',
    requests: providers.requests().slice(0, LISTED_REQUESTS).map(requestView),
  }))
  const commands = createCommandsTopic()
  const notices: Notice[] = []
  const noticesTopic = createStateTopic<TopicEvent<'notices'>>(() => ({ kind: 'snapshot', notices: [...notices] }))

  const workerSessions = (): string[] =>
    executor.overview().flatMap(({ sessionId }) => (sessionId === null ? [] : [sessionId]))
  let withWorker = workerSessions()
  let stopped = false
  const dirty = new Set<string>()
  let tick: Disposable | null = null
  /** One after the other: what changes meanwhile is told by the next. */
  const flush = async (): Promise<void> => {
    const changed = [...dirty]
    dirty.clear()
    try {
      if (sessions.subscribers() > 0) await tellSessions(changed)
    } catch (error) {
      if (!stopped) log.warn('sessions that changed could not be told', { error })
    }
    tick = dirty.size > 0 && !stopped ? clock.after(SESSION_TICK_MS, () => void flush()) : null
  }
  const tellSchedules = (): void => {
    if (schedulesTopic.subscribers() > 0) schedulesTopic.publish(schedulesEvent(deps))
  }
  const tellDeliveries = (changed: readonly (Delivery | null)[]): void => {
    if (deliveries.subscribers() === 0) return
    for (const each of changed) {
      if (each !== null) deliveries.publish({ kind: 'delivery', delivery: deliveryView(deps, each) })
    }
  }
  const markDirty = (sessionId: string): void => {
    dirty.add(sessionId)
    tick ??= clock.after(SESSION_TICK_MS, () => void flush())
  }
  const tellSessions = async (sessionIds: readonly string[]): Promise<void> => {
    const rows = sessionIds.flatMap((sessionId) => {
      try {
        return [runtime.sessions.get(sessionId)]
      } catch {
        sessions.publish({ kind: 'removed', sessionId })
        return []
      }
    })
    for (const session of await views.sessions(rows)) sessions.publish({ kind: 'changed', session })
  }
  const markAll = (): void => {
    if (sessions.subscribers() === 0) return
    for (const session of runtime.sessions.list({ limit: LISTED_SESSIONS }).sessions) markDirty(session.id)
  }

  const subscriptions = [
    runtime.changes.subscribe((change) => {
      commands.onChange(change)
      if (change.kind === 'decision') {
        const row = runtime.decisions.get(change.decisionId)
        if (row !== null) {
          decisions.publish({ kind: row.status === 'pending' ? 'requested' : 'settled', decision: views.decision(row) })
        }
      }
      if (change.kind === 'rules') rules.publish(rulesEvent())
      if (change.kind === 'delivery') tellDeliveries([runtime.deliveries.get(change.deliveryId)])
      // What an answer is sent to is planned with the end of its run.
      if (change.kind === 'run') {
        tellDeliveries(runtime.deliveries.list({ runId: change.runId }))
        if (deps.schedules.isOf(change.sessionId)) tellSchedules()
      }
      if ('sessionId' in change) markDirty(change.sessionId)
    }),
    settings.subscribe(({ deliveryTargets }) => {
      settingsTopic.publish(settingsEvent())
      const targets = JSON.stringify(deliveryTargets)
      if (targets === toldTargets) return
      toldTargets = targets
      targetsEvent().then(deliveries.publish, (error: unknown) => log.warn('the places could not be told', { error }))
    }),
  ]
  const forget = [
    providers.onRequest((request) => {
      if (requests.subscribers() > 0) requests.publish({ kind: 'request', request: requestView(request) })
    }),
    providers.onGatewayChange(() => {
      if (gatewayTopic.subscribers() === 0) return
      gateway().then(
        (view) => gatewayTopic.publish(view),
        (error: unknown) => log.warn('the gateway’s status could not be told', { error }),
      )
    }),
    deps.schedules.onChange(() => tellSchedules()),
    deps.trust.onChange(() => trust.publish(trustEvent())),
    executor.onChange(() => {
      workers.publish(workersEvent())
      // Also those whose worker is gone: a session is held by it no longer.
      const now = workerSessions()
      for (const sessionId of new Set([...withWorker, ...now])) markDirty(sessionId)
      withWorker = now
    }),
    providers.onChange(() => {
      catalog().then(
        (view) => {
          providersTopic.publish(view)
          // Labels and readiness of sessions follow their connections.
          markAll()
        },
        (error: unknown) => log.warn('the catalog could not be told', { error }),
      )
    }),
  ]

  return {
    sources: {
      sessions: (_filter, { signal }) => sessions.open(signal),
      decisions: (_filter, { signal }) => decisions.open(signal),
      workers: (_filter, { signal }) => workers.open(signal),
      settings: (_filter, { signal }) => settingsTopic.open(signal),
      rules: (_filter, { signal }) => rules.open(signal),
      deliveries: (_filter, { signal }) => deliveries.open(signal),
      schedules: (_filter, { signal }) => schedulesTopic.open(signal),
      trust: (_filter, { signal }) => trust.open(signal),
      providers: (_filter, { signal }) => providersTopic.open(signal),
      gateway: (_filter, { signal }) => gatewayTopic.open(signal),
      requests: (_filter, { signal }) => requests.open(signal),
      commands: (_filter, { signal }) => commands.open(signal),
      notices: (_filter, { signal }) => noticesTopic.open(signal),
      'session.events': (filter, { after = 0, signal }) => sessionEvents(runtime, filter.sessionId, after, signal),
    },
    notify(notice) {
      notices.push(notice)
      notices.splice(0, Math.max(0, notices.length - MAX_NOTICES))
      noticesTopic.publish({ kind: 'notice', notice })
    },
    stop() {
      stopped = true
      tick?.[Symbol.dispose]()
      for (const subscription of subscriptions) subscription[Symbol.dispose]()
      for (const each of forget) each()
    },
  }
}

async function* sessionEvents(
  runtime: Runtime,
  sessionId: string,
  afterSeq: number,
  signal: AbortSignal,
): AsyncIterable<TopicEvent<'session.events'>> {
  for await (const item of runtime.events.subscribe({ sessionId, afterSeq }, signal)) {
    if (item.kind === 'events') yield* item.events
    if (item.kind === 'runtime_stopped') return
  }
}
