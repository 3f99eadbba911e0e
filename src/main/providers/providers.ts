/** The door of Providers: orders every mutation, and answers for what could not be loaded. */
import { homedir } from 'node:os'
import { AppError } from '../../shared/errors.ts'
import type { PersistOutcome } from '../../shared/vocabulary.ts'
import { withDeadline } from '../platform/index.ts'
import { offeredEfforts } from './contracts/efforts.ts'
import { createExchanges } from './exchanges.ts'
import { createInspector } from './inspector.ts'
import { claudeSettings, refuseUnixSocket } from './launch/claude-settings.ts'
import { findLocalPresets } from './local-presets.ts'
import { modelsOf, shownModels } from './models.ts'
import { createSlots } from './credentials/slots.ts'
import { createMutex } from './mutex.ts'
import { fieldsFor, presetOf, protocolOf } from './presets.ts'
import { openGatewayAlone, openSystem } from './system.ts'
import type { ProvidersDeps, System } from './system.ts'
import type { Applied, CatalogView, ClientId, ConnectionInput, Discovery, ProviderChoice, Providers } from './types.ts'
import { catalogView, isReady } from './views.ts'

export type { ProvidersDeps } from './system.ts'

const STOP_MS = 3_000
const UNSTARTED = 'Providers are not started yet, or were stopped.'

