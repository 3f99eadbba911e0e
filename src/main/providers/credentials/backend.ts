/**
 * Which backend holds the keys. The first start probes and records the answer; later starts use the recorded one or say
 * that it cannot be used. Never a silent change: every key would seem lost.
 */
import { join } from 'node:path'
import { z } from 'zod'
import { AppError } from '../../../shared/errors.ts'
import type { Clock, DurableFile, Ids, Log } from '../../platform/types.ts'
import { createFileStore } from './file-store.ts'
import { loadKeychain } from './keychain-libraries.ts'
import { createKeychainStore } from './keychain-store.ts'
import type { CredentialStore, KeychainLibrary, KeychainName } from './types.ts'

const MAX_BYTES = 4096
const KEYCHAINS: readonly KeychainName[] = ['keytar', 'napi_keyring']

const Recorded = z.discriminatedUnion('backend', [
  z.strictObject({
    version: z.literal(1),
    backend: z.literal('keychain'),
    library: z.enum(['keytar', 'napi_keyring']),
  }),
  z.strictObject({ version: z.literal(1), backend: z.literal('file') }),
])
type Recorded = z.infer<typeof Recorded>

export interface BackendDeps {
  /** `<data>/providers/secrets`. */
  dir: string
  clock: Clock
  ids: Ids
  log: Log
  files: DurableFile
  /** Null: not installed. */
  keychain?: (name: KeychainName) => KeychainLibrary | null
}

/**
 * Opens the recorded store, or probes and records one.
 * @throws AppError `credential_store_unavailable`: the recorded one cannot even be loaded, or the record is unreadable.
 */
export async function openCredentialStore(deps: BackendDeps): Promise<CredentialStore> {
  const recorded = await readRecord(deps)
  return recorded === null ? await probeAndRecord(deps) : open(deps, recorded)
}

/**
 * Opens the store of that kind, whatever is recorded; `flip` records it.
 * @throws AppError `credential_store_unavailable`: there is none on this machine that takes a key now.
 */
export async function openOtherStore(
  deps: BackendDeps,
  kind: 'keychain' | 'file',
): Promise<{ store: CredentialStore; flip: () => Promise<void> }> {
  if (kind === 'file') {
    return { store: createFileStore(deps), flip: () => record(deps, { version: 1, backend: 'file' }) }
  }
  const found = await findKeychain(deps)
  if (found === null) throw unavailable('no keychain on this machine takes a key now')
  const { library, store } = found
  return { store, flip: () => record(deps, { version: 1, backend: 'keychain', library }) }
}

async function findKeychain(deps: BackendDeps): Promise<{ library: KeychainName; store: CredentialStore } | null> {
  for (const library of KEYCHAINS) {
    const loaded = (deps.keychain ?? loadKeychain)(library)
    if (loaded === null) continue
    const store = createKeychainStore({ library: loaded, clock: deps.clock, ids: deps.ids })
    if (await store.available()) return { library, store }
  }
  return null
}

async function probeAndRecord(deps: BackendDeps): Promise<CredentialStore> {
  const found = await findKeychain(deps)
  if (found !== null) {
    await record(deps, { version: 1, backend: 'keychain', library: found.library })
    return found.store
  }
  const store = createFileStore(deps)
  if (!(await store.available())) throw unavailable('neither a keychain nor a private file can be used')
  await record(deps, { version: 1, backend: 'file' })
  deps.log.warn('no keychain can be used: keys are kept in a private file, not encrypted')
  return store
}

function open(deps: BackendDeps, recorded: Recorded): CredentialStore {
  if (recorded.backend === 'file') return createFileStore(deps)
  const library = (deps.keychain ?? loadKeychain)(recorded.library)
  if (library === null) throw unavailable(`the keys are in the keychain by ${recorded.library}, which is not installed`)
  return createKeychainStore({ library, clock: deps.clock, ids: deps.ids })
}

async function readRecord(deps: BackendDeps): Promise<Recorded | null> {
  const bytes = await deps.files.read(recordPath(deps), { maxBytes: MAX_BYTES })
  if (bytes === null) return null
  try {
    return Recorded.parse(JSON.parse(Buffer.from(bytes).toString('utf8')))
  } catch (cause) {
    throw unavailable(`${recordPath(deps)} cannot be read`, cause)
  }
}

async function record(deps: BackendDeps, value: Recorded): Promise<void> {
  const outcome = await deps.files.write(recordPath(deps), `${JSON.stringify(value)}\n`)
  if (!outcome.applied) throw unavailable(`${recordPath(deps)} could not be written`)
}

function recordPath(deps: BackendDeps): string {
  return join(deps.dir, 'backend.json')
}

function unavailable(detail: string, cause?: unknown): AppError {
  return new AppError('credential_store_unavailable', 'The place where your keys are kept cannot be used.', {
    detail,
    ...(cause === undefined ? {} : { cause }),
  })
}

/** Stands in for a recorded store that could not be opened: everything else keeps working, no key is ready. */
export function createClosedStore(reason: AppError): CredentialStore {
  const refuse = async (): Promise<never> => {
    throw reason
  }
  return {
    backend: 'keychain',
    available: async () => false,
    set: refuse,
    get: refuse,
    delete: refuse,
    refs: refuse,
  }
}
