/**
 * The door of Providers and its vocabulary. A key exists in two places only: the credential store, and the header of a
 * request on its way upstream. Every other record here holds an opaque reference at most.
 */
import type { AppError, ErrorCode } from '../../shared/errors.ts'
import type { ClientId, Effort, PersistOutcome, RuntimeChoice } from '../../shared/vocabulary.ts'
import type { Secret, Tx } from '../platform/types.ts'
import type { BreakerView } from './breaker/index.ts'
import type { MachineGateway } from './gateway/machine.ts'
import type { LaunchRequest, RoutePlan } from './launch/types.ts'
import type { Inspected } from './inspector.ts'
import type { ExchangeRecord, RouteProtocol } from './router/types.ts'
import type { AuthMode } from './upstream/types.ts'
import type { UsageBy, UsageRow } from './usage/types.ts'

export type { BreakerView } from './breaker/index.ts'
export type { ClientId, Effort, PersistOutcome, RuntimeChoice } from '../../shared/vocabulary.ts'
export type { Exchange, ExchangeRecord, RouteProtocol } from './router/types.ts'
export type { AuthMode } from './upstream/types.ts'
export type { LaunchRequest, RoutePlan } from './launch/types.ts'
export type { GatewayStatus, MachineGateway } from './gateway/machine.ts'
export type { Inspected } from './inspector.ts'
export type {
  EnableRequest,
  ProjectionKind,
  TakeoverChange,
  TakeoverClient,
  TakeoverPlan,
  TakeoverStatus,
} from './takeover/index.ts'
export type { UsageBy, UsageRow } from './usage/types.ts'

export type PresetId =
  | 'openai'
  | 'openrouter'
  | 'anthropic'
  | 'deepseek'
  | 'ollama'
  | 'lmstudio'
  | 'rehearsal'
  | 'custom'

/** `provider:<connectionId>:<22 base64url characters>`: names a slot of the credential store, and is no secret. */
export type CredentialRef = `provider:${string}:${string}`

/** One saved account. No field ever holds a secret. */
export interface ProviderConnection {
  /** UUID, not derived from name, address or key, never used twice. */
  id: string
  name: string
  client: ClientId
  preset: PresetId
  /** Preset `custom` alone. */
  baseUrl?: string
  manualModelId?: string
  /** Preset `custom` alone; absent is bearer. */
  authMode?: AuthMode
  /** Client `builtin` alone, where the preset speaks both; absent is responses. */
  protocol?: RouteProtocol
  /** The active slot; flips in the same write as name and address. */
  credentialRef?: CredentialRef
  /** A variable of the host process, read at request time; a stored key wins over it. */
  credentialEnv?: string
  /** Client `claude` alone: the model for the client's background calls. */
  smallModelId?: string
  /** Preset `openai` alone. */
  tunnelWebSocket?: boolean
}

/**
 * Who answers when the default's Provider does not. `chain`: 1 to 4 of the same client, in order, none of them the default
 * itself. `allowHistoryStrip`: also those that cannot read the history, which is then cut for good.
 */
export interface FailoverRule {
  chain: readonly { connectionId: string; modelId: string }[]
  on429: boolean
  allowHistoryStrip: boolean
}

export interface ClientDefault {
  connectionId: string
  modelId: string
  /** Absent: no failover, ever. */
  failover?: FailoverRule
}

/** All connections and the default per client, under one revision: every change adds exactly 1. */
export interface Catalog {
  schemaVersion: 1
  revision: number
  /** Sorted by name, case aside, then by id. */
  connections: readonly ProviderConnection[]
  defaults: Readonly<Partial<Record<ClientId, ClientDefault>>>
}

/** `known`: we hold metadata for it; an unknown one is still a valid model. `lkg`: last known good. */
export interface ModelEntry {
  id: string
  displayName?: string
  available: boolean
  enabled: boolean
  known: boolean
  effortDefault?: Effort
  efforts?: readonly Effort[]
  source: 'bundled' | 'discovered' | 'lkg' | 'manual' | 'codex_cache'
}

/** Where the knowledge about a model comes from; `opaque_passthrough`: nowhere, and nothing is claimed. */
export type Provenance = 'codex_catalog' | 'builtin_catalog' | 'configured_compatibility' | 'opaque_passthrough'

