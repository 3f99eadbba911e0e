import { AppError } from '../../shared/errors.ts'
import type { Actor, RuntimeChoice } from '../../shared/vocabulary.ts'
import type { Platform } from '../platform/types.ts'
import type { SnapshotDeps } from './admission/snapshot.ts'
import { createAdmissions } from './admission/submit.ts'
import type { Admissions } from './admission/submit.ts'
import { createAsides } from './asides/asides.ts'
import type { Asides } from './asides/asides.ts'
import { createArtifacts } from './artifacts/artifacts.ts'
import type { Artifacts } from './artifacts/artifacts.ts'
import type { RuntimeContext } from './context.ts'
import { createDeliveries, createTargetsOf } from './deliveries/deliveries.ts'
import type { Deliveries } from './deliveries/deliveries.ts'
import type { DeliveryPort } from './deliveries/types.ts'
import { createDecisionService } from './decisions/service.ts'
import type { DecisionService } from './decisions/service.ts'
import { createChangeBus, createEventHub } from './events/hub.ts'
import { createEventLog } from './events/log.ts'
import type { EventLog } from './events/log.ts'
import { createWatch } from './events/watch.ts'
import { createEventWriter } from './events/writer.ts'
import { createRunRegistry } from './execution/active.ts'
import { combineEndWork } from './execution/end-work.ts'
import { startRun } from './execution/run.ts'
import { createSlots } from './execution/slots.ts'
import { createSteer } from './execution/steer.ts'
import { createWait } from './execution/wait.ts'
import { createRemovals } from './housekeeping/removals.ts'
import { createRetention } from './housekeeping/retention.ts'
import { createHousekeeping } from './housekeeping/timer.ts'
import { readHostIdentity } from './host-identity.ts'
import { createInputs } from './inputs/inputs.ts'
import type { Inputs } from './inputs/inputs.ts'
import { createLeaseKeeper } from './leases/keeper.ts'
import { createMutations } from './leases/mutation.ts'
import type { Mutations } from './leases/mutation.ts'
import { createLeaseValidity } from './leases/validity.ts'
import { createRecovery } from './recovery/attempt.ts'
import { createCoordinator } from './recovery/coordinator.ts'
import { createInspector } from './recovery/inspect.ts'
import { createRemoteRuns } from './recovery/remote.ts'
import { createReopen } from './recovery/reopen.ts'
import { createStop } from './recovery/stop.ts'
import { createBindings } from './sessions/bindings.ts'
import type { Bindings } from './sessions/bindings.ts'
import { createDraftQueue, createDrafts } from './sessions/drafts.ts'
import type { Drafts } from './sessions/drafts.ts'
import { createFork } from './sessions/fork.ts'
import type { Fork } from './sessions/fork.ts'
import { createRunViews } from './sessions/run-views.ts'
import { createSearch } from './sessions/search.ts'
import type { Search } from './sessions/search.ts'
import { createSessions } from './sessions/sessions.ts'
import type { Sessions } from './sessions/sessions.ts'
import { createSnapshots } from './sessions/snapshot.ts'
import type { Snapshots } from './sessions/snapshot.ts'
import { shutDown } from './shutdown.ts'
import { createTables } from './store/index.ts'
import { TIMING } from './timing.ts'
import type { RuntimeTiming } from './timing.ts'
import type {
  ChoicePort,
  EndWork,
  Executor,
  HostIdentity,
  Inspection,
  PermissionRule,
  ResourcePort,
  RunReplay,
  RunRow,
  RuntimeChange,
  ScanOutcome,
  SessionBrief,
} from './types.ts'

const DEFAULT_SLOTS = 8
const WAITING_RUNS = 64

