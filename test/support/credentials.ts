import { AppError } from '../../src/shared/errors.ts'
import type { CredentialStore } from '../../src/main/providers/credentials/types.ts'
import type { Secret } from '../../src/main/platform/types.ts'

export interface MemoryCredentials extends CredentialStore {
  setAvailable(available: boolean): void
  /** The named calls reject with `credential_store_failed`. */
  setFail(fail: { set?: boolean; get?: boolean; delete?: boolean }): void
  snapshotRefs(): readonly string[]
  /** How often the store was read, for caches. */
  reads(): number
}

/** Keys in memory: outlives a `stop` and a new `start`, as a keychain would. */
export function createMemoryCredentials(): MemoryCredentials {
  const entries = new Map<string, Secret>()
  let available = true
  let failing: { set?: boolean; get?: boolean; delete?: boolean } = {}
  let reads = 0

  function demand(call: 'set' | 'get' | 'delete' | 'refs'): void {
    if (!available) throw new AppError('credential_store_unavailable', 'The store of this test is closed.')
    if (call !== 'refs' && failing[call] === true) throw new AppError('credential_store_failed', `${call} fails here.`)
  }

  return {
    backend: 'memory',
    available: async () => available,
    async set(ref, secret) {
      demand('set')
      entries.set(ref, secret)
      return { applied: true, durable: true }
    },
    async get(ref) {
      demand('get')
      reads += 1
      return entries.get(ref) ?? null
    },
    async delete(ref) {
      demand('delete')
      entries.delete(ref)
      return { applied: true, durable: true }
    },
    async refs() {
      demand('refs')
      return [...entries.keys()].sort()
    },
    setAvailable: (value) => void (available = value),
    setFail: (fail) => void (failing = fail),
    snapshotRefs: () => [...entries.keys()].sort(),
    reads: () => reads,
  }
}