/** A durable change and the view of it, built inside the same critical section. */
export interface Applied<T> {
  value: T
  outcome: PersistOutcome
}

/** No reference, no environment value, no preset's address: what a window may see. */
export interface ConnectionView {
  id: string
  name: string
  preset: PresetId
  client: ClientId
  /** The API that it is spoken to in. */
  speaks: RouteProtocol
  baseUrl?: string
  authMode?: AuthMode
  protocol?: RouteProtocol
  manualModelId?: string
  smallModelId?: string
  credentialEnv?: string
  tunnelWebSocket?: boolean
  credentialReady: boolean
  /** Bullets and at most the ends of the stored key; absent for a key from the environment. */
  credentialHint?: string
  /** Its circuit breaker, unless it is closed. */
  breaker?: BreakerView
  /** Why it did not answer when it was last asked for its models, while this host runs. */
  refusal?: { code: ErrorCode; message: string }
  warnings: readonly ConnectionWarning[]
}

export type ConnectionWarning = 'plaintext_transport'

export interface PresetView {
  id: PresetId
  label: string
  clients: readonly ClientId[]
  advanced: boolean
  needsKey: boolean
  /** The fields this preset leaves to the person. */
  fields: readonly (keyof ConnectionInput)[]
}

export type CredentialBackend = 'keychain' | 'file' | 'memory' | 'unavailable'

export interface CatalogView {
  revision: number
  connections: readonly ConnectionView[]
  defaults: Readonly<Partial<Record<ClientId, ClientDefault>>>
  presets: readonly PresetView[]
  /** By connection id. */
  models: Readonly<Record<string, readonly ModelEntry[]>>
  credentialBackend: CredentialBackend
}

/** A whole row as a form sends it; `id` on an update alone. */
export type ConnectionInput = Omit<ProviderConnection, 'id' | 'credentialRef'> & { id?: string }

/**
 * The saved account as it is, or one as it stands in a form: `id` is of the one that is edited there, whose stored key
 * serves where the form brings none and the address stays with its host.
 */
export type TestInput =
  | { savedId: string }
  | (Pick<ConnectionInput, 'id' | 'client' | 'preset' | 'baseUrl' | 'authMode' | 'protocol' | 'credentialEnv'> & {
      key: Secret | null
    })

export interface Discovery {
  entries: readonly ModelEntry[]
  outcome: PersistOutcome
  /** The upstream did not answer: the entries are the last known good ones. */
  stale: boolean
}

/** One thing a person can pick for a session of a client. `ready: false`: its key is missing. */
export interface ProviderChoice {
  choice: RuntimeChoice
  label: string
  connectionName: string
  efforts: readonly Effort[]
  isDefault: boolean
  ready: boolean
}

export interface SessionRuntimeView {
  sessionId: string
  client: ClientId
  connectionId: string
  connectionName: string
  modelId: string
  effort: Effort
  efforts: readonly Effort[]
  credentialReady: boolean
  generation: number
}

/** `now`: the running worker's next request goes there. `next_turn`: the worker has to be opened again first. */
export type RuntimeEffect =
  | { kind: 'now' | 'next_turn'; historyStripped: boolean }
  | { kind: 'refused'; code: ErrorCode }

export interface RuntimeChange {
  sessionId: string
  client: ClientId
  choice: RuntimeChoice
  /** The person agreed that what only the old Provider can read is cut from the history, for good. */
  allowHistoryStrip: boolean
}

/** One running session in a switch of all of them. `to` keeps its model and effort where the new connection has them. */
export interface SwitchStep {
  sessionId: string
  from: RuntimeChoice
  to: RuntimeChoice
  effect: RuntimeEffect
}

/** A route that could not be read, or no longer says what the catalog says: advice, nothing was changed. */
export interface RouteNotice {
  sessionId: string
  /** Null: the session's own row, not a worker's. */
  workerId: string | null
  reason: 'malformed' | 'connection_gone' | 'contract_changed'
}

/**
 * Secrets under refs that begin with one system's own prefix. Errors as the credential store's:
 * `credential_store_unavailable`, `credential_store_failed`.
 */
