/** Talking to a Provider about the account itself: the connection test and the list of its models. */
import { AppError } from '../../shared/errors.ts'
import { withDeadline } from '../platform/index.ts'
import type { Clock, Secret } from '../platform/types.ts'
import type { CatalogState } from './catalog/state.ts'
import type { DiscoveryOf } from './discovery/discovery.ts'
import { fetchModelList } from './discovery/model-list.ts'
import type { ListTarget } from './discovery/model-list.ts'
import { addressOf, authOf, protocolOf } from './presets.ts'
import { readKey, resolveAddress } from './router-port.ts'
import type { RouterPortDeps } from './router-port.ts'
import type { ProviderConnection, TestInput } from './types.ts'
import type { Upstream } from './upstream/index.ts'
import { checkInput } from './validation.ts'

/** All of a test, however many pages the list has. */
const TEST_MS = 10_000

export interface AccountDeps extends Pick<RouterPortDeps, 'keys' | 'environmentKey' | 'rehearsalOrigin'> {
  state: CatalogState
  upstream: Upstream
  clock: Clock
  ownPorts: () => ReadonlySet<number>
}

export interface Accounts {
  test(input: TestInput, signal: AbortSignal): Promise<{ modelCount: number; latencyMs: number }>
  /** How to ask a saved connection for its models. @throws AppError `model_profile_not_found`. */
  discovery(id: string): DiscoveryOf
}

export function createAccounts(deps: AccountDeps): Accounts {
  function find(id: string): ProviderConnection {
    const row = deps.state.current().connections.find((candidate) => candidate.id === id)
    if (row !== undefined) return row
    throw new AppError('model_profile_not_found', 'This connection no longer exists.', { detail: id })
  }

  function targetOf(row: ProviderConnection, key: Secret | null): ListTarget {
    const mode = authOf(row)
    if (mode !== 'none' && key === null) {
      throw new AppError('model_profile_credential_not_ready', 'This connection has no key. Add it first.', {
        detail: row.name,
      })
    }
    return {
      baseUrl: resolveAddress(addressOf(row), deps.rehearsalOrigin),
      protocol: protocolOf(row) ?? 'responses',
      auth: { mode, key: mode === 'none' ? null : key },
    }
  }

  async function savedTarget(row: ProviderConnection): Promise<ListTarget> {
    const key = await readKey(deps, {
      credentialRef: row.credentialRef ?? null,
      credentialEnv: row.credentialEnv ?? null,
      authMode: authOf(row),
    })
    return targetOf(row, key)
  }

  function unsavedTarget(input: Exclude<TestInput, { savedId: string }>): ListTarget {
    const { key, ...fields } = input
    const row = checkInput(
      { ...fields, name: 'unsaved' },
      { id: 'unsaved', key, existing: null, allowedEnv: new Set(), ownPorts: deps.ownPorts() },
    )
    return targetOf(row, key)
  }

  return {
    async test(input, signal) {
      const target = 'savedId' in input ? await savedTarget(find(input.savedId)) : unsavedTarget(input)
      const startedMs = deps.clock.monotonicMs()
      const { ids } = await withDeadline(deps.clock, TEST_MS, signal, (inner) =>
        fetchModelList(deps.upstream, target, inner),
      ).catch((error: unknown) => {
        if (!(error instanceof AppError) || error.code !== 'deadline_exceeded') throw error
        throw new AppError('upstream_timeout', 'The Provider did not answer in time.', { cause: error })
      })
      return { modelCount: ids?.length ?? 0, latencyMs: Math.round(deps.clock.monotonicMs() - startedMs) }
    },
    discovery(id) {
      const row = find(id)
      return {
        id,
        fingerprint: [addressOf(row), protocolOf(row), authOf(row), row.credentialRef, row.credentialEnv].join(' '),
        fetch: async (signal) => fetchModelList(deps.upstream, await savedTarget(row), signal),
      }
    },
  }
}
