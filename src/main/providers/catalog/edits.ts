/**
 * The edits of connections. A save with a new key is one transaction over two stores: the key goes to a slot that no row
 * names yet (STAGE), one catalog write flips name, address and slot together (COMMIT), and the old slot is deleted
 * (CLEANUP). A crash anywhere leaves the old version whole or the new one; the next start sweeps the slot left over.
 */
import { AppError } from '../../../shared/errors.ts'
import type { PersistOutcome } from '../../../shared/vocabulary.ts'
import type { Failpoints, Ids, Log, Secret } from '../../platform/types.ts'
import type { Keys } from '../credentials/keys.ts'
import { addressOf } from '../presets.ts'
import type { Routes } from '../routes/routes.ts'
import type {
  ClientDefault,
  ClientId,
  ConnectionInput,
  CredentialRef,
  FailoverRule,
  ProviderConnection,
} from '../types.ts'
import { checkInput, checkOriginKeepsKey, checkUniqueName, invalid, isModelId } from '../validation.ts'
import { MAX_CONNECTIONS } from './catalog-file.ts'
import { checkRule, ruleAfter } from './rule.ts'
import type { CatalogState } from './state.ts'

export interface EditDeps {
  state: CatalogState
  keys: Keys
  routes: Routes
  ids: Ids
  log: Log
  failpoints: Failpoints
  /** Variables that the host named as holding keys. */
  allowedEnv: ReadonlySet<string>
  /** The clients that the gateway serves with that connection. */
  gatewayUses: (id: string) => readonly string[]
  /** Ports that Wheelhouse itself listens on. */
  ownPorts: () => ReadonlySet<number>
}

type Link = Pick<ClientDefault, 'connectionId' | 'modelId'>

export interface Edits {
  save(input: ConnectionInput, key: Secret | null, mode: 'create' | 'update'): Promise<PersistOutcome>
  clearCredential(id: string): Promise<PersistOutcome>
  remove(id: string): Promise<PersistOutcome>
  setDefault(client: ClientId, to: Link | null): Promise<PersistOutcome>
  setFailover(client: ClientId, rule: FailoverRule | null): Promise<PersistOutcome>
  /** A connection that is being deleted right now takes no new route. */
  isLeaving(id: string): boolean
  /**
   * Finishes what a crash left over: rotations into running sessions, then slots that nobody names. `sweep: false` where
   * a route could not be read: the key it names must not go.
   */
  recover(options: { sweep: boolean }): Promise<void>
}