export interface SecretSlots {
  /** Can it take a secret now? Never throws. */
  available(): Promise<boolean>
  set(ref: string, secret: Secret): Promise<PersistOutcome>
  /** Null: there is none, for certain. */
  get(ref: string): Promise<Secret | null>
  delete(ref: string): Promise<PersistOutcome>
  /** All refs with the prefix; null where the store cannot say. */
  refs(): Promise<readonly string[] | null>
}

export interface Providers {
  /**
   * Loads catalog, credentials and routes; sweeps orphaned keys. Listens only where a route of before is still open.
   * A catalog that cannot be trusted leaves this system unavailable: `failure()` says why, every call throws it, and the
   * file is not touched. Never throws for that.
   */
  start(signal: AbortSignal): Promise<void>
  stop(): Promise<void>
  /** `model_profiles_unavailable` with the reason, or null. */
  failure(): AppError | null
  notices(): readonly RouteNotice[]

  catalog(): Promise<CatalogView>
  /** Told after each change of the catalog, of a connection's models, or of what is ready. Never inside a lock. */
  onChange(listener: () => void): () => void
  /**
   * Creates or updates a connection, and stages its key, as one transaction: no moment mixes an old address with a new
   * key. `key: null` keeps the stored one.
   * @throws AppError `model_profile_conflict` (detail: the revision of now), `model_profile_invalid`,
   * `model_profile_unsupported`, `model_profile_not_found`, `upstream_address_blocked`, `credential_store_unavailable`,
   * `credential_store_failed`, `file_failed`.
   */
  saveConnection(
    input: ConnectionInput,
    key: Secret | null,
    revision: number,
    mode: 'create' | 'update',
  ): Promise<Applied<CatalogView>>
  /** A sibling for another client, its key copied inside the store. Errors as `saveConnection`. */
  copyConnection(id: string, to: { client: ClientId; name: string }, revision: number): Promise<Applied<CatalogView>>
  clearCredential(id: string, revision: number): Promise<Applied<CatalogView>>
  /**
   * Moves every key to the other backend: copied, read back, and only then recorded and deleted from the old one.
   * @throws AppError `credential_store_unavailable`, `credential_store_failed`: nothing was moved.
   */
  moveCredentials(to: 'keychain' | 'file'): Promise<Applied<CatalogView>>
  /** The presets whose program answers on this machine now. */
  findLocal(signal: AbortSignal): Promise<readonly PresetId[]>
  /**
   * @throws AppError `model_profile_in_use` (detail: the clients and sessions that use it, as their choice or in a
   * failover chain), `credential_store_failed`.
   */
  deleteConnection(id: string, revision: number): Promise<Applied<CatalogView>>
  /**
   * Null clears it, and its failover rule with it. An empty `modelId` keeps the recorded one, for the same connection
   * alone. The rule stays, without what is the default now.
   */
  setDefault(
    client: ClientId,
    to: Pick<ClientDefault, 'connectionId' | 'modelId'> | null,
    revision: number,
  ): Promise<Applied<CatalogView>>
  /**
   * The rule of the client's default; null: none.
   * @throws AppError `model_profile_conflict`, `model_profile_invalid` (no default, or a chain that breaks its bounds),
   * `model_profile_not_found`, `model_profile_unsupported` (another client, another API).
   */
  setFailover(client: ClientId, rule: FailoverRule | null, revision: number): Promise<Applied<CatalogView>>

  /** One bounded request (10 s) that writes nothing. @throws AppError `model_profile_credential_not_ready`, `upstream_*`. */
  testConnection(input: TestInput, signal: AbortSignal): Promise<{ modelCount: number; latencyMs: number }>
  /** The account's models; asked anew after 5 minutes or by `force`. */
  discover(id: string, options: { force: boolean }, signal: AbortSignal): Promise<Discovery>
  /** Takes the whole wanted set; the revision does not move. */
  setEnabledModels(id: string, enabledIds: readonly string[]): Promise<Applied<CatalogView>>