export function createProviders(deps: ProvidersDeps): Providers {
  const { clock, log } = deps
  const lock = createMutex()
  const listeners = new Set<() => void>()
  const exchanges = createExchanges(log)
  const inspector = createInspector(deps.inspectsRequests ?? (() => true))
  const gatewayListeners = new Set<() => void>()
  let system: System | null = null
  let failure: AppError | null = null
  /** Of a start that failed. */
  let gatewayAlone: Pick<System, 'gateway' | 'gatewayOptions'> | null = null
  let surveyed = false
  let gatewayStarted: Promise<void> | null = null

  function open(): System {
    if (system !== null) return system
    throw failure ?? new AppError('model_profiles_unavailable', UNSTARTED)
  }

  function startGateway({ gateway, gatewayOptions }: Pick<System, 'gateway' | 'gatewayOptions'>): void {
    gatewayStarted = gateway.start({ resume: gatewayOptions.resume })
    gatewayStarted.catch((error: unknown) => log.error('the gateway did not start', { error }))
  }

  async function stopGateway({ gateway, gatewayOptions }: Pick<System, 'gateway' | 'gatewayOptions'>): Promise<void> {
    await gatewayStarted?.catch(() => undefined)
    await gateway.stop({ keepTakeover: gatewayOptions.keepTakeover() })
  }

  function changed(): void {
    tell(listeners)
  }

  function tell(whom: ReadonlySet<() => void>): void {
    for (const listener of whom) {
      try {
        listener()
      } catch (error) {
        log.error('a listener of Providers failed', { error })
      }
    }
  }

  function view(of: System): CatalogView {
    return catalogView(of.modelSources(), of.readiness, of.backend())
  }

  /** One mutation at a time; its view is built before the next may begin, so that two revisions never mix. */
  async function mutate(
    revision: number | null,
    work: (of: System) => Promise<PersistOutcome>,
  ): Promise<Applied<CatalogView>> {
    const applied = await lock.run(async () => {
      const of = open()
      if (revision !== null) of.state.demandRevision(revision)
      const outcome = await work(of)
      return { value: view(of), outcome }
    })
    changed()
    return applied
  }

  /** Behind the open window: a keychain that waits for its prompt must not hold the start. */
  async function recover(of: System): Promise<void> {
    await lock.run(async () => {
      try {
        await of.edits.recover({ sweep: of.malformed.length === 0 })
        surveyed = of.backend() !== 'unavailable'
        await of.usage.tidy()
      } catch (error) {
        log.error('the recovery of Providers did not finish', { error })
      }
    })
    changed()
  }

  /** An agent that outlived us holds its Router's port: it is taken again before anything else can be given it. */
  async function listenForSurvivors(of: System): Promise<void> {
    const pinnedPort = of.routes.all()[0]?.port
    if (pinnedPort === undefined) return
    try {
      await of.router.ensureListening({ pinnedPort })
    } catch (error) {
      log.error('the port of routes from before cannot be had', { pinnedPort, error })
    }
  }

  function nameOf(id: string): string | null {
    const { connections } = open().state.current()
    return connections.find((row) => row.id === id)?.name ?? null
  }

  function choices(client: ClientId): readonly ProviderChoice[] {
    const of = open()
    const { catalog } = of.modelSources()
    const recorded = catalog.defaults[client]
    const offered = catalog.connections.flatMap((row): ProviderChoice[] => {
      if (row.client !== client) return []
      const ready = isReady(row, of.readiness)
      const protocol = protocolOf(row) ?? 'responses'
      const models = modelsOf(row, of.modelSources()).filter((entry) => entry.enabled)
      return models.map((entry) => ({
        choice: { connectionId: row.id, modelId: entry.id, effort: 'default' },
        label: entry.displayName ?? entry.id,
        connectionName: row.name,
        efforts: entry.efforts ?? offeredEfforts(client, protocol, null),
        isDefault: recorded?.connectionId === row.id && recorded.modelId === entry.id,
        ready,
      }))
    })
    return [...offered.filter((entry) => entry.isDefault), ...offered.filter((entry) => !entry.isDefault)]
  }

  async function discover(id: string, options: { force: boolean }, signal: AbortSignal): Promise<Discovery> {
    const of = open()
    // What it says, and that it says nothing, stands in the view.
    const result = await of.discovery.discover(of.accounts.discovery(id), options, signal).finally(changed)
    const row = of.state.current().connections.find((candidate) => candidate.id === id)
    return { ...result, entries: row === undefined ? [] : modelsOf(row, of.modelSources()) }
  }

  return {
    async start(signal) {
      failure = null
      try {
        signal.throwIfAborted()
        system = await openSystem(deps, {
          exchanges,
          inspector,
          gatewayChanged: () => tell(gatewayListeners),
          healthChanged: changed,
          ready: () => system !== null,
        })
        await system.refreshCodexModels()
        system.checkRestored()
        await listenForSurvivors(system)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        log.error('Providers cannot be used', { error })
        failure = error
        // An agent's config file may lead here since before: it is given back all the same.
        gatewayAlone = await openGatewayAlone(deps, { gatewayChanged: () => tell(gatewayListeners) }, error)
        startGateway(gatewayAlone)
        return
      }
      void recover(system)
      startGateway(system)
    },
    async stop() {
      const stopping = system
      const alone = gatewayAlone
      // What is under way finishes; the Router refuses from here on.
      system = null
      gatewayAlone = null
      surveyed = false
      if (alone !== null) await stopGateway(alone)
      if (stopping === null) return
      await stopGateway(stopping)
      await withDeadline(clock, STOP_MS, undefined, (signal) => stopping.router.stop(signal)).catch(
        (error: unknown) => {
          log.warn('the Router was cut', { error })
        },
      )
      await lock.run(() => stopping.upstream.close())
      await stopping.usage.close()
      stopping.keys.drop()
    },
    failure: () => failure,
    notices: () => open().notices(),

    async catalog() {
      const of = open()
      const refs = of.state.current().connections.flatMap((row) => row.credentialRef ?? [])
      // A keychain that was locked at the start may be open by now.
      if (!surveyed) await lock.run(async () => void (surveyed = (await of.keys.survey()) !== null))
      await of.keys.loadHints(refs)
      return await lock.run(async () => view(open()))
    },
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    saveConnection: (input, key, revision, mode) =>
      mutate(revision, async (of) => {
        const outcome = await of.edits.save(input, key, mode)
        // Whatever was wrong may be mended by the edit.
        if (input.id !== undefined) of.breakers.forget(input.id)
        return outcome
      }),
    async copyConnection(id, to, revision) {
      const of = open()
      const source = of.state.current().connections.find((row) => row.id === id)
      if (source === undefined) {
        throw new AppError('model_profile_not_found', 'This Provider no longer exists.', { detail: id })
      }
      const key = source.credentialRef === undefined ? null : await of.keys.get(source.credentialRef)
      const free = new Set<string>(fieldsFor(presetOf(source.preset), to.client))
      const { id: _id, credentialRef: _ref, ...fields } = source
      const kept = Object.fromEntries(Object.entries(fields).filter(([field]) => free.has(field)))
      const input: ConnectionInput = { ...kept, name: to.name, client: to.client, preset: source.preset }
      return await mutate(revision, (now) => now.edits.save(input, key, 'create'))
    },
    moveCredentials: (to) =>
      mutate(null, async (of) => {
        await of.moveKeys(to)
        return { applied: true, durable: true }
      }),
    findLocal: async (signal) => await findLocalPresets(open().upstream, signal),
    clearCredential: (id, revision) => mutate(revision, (of) => of.edits.clearCredential(id)),
    async deleteConnection(id, revision) {
      const applied = await mutate(revision, (of) => of.edits.remove(id))
      open().breakers.forget(id)
      open().answers.forget(id)
      await open().discovery.forget(id)
      return applied
    },
    setDefault: (client, to, revision) => mutate(revision, (of) => of.edits.setDefault(client, to)),
    setFailover: (client, rule, revision) => mutate(revision, (of) => of.edits.setFailover(client, rule)),

    async testConnection(input, signal) {
      const testing = open().accounts.test(input, signal)
      return await ('savedId' in input ? testing.finally(changed) : testing)
    },
    discover,
    setEnabledModels: (id, enabledIds) =>
      mutate(null, async (of) => {
        const row = of.state.current().connections.find((candidate) => candidate.id === id)
        if (row === undefined) {
          throw new AppError('model_profile_not_found', 'This Provider no longer exists.', { detail: id })
        }
        const shown = shownModels(of.modelSources()).get(id) ?? []
        return await of.discovery.setEnabled(
          id,
          shown.map((entry) => entry.id),
          enabledIds,
        )
      }),

    hasConnection: (id) => nameOf(id) !== null,
    connectionName: nameOf,
    choices,
    defaultChoice(client) {
      const recorded = open().state.current().defaults[client]
      if (recorded === undefined) return null
      return { connectionId: recorded.connectionId, modelId: recorded.modelId, effort: 'default' }
    },

    async prepareWorker(request, signal) {
      const of = open()
      const { client, choice, workerId } = request
      if (choice.connectionId === null) return
      signal.throwIfAborted()
      const row = of.state.current().connections.find((candidate) => candidate.id === choice.connectionId)
      // Reading the key is what tells a locked store from a missing key, and warms the cache for the first request.
      if (row?.credentialRef !== undefined) await of.keys.get(row.credentialRef)
      if (client === 'codex') {
        await of.refreshCodexModels()
        await of.askCodexForModels(signal)
      }
      if (client === 'claude') await refuseUnixSocket(claudeSettings(request, homedir()))
      const contract = of.sessions.verify(client, choice)
      const pinnedPort = of.routes.all()[0]?.port
      await of.router.ensureListening(pinnedPort === undefined ? {} : { pinnedPort })
      if (client === 'codex') await of.codexCatalogs.write(workerId, contract.connection.id, of.catalogText(contract))
    },
    bindWorker(request, tx) {
      const of = open()
      const plan = of.sessions.bindWorker(request, tx)
      of.failover.allow(request.workerId, request.failover !== 'off')
      return plan
    },
    allowFailover: (workerId, allowed) => open().failover.allow(workerId, allowed),
    async unbindWorker(workerId) {
      const of = open()
      of.failover.forget(workerId)
      of.codexCatalogs.forget(workerId)
      return await of.routes.unbind(workerId)
    },
    boundWorkers: () => (system === null ? [] : system.routes.workers()),
    forgetSession(sessionId, tx) {
      const of = open()
      of.routes.forget(sessionId, tx)
      deps.store.afterCommit(tx, () => exchanges.forget(sessionId))
    },

    previewRuntime: (change) => open().sessions.previewRuntime(change),
    changeRuntime: (change, tx) => open().sessions.changeRuntime(change, tx),
    switchTarget: (client, connectionId) => open().switching.target(client, connectionId),
    previewSwitch: (client, connectionId, { allowHistoryStrip }) =>
      open().switching.preview(client, connectionId, allowHistoryStrip),
    sessionRuntime: (sessionId) => open().sessions.sessionRuntime(sessionId),

    slots: (prefix) => createSlots(() => open().keys, prefix),

    usage: (by, days) => open().usage.totals(by, days),
    lastExchange: (sessionId) => exchanges.last(sessionId),
    onExchange: (listener) => exchanges.subscribe(listener),
    dropKeys: () => system?.keys.drop(),

    gateway: () => (system ?? gatewayAlone ?? open()).gateway,
    onGatewayChange(listener) {
      gatewayListeners.add(listener)
      return () => void gatewayListeners.delete(listener)
    },
    requests: () => inspector.list(),
    forgetRequests: () => inspector.clear(),
    onRequest: (listener) => inspector.subscribe(listener),
  }
}
