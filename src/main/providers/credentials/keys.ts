/**
 * The keys of connections as the rest of Providers uses them: a bounded cache that spares a keychain call per request,
 * what is known to be there, and the hints. Only the cache ever holds a key, and it can be dropped.
 */
import { AppError } from '../../../shared/errors.ts'
import type { Log, PersistOutcome, Secret, SecretRegistry } from '../../platform/types.ts'
import { createMutex } from '../mutex.ts'
import { credentialHint } from './hint.ts'
import type { CredentialStore } from './types.ts'

const CACHED_KEYS = 256

export interface Keys {
  readonly backend: CredentialStore['backend']
  available(): Promise<boolean>
  set(ref: string, secret: Secret): Promise<PersistOutcome>
  /** @throws AppError `credential_store_unavailable`, `credential_store_failed`. */
  get(ref: string): Promise<Secret | null>
  delete(ref: string): Promise<PersistOutcome>
  /** Asks the store which refs it holds, so that `has` can answer. Its failure is remembered as "nothing is ready". */
  survey(): Promise<readonly string[] | null>
  /** Whether a key stands under that ref, as far as is known. */
  has(ref: string): boolean
  /** Null: no key, or it was not read yet: `loadHints` first. */
  hint(ref: string): string | null
  loadHints(refs: readonly string[]): Promise<void>
  drop(): void
  /** The same keys, held from then on by the store that `work` answers; no key is written meanwhile. */
  move(work: (from: CredentialStore) => Promise<CredentialStore>): Promise<void>
}

interface Held {
  secret: Secret
  registered: Disposable
}

export function createKeys(deps: { store: CredentialStore; secrets: SecretRegistry; log: Log }): Keys {
  const { secrets, log } = deps
  let { store } = deps
  const writing = createMutex()
  const held = new Map<string, Held>()
  const present = new Set<string>()
  const hints = new Map<string, string>()
  // A read that was under way while the slot changed must not put the old key back.
  let version = 0

  function forget(ref: string): void {
    version += 1
    held.get(ref)?.registered[Symbol.dispose]()
    held.delete(ref)
    hints.delete(ref)
  }

  function hold(ref: string, secret: Secret): void {
    held.get(ref)?.registered[Symbol.dispose]()
    held.delete(ref)
    held.set(ref, { secret, registered: secrets.add(secret, 'provider key') })
    hints.set(ref, credentialHint(secret.reveal('store')))
    const oldest = held.keys().next()
    if (held.size <= CACHED_KEYS || oldest.done === true) return
    held.get(oldest.value)?.registered[Symbol.dispose]()
    held.delete(oldest.value)
  }

  async function get(ref: string): Promise<Secret | null> {
    const cached = held.get(ref)
    if (cached !== undefined) return cached.secret
    const before = version
    const secret = await store.get(ref)
    if (version !== before) return secret
    if (secret === null) present.delete(ref)
    else {
      present.add(ref)
      hold(ref, secret)
    }
    return secret
  }

  return {
    get backend() {
      return store.backend
    },
    available: () => store.available(),
    set: (ref, secret) =>
      writing.run(async () => {
        const outcome = await store.set(ref, secret)
        // Only now: a read of before may have found the old one while this was under way.
        forget(ref)
        if (!outcome.applied) return outcome
        present.add(ref)
        hints.set(ref, credentialHint(secret.reveal('store')))
        return outcome
      }),
    get,
    delete: (ref) =>
      writing.run(async () => {
        const outcome = await store.delete(ref)
        forget(ref)
        if (outcome.applied) present.delete(ref)
        return outcome
      }),
    async survey() {
      try {
        const refs = await store.refs()
        present.clear()
        for (const ref of refs) present.add(ref)
        return refs
      } catch (error) {
        log.warn('the stored keys cannot be listed', { error })
        return null
      }
    },
    has: (ref) => present.has(ref),
    hint: (ref) => (present.has(ref) ? (hints.get(ref) ?? null) : null),
    async loadHints(refs) {
      for (const ref of refs) {
        if (!present.has(ref) || hints.has(ref)) continue
        try {
          await get(ref)
        } catch (error) {
          if (!(error instanceof AppError)) throw error
          log.warn('a stored key cannot be read', { code: error.code })
          return
        }
      }
    },
    drop() {
      version += 1
      for (const entry of held.values()) entry.registered[Symbol.dispose]()
      held.clear()
    },
    move: (work) =>
      writing.run(async () => {
        const next = await work(store)
        version += 1
        store = next
      }),
  }
}