  /** Whether there is such a connection. @throws AppError as `failure`. */
  hasConnection(id: string): boolean
  /** Null: there is no such connection. */
  connectionName(id: string): string | null
  /** What a session of this client may run on, the default first. The agent's own login is not among them. */
  choices(client: ClientId): readonly ProviderChoice[]
  /** The client's default as a choice; null: its own login. */
  defaultChoice(client: ClientId): RuntimeChoice | null

  /**
   * The asynchronous half of a launch, before the transaction: the Router listens, the key can be read, files that the
   * plan names are written. Holds nothing; call it again if much time passes. Does nothing for an own login.
   * @throws AppError `route_listener_failed`, `model_profile_credential_not_ready`, `credential_store_unavailable`;
   * `model_profile_unsupported`: a settings file of Claude Code leads around the Router.
   */
  prepareWorker(request: LaunchRequest, signal: AbortSignal): Promise<void>
  /**
   * Binds a new route for the worker inside the caller's transaction: one row, one commit, and nothing is routed before
   * that commit. Null: the agent's own login, no row. A worker that is bound already gets a new route id, and the old one
   * is dead with the commit.
   * @throws AppError `model_profile_not_found`, `model_profile_unsupported`, `upstream_model_required`,
   * `model_unsupported`, `reasoning_effort_unsupported`, `model_profile_credential_not_ready`, `route_listener_failed`,
   * `route_limit_reached`, `route_binding_incompatible`, `route_snapshot_invalid`.
   */
  bindWorker(request: LaunchRequest, tx: Tx): RoutePlan | null
  /**
   * Ends the worker's route. Only with the proof that its process group is gone: a route outlives doubt. A worker without
   * a route succeeds. Not applied: the route is kept, call again.
   */
  unbindWorker(workerId: string, proof: { kind: 'gone' }): Promise<PersistOutcome>
  /** Every worker that has a route, readable or not; none while Providers cannot be used. */
  boundWorkers(): readonly string[]
  /** Whether requests of this worker may go by the failover rule: as the run that it works for says. */
  allowFailover(workerId: string, allowed: boolean): void
  /** Drops what is remembered of a session (history marks, choice). @throws AppError `session_still_live`: it has a route. */
  forgetSession(sessionId: string, tx: Tx): void

  /** What `changeRuntime` would answer. Changes nothing. */
  previewRuntime(change: RuntimeChange): RuntimeEffect
  /** Moves the session's open routes where the client allows it, in the caller's transaction; a refusal writes nothing. */
  changeRuntime(change: RuntimeChange, tx: Tx): RuntimeEffect
  /**
   * What the client's default becomes when it is switched to that connection: the recorded model where that is offered.
   * @throws AppError `model_profile_not_found`, `model_profile_unsupported`, `upstream_model_required`.
   */
  switchTarget(client: ClientId, connectionId: string): ClientDefault
  /** For every session of the client with an open route: what a switch would do to it. Errors as `switchTarget`. */
  previewSwitch(client: ClientId, connectionId: string, options: { allowHistoryStrip: boolean }): readonly SwitchStep[]
  /** Null: no open route. */
  sessionRuntime(sessionId: string): SessionRuntimeView | null

  /** A part of the credential store for another system's secrets. @throws AppError `model_profiles_unavailable`. */
  slots(prefix: string): SecretSlots

  /** What the Router counted in the last days, one row a key; days in their order, everything else by requests. */
  usage(by: UsageBy, days: number): Promise<readonly UsageRow[]>
  lastExchange(sessionId: string): ExchangeRecord | null
  onExchange(listener: (exchange: ExchangeRecord) => void): () => void
  /**
   * The machine gateway and what leads to it. Where the catalog cannot be read it serves nothing and refuses by
   * `model_profiles_unavailable`, but config files are still given back. @throws AppError `model_profiles_unavailable`.
   */
  gateway(): MachineGateway
  /** Told when the gateway's status, or a config file that is taken over, may have changed. */
  onGatewayChange(listener: () => void): () => void
  /** The newest requests of routes and gateway, the newest first; forgotten with the host. */
  requests(): readonly Inspected[]
  onRequest(listener: (request: Inspected) => void): () => void
  /** The inspector was switched off: it keeps nothing of before. */
  forgetRequests(): void
  /** Forgets every key held in memory: on lock and on sleep. The next request reads the store again. */
  dropKeys(): void
}
