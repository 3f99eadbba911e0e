import type { PersistOutcome } from '../../../shared/vocabulary.ts'
import type { Secret } from '../../platform/types.ts'

/** Where keys are kept. Refs are opaque; `provider:*` are connections' keys. */
export interface CredentialStore {
  readonly backend: 'keychain' | 'file' | 'memory'
  /** Can it accept a write now? Never throws. */
  available(): Promise<boolean>
  /** Replaces. @throws AppError `credential_store_unavailable`, `credential_store_failed`, as all below. */
  set(ref: string, secret: Secret): Promise<PersistOutcome>
  /** Null: there is no such key, for certain; a store that cannot tell throws. */
  get(ref: string): Promise<Secret | null>
  /** A missing ref is `{ applied: true, durable: true }`. */
  delete(ref: string): Promise<PersistOutcome>
  /** Sorted; never values. */
  refs(): Promise<readonly string[]>
}

/** One system keychain as a library reaches it. Methods throw whatever the library throws. */
export interface KeychainLibrary {
  readonly name: KeychainName
  get(account: string): Promise<string | null>
  set(account: string, text: string): Promise<void>
  delete(account: string): Promise<boolean>
  accounts(): Promise<readonly string[]>
}

/** The two reach the same keychain but not each other's items, so which one holds the keys is recorded. */
export type KeychainName = 'keytar' | 'napi_keyring'