export interface RuntimeDeps extends Platform {
  executor: Executor
  /** A worker of the session is neither gone nor settled: nothing may be admitted beside it. */
  isHeld: (sessionId: string) => boolean
  /** The setting that offers mode `os`. */
  osEnabled?: () => boolean
  /** How long a permission of a run that nobody watches waits for its answer. */
  unattendedDecisionMs?: () => number
  /** Whether that connection still is one; by default each is. */
  isProvider?: (connectionId: string) => boolean
  resources?: ResourcePort
  endWork?: EndWork
  choices?: ChoicePort
  /** Where answers go beside the window. Without it nowhere. */
  deliveries?: DeliveryPort
  host?: HostIdentity
  /** How many runs execute at once, 1 to 32. */
  slots?: number
  /** For tests: the product runs with the times of `TIMING`. */
  timing?: Partial<RuntimeTiming>
}

export interface Runtime {
  sessions: Sessions & {
    inspect(sessionId: string): Inspection
    snapshot: Snapshots['of']
    /** Of each of these, in their order; one read for all of them. */
    briefs(sessionIds: readonly string[]): SessionBrief[]
    /** Those with a run that has not ended, whoever owns it. */
    withActiveRun(): string[]
    fork: Fork
    search: Search
    bind: Bindings['bind']
    unbind: Bindings['unbind']
    binding: Bindings['of']
    byExternalKey: Bindings['find']
    /** For host code: the right to change what no run may see changing. @throws AppError as `Mutations.hold`. */
    hold<T>(sessionIds: readonly string[], fn: () => Promise<T>): Promise<T>
  }
  runs: Admissions & {
    stop: ReturnType<typeof createStop>
    steer: ReturnType<typeof createSteer>
    wait: ReturnType<typeof createWait>
    aside: Asides['ask']
    /** @throws AppError `run_not_found`. */
    get(runId: string): RunRow
    view: Snapshots['view']
    /** All that the log has of a run, types of newer builds left in. @throws AppError `run_not_found`. */
    replay(runId: string): Promise<RunReplay>
    /** Newest first; `before` is a run's id. */
    list(query: { sessionId: string; before?: string; limit?: number }): RunRow[]
    /** Whether the run was told no, by a person or by the policy. */
    wasRefused(runId: string): boolean
  }
  events: EventLog
  decisions: Pick<DecisionService, 'resolve' | 'pending' | 'history' | 'get' | 'preview' | 'replayAt'>
  rules: { list(): PermissionRule[]; delete(ruleId: string): Promise<boolean> }
  config: {
    /** @throws AppError as `Sessions.configure`. */
    set: Sessions['configure']
    applyChoice: Sessions['applyChoice']
    /** Connection, model and effort, through the one door that changes them. @throws AppError `config_option_unavailable`. */
    setChoice(
      request: { sessionId: string; choice: RuntimeChoice; allowHistoryStrip: boolean; expectedRev: number; by: Actor },
      signal: AbortSignal,
    ): Promise<{ rev: number }>
  }
  drafts: Drafts
  inputs: Omit<Inputs, 'forPrompt'>
  artifacts: Pick<Artifacts, 'publish' | 'get' | 'ofRun' | 'open' | 'cleanup'>
  deliveries: Deliveries
  changes: { subscribe(listener: (change: RuntimeChange) => void): Disposable }
  /** One round of the hourly cleanup, now. Never rejects. */
  cleanUp(): Promise<void>
  recovery: { scanNow(): Promise<ScanOutcome>; wake(): void; reopen: ReturnType<typeof createReopen> }
  readonly instanceId: string
  /** Begins to recover what an earlier process left; returns at once. */
  start(): { firstScan: Promise<ScanOutcome> }
  /** In the order of 10-runtime section 14. A second call waits for the first. Never rejects. */
  stop(): Promise<void>
}

