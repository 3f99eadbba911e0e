/** Providers on a data folder inside a session with a Secret Service: `<folder> <step>…`, prints one line of JSON per step. */
import { join } from 'node:path'
import { AppError } from '../../../../src/shared/errors.ts'
import { createDurableFile } from '../../../../src/main/platform/durable-file.ts'
import {
  createIds,
  createSecret,
  createSecretRegistry,
  createSystemClock,
  openStore,
} from '../../../../src/main/platform/index.ts'
import { createProviders, providerMigrations } from '../../../../src/main/providers/index.ts'
import { createFakeFailpoints } from '../../../support/failpoints.ts'
import { createMemoryLog } from '../../../support/log.ts'

const [, , folder = '', ...steps] = process.argv
const clock = createSystemClock()
const ids = createIds()
const log = createMemoryLog()
const failpoints = createFakeFailpoints()
const store = await openStore({
  path: join(folder, 'wheelhouse.db'),
  backupDir: join(folder, 'backups'),
  migrations: providerMigrations,
  clock,
  log,
})
const providers = createProviders({
  clock,
  ids,
  log,
  paths: { providers: join(folder, 'providers') },
  secrets: createSecretRegistry(),
  files: createDurableFile({ ids, failpoints }),
  store,
  failpoints,
  environment: () => ({ CODEX_HOME: folder }),
  rehearsalOrigin: () => null,
  bodyCapBytes: () => 1_048_576,
  upstreamProxy: () => 'none',
})
await providers.start(new AbortController().signal)

async function run(step: string): Promise<unknown> {
  const [verb, text = ''] = step.split('=')
  const { revision } = await providers.catalog()
  if (verb === 'save') {
    const input = { client: 'codex', preset: 'openai', name: `named ${revision}` } as const
    await providers.saveConnection(input, createSecret(text), revision, 'create')
  }
  if (verb === 'move') await providers.moveCredentials(text === 'file' ? 'file' : 'keychain')
  const { credentialBackend, connections } = await providers.catalog()
  return [credentialBackend, ...connections.map(({ credentialReady }) => credentialReady)]
}

for (const step of steps) {
  const said = await run(step).catch((error: unknown) => {
    if (error instanceof AppError) return error.code
    throw error
  })
  process.stdout.write(`${JSON.stringify(said)}\n`)
}
await providers.stop()
store.close()
