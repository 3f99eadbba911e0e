/**
 * Keys in the system's keychain. A locked keychain answers "no such item" to a read, so a sentinel item of ours tells
 * locked from absent. Each call is bounded: a prompt that nobody answers counts as unavailable.
 */
import { AppError } from '../../../shared/errors.ts'
import { createSecret, withDeadline } from '../../platform/index.ts'
import type { Clock, Ids, Secret } from '../../platform/types.ts'
import type { CredentialStore, KeychainLibrary } from './types.ts'

const CALL_MS = 5_000
const PROBE_MS = 3_000
const SENTINEL = 'wheelhouse:sentinel'
const DONE = { applied: true, durable: true } as const

export function createKeychainStore(deps: { library: KeychainLibrary; clock: Clock; ids: Ids }): CredentialStore {
  const { library, clock, ids } = deps
  let probed: Promise<boolean> | null = null

  async function call<T>(what: string, work: () => Promise<T>, ms = CALL_MS): Promise<T> {
    try {
      return await withDeadline(clock, ms, undefined, work)
    } catch (error) {
      throw unavailable(`${what}: ${error instanceof Error ? error.message : 'unknown failure'}`, error)
    }
  }

  /** Throws unless the keychain is open: then a missing item is truly missing. */
  async function demandOpen(): Promise<void> {
    if ((await call('read the sentinel', () => library.get(SENTINEL))) !== null) return
    // Never set up, or deleted by hand: writing it succeeds. Locked: the write fails.
    await call('write the sentinel', () => library.set(SENTINEL, 'open'))
  }

  async function probe(): Promise<boolean> {
    const canary = `wheelhouse:canary:${ids.next()}`
    const expected = Buffer.from(ids.bytes(16)).toString('hex')
    try {
      return await call(
        'probe',
        async () => {
          await library.set(canary, expected)
          const read = await library.get(canary)
          await library.delete(canary)
          return read === expected
        },
        PROBE_MS,
      )
    } catch {
      return false
    }
  }

  return {
    backend: 'keychain',
    async available() {
      probed ??= probe()
      const answer = await probed
      // A no may become a yes once the person unlocks the keychain; a yes is asked once per process.
      if (!answer) probed = null
      return answer
    },
    async set(ref, secret) {
      await call('write a key', () => library.set(ref, secret.reveal('store')))
      return DONE
    },
    async get(ref): Promise<Secret | null> {
      const text = await call('read a key', () => library.get(ref))
      if (text !== null) return createSecret(text)
      await demandOpen()
      return null
    },
    async delete(ref) {
      if (!(await call('delete a key', () => library.delete(ref)))) await demandOpen()
      return DONE
    },
    async refs() {
      await demandOpen()
      const accounts = await call('list keys', () => library.accounts())
      return accounts.filter((account) => !account.startsWith('wheelhouse:')).sort()
    },
  }
}

function unavailable(detail: string, cause: unknown): AppError {
  return new AppError(
    'credential_store_unavailable',
    'The system keychain cannot be used right now. Unlock it, then try again.',
    { detail, cause },
  )
}
