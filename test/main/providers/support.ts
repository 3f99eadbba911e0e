import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { AppError } from '../../../src/shared/errors.ts'
import type { ErrorCode } from '../../../src/shared/errors.ts'
import { createDurableFile } from '../../../src/main/platform/durable-file.ts'
import { createSecret, createSecretRegistry } from '../../../src/main/platform/index.ts'
import type { DurableFile } from '../../../src/main/platform/types.ts'
import { createProviders, providerMigrations } from '../../../src/main/providers/index.ts'
import type {
  CatalogView,
  ConnectionInput,
  LaunchRequest,
  Providers,
  ProvidersDeps,
  RoutePlan,
} from '../../../src/main/providers/index.ts'
import { createFakeClock } from '../../support/clock.ts'
import { createMemoryCredentials } from '../../support/credentials.ts'
import type { MemoryCredentials } from '../../support/credentials.ts'
import { createTempDir } from '../../support/dir.ts'
import { createFakeFailpoints } from '../../support/failpoints.ts'
import { createFakeIds } from '../../support/ids.ts'
import { createMemoryLog } from '../../support/log.ts'
import { openTestStore } from '../../support/store.ts'

export const CANARY = 'sk-canary-0123456789abcdef0123456789'
export const secret = createSecret

export type World = Awaited<ReturnType<typeof createWorld>>

/** One data folder that hosts open one after another: `await world.open()` starts one, `restart` ends it like a crash. */
export async function createWorld(options: Partial<ProvidersDeps> = {}) {
  const dir = createTempDir()
  const clock = createFakeClock()
  const log = createMemoryLog()
  const failpoints = createFakeFailpoints()
  const fileFailpoints = createFakeFailpoints()
  const credentials: MemoryCredentials = createMemoryCredentials()
  const environment: Record<string, string> = { CODEX_HOME: dir.at('codex-home') }
  const opened: { stop(): Promise<void> }[] = []
  let namespace = 0

  async function open() {
    namespace += 1
    const ids = createFakeIds(namespace)
    const store = await openTestStore(providerMigrations, { dir: dir.path })
    const files: DurableFile = createDurableFile({ ids, failpoints: fileFailpoints })
    const providers = createProviders({
      clock,
      ids,
      log,
      paths: { providers: dir.at('providers') },
      secrets: createSecretRegistry(),
      files,
      store,
      failpoints,
      environment: () => environment,
      rehearsalOrigin: () => null,
      bodyCapBytes: () => 8_388_608,
      upstreamProxy: () => 'none',
      openStore: async () => credentials,
      ...options,
    })
    let open = true
    const host = {
      providers,
      store,
      async stop() {
        if (!open) return
        open = false
        await providers.stop()
        store.close()
      },
    }
    opened.push(host)
    await providers.start(new AbortController().signal)
    return host
  }

  return {
    dir,
    clock,
    log,
    failpoints,
    fileFailpoints,
    credentials,
    environment,
    open,
    catalogText: (): string => {
      const path = dir.at('providers', 'catalog.json')
      return existsSync(path) ? readFileSync(path, 'utf8') : ''
    },
    async [Symbol.asyncDispose]() {
      for (const host of opened) await host.stop()
      dir[Symbol.dispose]()
    },
  }
}

export function codexInput(name: string, more: Partial<ConnectionInput> = {}): ConnectionInput {
  return { name, client: 'codex', preset: 'openai', ...more }
}

export function customInput(name: string, baseUrl: string, more: Partial<ConnectionInput> = {}): ConnectionInput {
  return { name, client: 'codex', preset: 'custom', baseUrl, ...more }
}

/** Creates a connection at the revision of now. */
export async function create(
  providers: Providers,
  input: ConnectionInput,
  key: string | null = CANARY,
): Promise<{ id: string; view: CatalogView }> {
  const { revision } = await providers.catalog()
  const applied = await providers.saveConnection(input, key === null ? null : secret(key), revision, 'create')
  const row = applied.value.connections.find((connection) => connection.name === input.name)
  return { id: row?.id ?? '', view: applied.value }
}

export function launch(connectionId: string | null, more: Partial<LaunchRequest> = {}): LaunchRequest {
  return {
    workerId: 'worker-1',
    sessionId: 'session-1',
    client: 'codex',
    form: 'app_server',
    choice: { connectionId, modelId: 'gpt-test', effort: 'default' },
    inherited: {},
    ...more,
  }
}

/** Prepare, then bind and commit in one transaction, as the executor does. */
export async function bind(
  host: { providers: Providers; store: ProvidersDeps['store'] },
  request: LaunchRequest,
): Promise<RoutePlan> {
  await host.providers.prepareWorker(request, new AbortController().signal)
  const plan = await host.store.writeTx((tx) => host.providers.bindWorker(request, tx))
  if (plan === null) throw new Error('the launch is not routed')
  return plan
}

export function routeKey(plan: RoutePlan): string {
  return plan.key?.reveal('local_key_file') ?? ''
}

/** Where the plan says that the route is. */
export function addressIn(plan: RoutePlan): string {
  const address = plan.config['openai_base_url']
  if (typeof address !== 'string') throw new Error('the plan names no address')
  return address
}

/** One model request of the agent on its route; answers the status. */
export async function askModel(plan: RoutePlan): Promise<number> {
  const answer = await fetch(`${addressIn(plan)}/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${routeKey(plan)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-test', input: [] }),
  })
  await answer.text()
  return answer.status
}

/** The code of the AppError that the work ends with; `none` where it succeeds. */
export async function codeOf(work: Promise<unknown> | (() => unknown)): Promise<ErrorCode | 'none'> {
  return (await errorOf(work))?.code ?? 'none'
}

export async function errorOf(work: Promise<unknown> | (() => unknown)): Promise<AppError | null> {
  try {
    await (typeof work === 'function' ? work() : work)
    return null
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

export interface FakeUpstream extends AsyncDisposable {
  readonly url: string
  /** What arrived, oldest first. */
  readonly requests: readonly { method: string; url: string; authorization: string; body: string }[]
  answer(handler: (request: IncomingMessage, response: ServerResponse) => void): void
}

/** A Provider on loopback that remembers what it was sent. */
export async function createFakeUpstream(): Promise<FakeUpstream> {
  const requests: { method: string; url: string; authorization: string; body: string }[] = []
  let handler = (_request: IncomingMessage, response: ServerResponse): void => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ data: [{ id: 'model-a' }, { id: 'model-b' }] }))
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      requests.push({
        method: request.method ?? '',
        url: request.url ?? '',
        authorization: request.headers.authorization ?? String(request.headers['x-api-key'] ?? ''),
        body: Buffer.concat(chunks).toString('utf8'),
      })
      handler(request, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    answer: (next) => void (handler = next),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Every file below the folder that holds the text. */
export function filesHolding(folder: string, text: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile() && readFileSync(path).includes(text))
}
