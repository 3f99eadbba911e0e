/**
 * The two libraries that reach the system's keychain. Both are optional native modules: each is loaded through
 * `createRequire` behind an interface of ours, so that the product builds and runs where one could not be built.
 */
import { createRequire } from 'node:module'
import type { KeychainLibrary, KeychainName } from './types.ts'

const SERVICE = 'wheelhouse'
// Not called `require`: the bundler takes that name for its own.
const load = createRequire(import.meta.url)

interface Keytar {
  getPassword(service: string, account: string): Promise<string | null>
  setPassword(service: string, account: string, password: string): Promise<void>
  deletePassword(service: string, account: string): Promise<boolean>
  findCredentials(service: string): Promise<readonly { account: string; password: string }[]>
}

interface NapiEntry {
  getPassword(): Promise<string | null>
  setPassword(password: string): Promise<void>
  deleteCredential(): Promise<boolean>
}

interface NapiKeyring {
  AsyncEntry: new (service: string, account: string, options: { linux: { store: string } }) => NapiEntry
  findCredentialsAsync(service: string): Promise<readonly { account: string; password: string }[]>
}

/** Null: the library is not installed here. `service` sets tests apart from the person's own items. */
export function loadKeychain(name: KeychainName, service: string = SERVICE): KeychainLibrary | null {
  try {
    return name === 'keytar'
      ? overKeytar(load('keytar') as Keytar, service)
      : overNapi(load('@napi-rs/keyring') as NapiKeyring, service)
  } catch {
    return null
  }
}

function overKeytar(keytar: Keytar, service: string): KeychainLibrary {
  return {
    name: 'keytar',
    get: (account) => keytar.getPassword(service, account),
    set: (account, text) => keytar.setPassword(service, account, text),
    delete: (account) => keytar.deletePassword(service, account),
    accounts: async () => namesOf(await keytar.findCredentials(service)),
  }
}

function overNapi(napi: NapiKeyring, service: string): KeychainLibrary {
  // Unpinned, it falls back in silence to the kernel's keyring, which forgets everything at a restart.
  const entry = (account: string): NapiEntry =>
    new napi.AsyncEntry(service, account, { linux: { store: 'secret-service' } })
  return {
    name: 'napi_keyring',
    get: async (account) => entry(account).getPassword(),
    set: async (account, text) => entry(account).setPassword(text),
    delete: async (account) => entry(account).deleteCredential(),
    accounts: async () => namesOf(await napi.findCredentialsAsync(service)),
  }
}

/** The find calls bring passwords along: they are dropped here. */
function namesOf(found: readonly { account: string }[]): readonly string[] {
  return found.map((item) => item.account)
}