/** Each call runs under the owner lock, after the revision was checked. */
export function createEdits(deps: EditDeps): Edits {
  const { state, keys, routes, ids, log, failpoints } = deps
  const leaving = new Set<string>()

  function find(id: string): ProviderConnection {
    const row = state.current().connections.find((candidate) => candidate.id === id)
    if (row !== undefined) return row
    throw new AppError('model_profile_not_found', 'This Provider no longer exists.', { detail: id })
  }

  async function save(input: ConnectionInput, key: Secret | null, mode: 'create' | 'update'): Promise<PersistOutcome> {
    const existing = await validateTarget(input, mode)
    const id = existing?.id ?? ids.next()
    const row = checkInput(input, { id, key, existing, allowedEnv: deps.allowedEnv, ownPorts: deps.ownPorts() })
    checkUniqueName(state.current(), row)
    if (existing !== null) checkOriginKeepsKey(row, existing, key)
    if (key === null) return await commit(row, existing)
    if (!(await keys.available())) throw storeUnavailable()

    failpoints.hit('providers.before_stage')
    const credentialRef = newRef(id)
    const staged = await keys.set(credentialRef, key)
    if (!staged.applied)
      throw new AppError('credential_store_failed', 'The key could not be stored. Nothing was changed.')
    failpoints.hit('providers.after_stage')
    const outcome = await commit({ ...row, credentialRef }, existing)
    return { applied: true, durable: outcome.durable && staged.durable }
  }

  async function validateTarget(input: ConnectionInput, mode: 'create' | 'update'): Promise<ProviderConnection | null> {
    if (mode === 'update') {
      if (input.id === undefined) throw invalid('id', 'An update names the connection that it changes.')
      return find(input.id)
    }
    if (input.id !== undefined) throw invalid('id', 'A new connection gets its id here.')
    if (state.current().connections.length < MAX_CONNECTIONS) return null
    throw invalid('name', `There are ${MAX_CONNECTIONS} connections already. Delete one first.`)
  }

  async function commit(row: ProviderConnection, existing: ProviderConnection | null): Promise<PersistOutcome> {
    const { connections, defaults } = state.current()
    failpoints.hit('providers.before_commit')
    let outcome: PersistOutcome
    try {
      outcome = await state.commit({
        connections: [...connections.filter((other) => other.id !== row.id), row],
        defaults,
      })
    } catch (error) {
      if (row.credentialRef !== undefined && row.credentialRef !== existing?.credentialRef)
        await discard(row.credentialRef)
      throw error
    }
    failpoints.hit('providers.after_commit')
    if (existing !== null) await settle(row, existing)
    return outcome
  }

  /** After the commit nothing may fail the save: what is left over here is finished at the next start. */
  async function settle(row: ProviderConnection, existing: ProviderConnection): Promise<void> {
    try {
      await rotateInto([row])
    } catch (error) {
      log.warn('running sessions keep the old key until they start again', { connectionId: row.id, error })
    }
    const old = existing.credentialRef
    failpoints.hit('providers.before_cleanup')
    if (old !== undefined && old !== row.credentialRef && !isNamed(old)) await discard(old)
    failpoints.hit('providers.after_cleanup')
  }

  /** A new key for the same address reaches sessions that run; a moved address does not, and keeps its old key. */
  async function rotateInto(rows: readonly ProviderConnection[]): Promise<void> {
    const byId = new Map(rows.map((row) => [row.id, row]))
    const edit = (route: ReturnType<Routes['all']>[number]) => {
      const row = byId.get(route.connectionId)
      const ref = row?.credentialRef ?? null
      const { binding } = route
      if (row === undefined || ref === null || binding.credentialRef === ref) return null
      if (binding.authMode === 'none' || addressOf(row) !== binding.upstreamBaseUrl) return null
      return { ...binding, credentialRef: ref }
    }
    if (routes.all().some((route) => edit(route) !== null)) await routes.rewrite(edit)
  }

  function isNamed(ref: string): boolean {
    return (
      state.current().connections.some((row) => row.credentialRef === ref) ||
      routes.all().some((route) => route.binding.credentialRef === ref)
    )
  }

  async function discard(ref: string): Promise<void> {
    try {
      await keys.delete(ref)
    } catch (error) {
      log.warn('a key that nothing names could not be deleted; the next start tries again', { error })
    }
  }

  async function clearCredential(id: string): Promise<PersistOutcome> {
    const row = find(id)
    if (row.credentialRef === undefined) return { applied: true, durable: true }
    const deleted = await deleteKey(row.credentialRef)
    const { connections, defaults } = state.current()
    const { credentialRef: _gone, ...rest } = row
    const outcome = await state.commit({
      connections: connections.map((other) => (other.id === id ? rest : other)),
      defaults,
    })
    return { applied: true, durable: outcome.durable && deleted.durable }
  }

  async function remove(id: string): Promise<PersistOutcome> {
    const row = find(id)
    const { connections, defaults } = state.current()
    const defaulting = Object.entries(defaults).flatMap(([client, entry]) =>
      entry.connectionId === id ? [client] : [],
    )
    const chains = Object.entries(defaults).flatMap(([client, { failover }]) =>
      failover?.chain.some((link) => link.connectionId === id) === true ? [client] : [],
    )
    const gateways = deps.gatewayUses(id)
    const bound = routes.all().flatMap((route) => (route.connectionId === id ? [route.sessionId] : []))
    const sessions = [...new Set(bound)]
    const users = new Set([...defaulting, ...gateways, ...chains, ...sessions])
    if (users.size > 0) {
      throw new AppError('model_profile_in_use', 'This Provider is in use. Choose another one there first.', {
        detail: [...users].join(', '),
        data: { clients: defaulting, gateways, chains, sessions },
      })
    }
    leaving.add(id)
    try {
      const deleted = row.credentialRef === undefined ? null : await deleteKey(row.credentialRef)
      const outcome = await state.commit({ connections: connections.filter((other) => other.id !== id), defaults })
      return { applied: true, durable: outcome.durable && deleted?.durable !== false }
    } finally {
      leaving.delete(id)
    }
  }

  async function deleteKey(ref: CredentialRef): Promise<PersistOutcome> {
    const outcome = await keys.delete(ref)
    if (outcome.applied) return outcome
    throw new AppError('credential_store_failed', 'The key could not be deleted. Nothing was changed.')
  }

  async function setDefault(client: ClientId, to: Link | null): Promise<PersistOutcome> {
    const { connections, defaults } = state.current()
    if (to === null) {
      const { [client]: _cleared, ...rest } = defaults
      return await state.commit({ connections, defaults: rest })
    }
    const row = find(to.connectionId)
    if (row.client !== client) {
      throw new AppError('model_profile_unsupported', 'This Provider belongs to another agent.', { detail: row.name })
    }
    const recorded = defaults[client]
    const kept = recorded?.connectionId === row.id ? recorded.modelId : ''
    const modelId = to.modelId === '' ? kept : to.modelId
    if (!isModelId(modelId)) throw invalid('modelId', 'Choose the model that this Provider is asked for.')
    const target = { connectionId: row.id, modelId }
    const rule = ruleAfter(recorded?.failover, target)
    const entry: ClientDefault = rule === null ? target : { ...target, failover: rule }
    return await state.commit({ connections, defaults: { ...defaults, [client]: entry } })
  }

  async function setFailover(client: ClientId, rule: FailoverRule | null): Promise<PersistOutcome> {
    const { connections, defaults } = state.current()
    const recorded = defaults[client]
    if (recorded === undefined) throw invalid('client', 'Choose a default Provider for this agent first.')
    const { failover: _before, ...target } = recorded
    if (rule !== null) checkRule(state.current(), client, target, rule)
    const entry: ClientDefault = rule === null ? target : { ...target, failover: rule }
    return await state.commit({ connections, defaults: { ...defaults, [client]: entry } })
  }

  async function recover({ sweep }: { sweep: boolean }): Promise<void> {
    try {
      await rotateInto(state.current().connections)
    } catch (error) {
      log.warn('running sessions keep the old key until they start again', { error })
    }
    const refs = await keys.survey()
    if (!sweep) return
    for (const ref of refs ?? []) if (ref.startsWith('provider:') && !isNamed(ref)) await discard(ref)
  }

  function newRef(id: string): CredentialRef {
    return `provider:${id}:${Buffer.from(ids.bytes(17)).toString('base64url').slice(0, 22)}`
  }

  return { save, clearCredential, remove, setDefault, setFailover, recover, isLeaving: (id) => leaving.has(id) }
}

function storeUnavailable(): AppError {
  return new AppError(
    'credential_store_unavailable',
    'The place where keys are kept does not take a key right now. Unlock your keychain, then save again.',
  )
}
