import { join } from 'node:path'
import { createDurableFile } from '../../../src/main/platform/durable-file.ts'
import { createIds, createSecretRegistry, createSystemClock, openStore } from '../../../src/main/platform/index.ts'
import { createProviders, providerMigrations } from '../../../src/main/providers/index.ts'
import { createFileStore } from '../../../src/main/providers/credentials/file-store.ts'
import type { Failpoints, Store } from '../../../src/main/platform/types.ts'
import type { CredentialStore } from '../../../src/main/providers/credentials/types.ts'
import type { Providers } from '../../../src/main/providers/index.ts'
import { createMemoryLog } from '../../support/log.ts'

export interface Host extends AsyncDisposable {
  providers: Providers
  keys: CredentialStore
  store: Store
}

/** Providers over a data folder, with keys in the private file: all that a killed host leaves is on the disk. */
export async function openHost(folder: string, failpoints: Failpoints): Promise<Host> {
  const clock = createSystemClock()
  const ids = createIds()
  const log = createMemoryLog()
  const files = createDurableFile({ ids, failpoints })
  const store = await openStore({
    path: join(folder, 'wheelhouse.db'),
    backupDir: join(folder, 'backups'),
    migrations: providerMigrations,
    clock,
    log,
  })
  const keys = createFileStore({ dir: join(folder, 'providers', 'secrets'), files, log })
  const providers = createProviders({
    clock,
    ids,
    log,
    paths: { providers: join(folder, 'providers') },
    secrets: createSecretRegistry(),
    files,
    store,
    failpoints,
    environment: () => ({ CODEX_HOME: folder }),
    rehearsalOrigin: () => null,
    bodyCapBytes: () => 8_388_608,
    upstreamProxy: () => 'none',
    openStore: async () => keys,
  })
  await providers.start(new AbortController().signal)
  return {
    providers,
    keys,
    store,
    async [Symbol.asyncDispose]() {
      await providers.stop()
      store.close()
    },
  }
}
