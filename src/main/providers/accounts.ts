/** Talking to a Provider about the account itself: the connection test and the list of its models. */
import { AppError } from '../../shared/errors.ts'
import { withDeadline } from '../platform/index.ts'
import type { Account, Answers } from './answers.ts'
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
import { checkInput, checkOriginKeepsKey } from './validation.ts'

/** All of a test, however many pages the list has. */
const TEST_MS = 10_000

export interface AccountDeps extends Pick<RouterPortDeps, 'keys' | 'environmentKey' | 'rehearsalOrigin'> {
  state: CatalogState
  upstream: Upstream
  clock: Clock
  answers: Answers
  allowedEnv: ReadonlySet<string>
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
    throw new AppError('model_profile_not_found', 'This Provider no longer exists.', { detail: id })
  }

  function targetOf(row: ProviderConnection, key: Secret | null): ListTarget {
    const mode = authOf(row)
    if (mode !== 'none' && key === null) {
      throw new AppError('model_profile_credential_not_ready', keyless(row), {
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

  /** As it would be saved: an edit that brings no key goes on with the one that is stored, where that may go. */
  async function unsavedTarget(input: Exclude<TestInput, { savedId: string }>): Promise<ListTarget> {
    const { key, id = 'unsaved', ...fields } = input
    const existing = input.id === undefined ? null : find(input.id)
    const row = checkInput(
      { ...fields, name: existing?.name ?? 'unsaved' },
      { id, key, existing, allowedEnv: deps.allowedEnv, ownPorts: deps.ownPorts() },
    )
    if (existing !== null) checkOriginKeepsKey(row, existing, key)
    return key === null ? await savedTarget(row) : targetOf(row, key)
  }

  async function ask(target: ListTarget, signal: AbortSignal): Promise<{ modelCount: number; latencyMs: number }> {
    const startedMs = deps.clock.monotonicMs()
    const { ids } = await withDeadline(deps.clock, TEST_MS, signal, (inner) =>
      fetchModelList(deps.upstream, target, inner),
    ).catch((error: unknown) => {
      if (!(error instanceof AppError) || error.code !== 'deadline_exceeded') throw error
      throw new AppError('upstream_timeout', 'The Provider did not answer in time.', { cause: error })
    })
    return { modelCount: ids?.length ?? 0, latencyMs: Math.round(deps.clock.monotonicMs() - startedMs) }
  }

  return {
    async test(input, signal) {
      if (!('savedId' in input)) return await ask(await unsavedTarget(input), signal)
      const row = find(input.savedId)
      return await deps.answers.note(accountOf(row), signal, async () => await ask(await savedTarget(row), signal))
    },
    discovery(id) {
      const row = find(id)
      const account = accountOf(row)
      return {
        ...account,
        fetch: (signal) =>
          deps.answers.note(account, signal, async () => fetchModelList(deps.upstream, await savedTarget(row), signal)),
      }
    },
  }
}

/** Which account a row is, as far as asking it goes: another address or key is another one. */
export function accountOf(row: ProviderConnection): Account {
  const fingerprint = [addressOf(row), protocolOf(row), authOf(row), row.credentialRef, row.credentialEnv].join(' ')
  return { id: row.id, fingerprint }
}

function keyless({ credentialEnv }: ProviderConnection): string {
  return credentialEnv === undefined
    ? 'This Provider has no key. Add it first.'
    : `The variable ${credentialEnv} is not set. Set it where Wheelhouse is started, then start Wheelhouse again.`
}