/** Runs made durable: see `types.ts` for the ports. The database must have the runtime's migrations. */
export function createRuntime(deps: RuntimeDeps): Runtime {
  const { clock, ids, log: rootLog, store, failpoints, secrets, executor } = deps
  const log = rootLog.child({ system: 'runtime' })
  const timing: RuntimeTiming = { ...TIMING, ...deps.timing }
  const host = deps.host ?? readHostIdentity()
  const tables = createTables(store.db, ids)
  const isValid = createLeaseValidity({ clock, host })
  const keeper = createLeaseKeeper({
    clock,
    ids,
    log,
    store,
    failpoints,
    host,
    leases: tables.leases,
    isValid,
    timing,
  })
  const hub = createEventHub()
  const changes = createChangeBus(log)
  const writer = createEventWriter({ clock, log, store, secrets, failpoints, tables, keeper, hub, timing })
  const { paths, files } = deps
  const endWorks: EndWork[] = []
  const transports = new Map((deps.deliveries?.transports ?? []).map((transport) => [transport.id, transport]))
  const ctx: RuntimeContext = {
    clock,
    ids,
    log,
    paths,
    secrets,
    files,
    store,
    failpoints,
    tables,
    keeper,
    hub,
    changes,
    writer,
    timing,
    executor,
    endWork: combineEndWork(endWorks, log),
    capabilityOf: (transport) => transports.get(transport)?.capability ?? null,
  }
  let stopping: Promise<void> | null = null
  const refuseWhenStopping = (): void => {
    if (stopping !== null) throw new AppError('runtime_stopping', 'Wheelhouse is closing.')
  }

  const findRun = (runId: string): RunRow => {
    const run = tables.runs.get(runId)
    if (run === null) throw new AppError('run_not_found', 'This run no longer exists.', { detail: runId })
    return run
  }

  const registry = createRunRegistry()
  const slots = createSlots(Math.min(32, Math.max(1, deps.slots ?? DEFAULT_SLOTS)), WAITING_RUNS)
  const decisions = createDecisionService(ctx, registry)
  const remotes = createRemoteRuns(ctx, (attached) => void startRun(runDeps(), attached))
  const recovery = createRecovery(ctx, registry, remotes)
  const inspect = createInspector(ctx, registry)
  const osEnabled = deps.osEnabled ?? (() => false)
  const { isHeld } = deps

  const halt = new AbortController()
  const removals = createRemovals(ctx)
  const artifacts = createArtifacts(ctx, registry, removals)
  const runDeps = () => ({ ctx, registry, slots, decisions, artifacts })
  const deliveries = createDeliveries({ ctx, transports, artifacts })
  endWorks.push(artifacts, deliveries.endWork, ...(deps.endWork === undefined ? [] : [deps.endWork]))
  const inputs = createInputs({ ctx, removals, refuseWhenStopping, stopping: halt.signal })
  const housekeeping = createHousekeeping({ clock, log }, [
    { what: 'inputs', run: inputs.cleanup },
    { what: 'artifacts', run: artifacts.cleanup },
    { what: 'retention', run: createRetention(ctx) },
    { what: 'removals', run: removals.sweep },
  ])
  const mutations: Mutations = createMutations(ctx, recovery)
  const bindings = createBindings(ctx)
  const drafts = createDrafts(ctx)
  const snapshotDeps: SnapshotDeps = {
    clock,
    timing,
    resources: deps.resources ?? null,
    osEnabled,
    bindingOf: (sessionId) => tables.bindings.of(sessionId)?.source ?? null,
    targetsOf: createTargetsOf(deps.deliveries),
    unattendedDecisionMs: deps.unattendedDecisionMs ?? (() => timing.unattendedDecisionMs),
    isProvider: deps.isProvider ?? (() => true),
  }
  const asides = createAsides({ ctx, snapshots: snapshotDeps, refuseWhenStopping, stopping: halt.signal })
  const admissions = createAdmissions({
    ctx,
    snapshots: snapshotDeps,
    recovery,
    inputs,
    isHeld,
    refuseWhenStopping,
    start(admitted) {
      const run = startRun(runDeps(), admitted)
      void run.gone.then(() => (stopping === null ? sendQueued(admitted.spec.runId) : undefined))
      return run
    },
  })
  const sendQueued = createDraftQueue(ctx, drafts, admissions)
  const sessions = createSessions({ ctx, mutations, bindings, removals, osEnabled, isHeld, refuseWhenStopping })
  const runViews = createRunViews(ctx)
  const snapshots = createSnapshots(ctx, runViews)

  const watch = createWatch({
    clock,
    log,
    store,
    pollMs: timing.pollMs,
    othersAreHere: () => tables.leases.heldByOthers(keeper.instanceId, clock.nowMs()),
    wanted: () => hub.count() > 0 || decisions.waiting(),
    onForeignCommit() {
      decisions.sync()
      for (const sessionId of hub.sessions()) hub.stale(sessionId)
    },
  })
  // An agent that waits may be answered by another process.
  changes.subscribe(({ kind }) => kind === 'decision' && watch.consider())
  // A run that has ended may have left something to send.
  changes.subscribe(({ kind }) => kind === 'run' && deliveries.look())
  const coordinator = createCoordinator(ctx, recovery, () => {
    // Another process may have died over what it was sending.
    deliveries.look()
    // Whoever answered without holding a lease is found here at the latest.
    decisions.sync()
    watch.consider()
  })
  const reopen = createReopen(ctx)
  const events = createEventLog({ tables, hub })

  return {
    sessions: {
      ...sessions,
      inspect(sessionId) {
        const seen = inspect(sessionId)
        if (seen.state === 'orphaned' || seen.state === 'recovery_failed') coordinator.wake()
        if (seen.state === 'external') watch.consider()
        return seen
      },
      snapshot: snapshots.of,
      search: createSearch(ctx),
      fork: createFork({ ctx, recovery, refuseWhenStopping }),
      bind: bindings.bind,
      unbind: bindings.unbind,
      binding: bindings.of,
      byExternalKey: bindings.find,
      hold(sessionIds, fn) {
        refuseWhenStopping()
        return mutations.hold(sessionIds, fn)
      },
      briefs: tables.briefs.of,
      withActiveRun: tables.runs.sessionsWithActiveRun,
    },
    runs: {
      ...admissions,
      stop: createStop({ ctx, registry, recovery, inspect, wake: coordinator.wake }),
      steer: createSteer({ ctx, registry, refuseWhenStopping }),
      wait: createWait(ctx, watch),
      aside: asides.ask,
      get: findRun,
      view: snapshots.view,
      replay: async (runId) => runViews.replay(findRun(runId)),
      list: ({ sessionId, before = null, limit = 100 }) =>
        tables.runs.list({ sessionId, before, limit: Math.min(500, Math.max(1, limit)) }),
      wasRefused: (runId) => tables.decisions.wasRefused(runId),
    },
    events: {
      read: events.read,
      subscribe(query, signal) {
        const items = events.subscribe(query, signal)
        watch.consider()
        return items
      },
    },
    decisions,
    rules: {
      list: () => tables.rules.all(),
      delete: (ruleId) =>
        store.writeTx((tx) => {
          const deleted = tables.rules.delete(ruleId)
          if (deleted) store.afterCommit(tx, () => changes.tell({ kind: 'rules' }))
          return deleted
        }),
    },
    config: {
      set: sessions.configure,
      applyChoice: sessions.applyChoice,
      async setChoice(request, signal) {
        refuseWhenStopping()
        if (deps.choices === undefined) {
          throw new AppError('config_option_unavailable', 'There is no choice of Providers here.')
        }
        return deps.choices.set(request, signal)
      },
    },
    drafts,
    inputs,
    artifacts,
    deliveries: {
      list: deliveries.list,
      get: deliveries.get,
      reopen: deliveries.reopen,
      reconcile: deliveries.reconcile,
    },
    changes: { subscribe: changes.subscribe },
    cleanUp: housekeeping.round,
    recovery: {
      scanNow: coordinator.scanNow,
      wake: coordinator.wake,
      async reopen(request) {
        refuseWhenStopping()
        await reopen(request)
        coordinator.wake()
      },
    },
    instanceId: keeper.instanceId,
    start() {
      housekeeping.start()
      deliveries.look()
      return coordinator.start()
    },
    stop() {
      if (stopping !== null) return stopping
      stopping = shutDown({ ctx, registry, coordinator, decisions, watch, housekeeping, asides, deliveries }).catch(
        (error: unknown) => log.error('The runtime did not stop cleanly.', { error }),
      )
      halt.abort(new AppError('runtime_stopping', 'Wheelhouse is closing.'))
      return stopping
    },
  }
}
