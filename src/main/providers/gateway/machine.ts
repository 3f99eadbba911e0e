/** The gateway with what leads to it: its local key, the account of each client, and the config files that name it. */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../../shared/errors.ts'
import type { ErrorCode } from '../../../shared/errors.ts'
import type { PersistOutcome } from '../../../shared/vocabulary.ts'
import { createSecret, withDeadline } from '../../platform/index.ts'
import type { Clock, DurableFile, Failpoints, Ids, Log, Secret } from '../../platform/types.ts'
import type { Attempt } from '../breaker/index.ts'
import type { CatalogState } from '../catalog/state.ts'
import type { Keys } from '../credentials/keys.ts'
import { createMutex } from '../mutex.ts'
import { addressOf, authOf } from '../presets.ts'
import { readKey, resolveAddress } from '../router-port.ts'
import type { Exchange } from '../router/types.ts'
import { createRecords, createSurroundings, createTakeover, PROJECTORS } from '../takeover/index.ts'
import type { Takeover, TakeoverClient, TakeoverStatus } from '../takeover/index.ts'
import type { ClientId, ProviderConnection } from '../types.ts'
import type { Upstream } from '../upstream/index.ts'
import { createGatewayFile } from './gateway-file.ts'
import type { GatewayChoice } from './gateway-file.ts'
import { createGateway } from './gateway.ts'
import type { Gateway, GatewayUpstream } from './gateway.ts'

const LOCAL_KEY = 'gateway:local'
const KEY_BYTES = 32
const STOP_MS = 3_000
/** How often the files that are taken over are looked at, for what a person or a client changes in them. */
const WATCH_MS = 5_000
const CLIENTS: readonly TakeoverClient[] = ['codex', 'claude']

export interface MachineGatewayDeps {
  clock: Clock
  ids: Ids
  log: Log
  files: DurableFile
  failpoints: Failpoints
  /** `<data>/providers`. */
  dir: string
  environment: () => Readonly<Record<string, string | undefined>>
  home: string
  managedSettings?: string | undefined
  /** The setting `gatewayPort`. */
  port: () => number
  keys: Keys
  state: CatalogState
  upstream: Upstream
  bodyCapBytes: () => number
  environmentKey: (name: string) => Secret | null
  rehearsalOrigin: () => string | null
  ready: () => boolean
  begin: (connectionId: string) => Attempt | null
  record: (exchange: Exchange) => void
  onChange: () => void
  /** A quit could not give a config file back, or not record that it did. */
  onLeft?: ((error: unknown) => void) | undefined
  /** Why there is nothing to serve: then it listens nowhere, and files are only taken back. */
  failure?: AppError
}

export interface GatewayStatus {
  readonly listening: boolean
  readonly address: string
  /** Why it does not listen, where it should. */
  readonly code: ErrorCode | null
  /** Connection ids. */
  readonly upstreams: Readonly<Record<TakeoverClient, string | null>>
  readonly takeovers: readonly TakeoverStatus[]
}

export interface MachineGateway {
  status(): Promise<GatewayStatus>
  takeover(client: TakeoverClient): Takeover
  /** The next request of the client goes there; a running one ends where it began. Null: nowhere. @throws AppError `model_profile_not_found`, `model_profile_invalid`. */
  setUpstream(client: TakeoverClient, connectionId: string | null): Promise<PersistOutcome>
  /**
   * A new local key. The old one opens nothing from then on; the files that are taken over get the new one, but for those
   * that a person changed: they wait for a repair. @throws AppError `credential_store_unavailable`, `credential_store_failed`;
   * as a takeover's `repair`: there is a new key, and the files that the message names still hold the old one.
   */
  rotateKey(): Promise<PersistOutcome>
  /** A switch of the client's Provider: the gateway goes along where it serves that client. */
  follow(client: ClientId, connectionId: string): Promise<void>
  /** The clients whose requests go to that connection. */
  usesOf(connectionId: string): readonly TakeoverClient[]
  /** Null: not listening. */
  port(): number | null
  /** Listens where it did before. `resume`: takes up takeovers, too; else files are left as they are. */
  start(options: { resume: boolean }): Promise<void>
  stop(options: { keepTakeover: boolean }): Promise<void>
}

/** A file of its own that cannot be read stops the gateway alone: it listens nowhere, and says so by its code. */
export async function openMachineGateway(deps: MachineGatewayDeps): Promise<MachineGateway> {
  const { clock, log, keys, state } = deps
  const file = createGatewayFile({ path: join(deps.dir, 'gateway.json'), files: deps.files })
  const lock = createMutex()
  const surroundings = createSurroundings({ ...deps, platform: process.platform })
  const loaded = await file.load().catch((error: unknown) => {
    if (error instanceof AppError) return error
    throw error
  })
  const unreadable = deps.failure ?? (loaded instanceof AppError ? loaded : null)
  if (unreadable !== null) log.error('the gateway cannot be used', { error: unreadable })
  let choice: GatewayChoice | null = loaded instanceof AppError ? null : loaded
  let code: ErrorCode | null = unreadable?.code ?? null
  let resumed = false
  let watch: Disposable | null = null
  const seen = new Map<TakeoverClient, string>()

  const gateway: Gateway = createGateway({
    clock,
    log,
    upstream: deps.upstream,
    bodyCapBytes: deps.bodyCapBytes,
    ready: deps.ready,
    localKey: () => keys.get(LOCAL_KEY),
    upstreamOf(client) {
      const row = find(choice?.[client])
      return row === null ? null : upstreamFrom(row)
    },
    keyOf: (upstream) => readKey({ keys: () => keys, environmentKey: deps.environmentKey }, upstream),
    addressOf: (upstream) => resolveAddress(upstream.baseUrl, deps.rehearsalOrigin),
    begin: deps.begin,
    record: deps.record,
  })

  function find(connectionId: string | undefined): ProviderConnection | null {
    return state.current().connections.find(({ id }) => id === connectionId) ?? null
  }

  const address = (): string => `127.0.0.1:${gateway.port() ?? deps.port()}`

  async function listen(): Promise<void> {
    if (unreadable !== null) throw unreadable
    if (gateway.port() !== null) return
    try {
      await gateway.listen(deps.port())
      code = null
    } catch (error) {
      code = error instanceof AppError ? error.code : 'internal'
      if (!(error instanceof AppError)) throw error
      throw new AppError(
        error.code,
        `Port ${deps.port()} of this machine is taken, so the gateway cannot listen. End what uses it, or choose another port in Settings.`,
        { detail: `port ${deps.port()}`, cause: error },
      )
    }
  }

  function ensureListening(): Promise<void> {
    return lock.run(async () => {
      await listen()
      if (choice === null) await save({})
    })
  }

  async function save(next: GatewayChoice): Promise<PersistOutcome> {
    if (unreadable !== null) throw unreadable
    const outcome = await file.save(next)
    choice = next
    return outcome
  }

  async function localKey(): Promise<Secret> {
    return (await keys.get(LOCAL_KEY)) ?? (await makeKey()).key
  }

  async function makeKey(): Promise<{ key: Secret; outcome: PersistOutcome }> {
    const key = createSecret(`whg_${Buffer.from(deps.ids.bytes(KEY_BYTES)).toString('base64url')}`)
    const outcome = await keys.set(LOCAL_KEY, key)
    if (!outcome.applied) throw new AppError('credential_store_failed', 'The gateway’s key could not be stored.')
    return { key, outcome }
  }

  /** A crash between the two is made good by the next start, which finds files with another key than its own. */
  async function rotateKey(): Promise<PersistOutcome> {
    const outcomes = [(await lock.run(makeKey)).outcome]
    const locked: LockedOut[] = []
    // The new key counts already: a file that cannot be written must not keep it from the others.
    for (const client of CLIENTS) {
      const { enabled, detail, configPath } = await takeovers[client].status()
      if (!enabled || detail !== 'address_changed') continue
      try {
        outcomes.push((await takeovers[client].repair()).outcome)
      } catch (error) {
        log.warn('a config file could not be given the new key', { client, error })
        locked.push({ configPath, error })
      }
    }
    deps.onChange()
    if (locked.length > 0) throw lockedOut(locked)
    return { applied: true, durable: outcomes.every(({ durable }) => durable) }
  }

  function makeTakeover(client: TakeoverClient): Takeover {
    return createTakeover({
      ...deps,
      projector: PROJECTORS[client],
      records: createRecords({ client, dir: join(deps.dir, 'takeover'), files: deps.files, clock }),
      gateway: {
        ensureListening,
        isListening: () => gateway.port() !== null,
        async target() {
          return { address: address(), key: (await lock.run(localKey)).reveal('local_key_file') }
        },
        async knownTarget() {
          const key = await keys.get(LOCAL_KEY).catch(() => null)
          return key === null ? null : { address: address(), key: key.reveal('local_key_file') }
        },
        ensureUpstream: () =>
          lock.run(async () => {
            const first = state.current().defaults[client]?.connectionId
            if (find(choice?.[client]) === null && first !== undefined) await save({ ...choice, [client]: first })
          }),
      },
      configPath: () => surroundings.configPath(client),
      surroundings: (path, kind) => surroundings.warnings(client, path, kind),
      preferredKind: () => surroundings.preferredKind(client),
    })
  }
  const takeovers: Readonly<Record<TakeoverClient, Takeover>> = {
    codex: makeTakeover('codex'),
    claude: makeTakeover('claude'),
  }

  async function setUpstream(client: TakeoverClient, connectionId: string | null): Promise<PersistOutcome> {
    const outcome = await lock.run(async () => {
      if (unreadable !== null) throw unreadable
      const row = find(connectionId ?? undefined)
      if (connectionId !== null && row === null) {
        throw new AppError('model_profile_not_found', 'This Provider no longer exists.', { detail: connectionId })
      }
      if (row !== null && row.client !== client) {
        throw new AppError('model_profile_invalid', 'This Provider belongs to another agent.')
      }
      const { [client]: _old, ...others } = choice ?? {}
      return await save(row === null ? others : { ...others, [client]: row.id })
    })
    await ensureListening().catch((error: unknown) => log.warn('the gateway does not listen', { error }))
    deps.onChange()
    return outcome
  }

  /** Tells when a file that is taken over looks different from before; what that means, the status says. */
  async function look(): Promise<void> {
    let changed = false
    for (const client of CLIENTS) {
      const { enabled, configPath } = await takeovers[client].status()
      const now = enabled ? await fingerprint(configPath) : 'off'
      // What was switched on since the last look may be edited by now, before the first look too.
      changed ||= (seen.get(client) ?? 'off') !== now
      seen.set(client, now)
    }
    if (changed) deps.onChange()
  }

  function watchOn(): void {
    watch = clock.after(WATCH_MS, () => {
      look()
        .catch((error: unknown) => log.warn('the config files of agents could not be looked at', { error }))
        .finally(() => {
          if (watch !== null) watchOn()
        })
    })
  }

  return {
    async status() {
      return {
        listening: gateway.port() !== null,
        address: address(),
        code,
        upstreams: { codex: find(choice?.codex)?.id ?? null, claude: find(choice?.claude)?.id ?? null },
        takeovers: await Promise.all(CLIENTS.map((client) => takeovers[client].status())),
      }
    },
    takeover: (client) => takeovers[client],
    setUpstream,
    rotateKey,
    async follow(client, connectionId) {
      if (client !== 'builtin' && choice?.[client] !== undefined) await setUpstream(client, connectionId)
    },
    usesOf: (connectionId) => CLIENTS.filter((client) => choice?.[client] === connectionId),
    port: () => gateway.port(),
    async start({ resume }) {
      resumed = resume
      if (!resume) return
      if (choice !== null) {
        await ensureListening().catch((error: unknown) => log.warn('the gateway does not listen', { error }))
      }
      for (const client of CLIENTS) await takeovers[client].start()
      watchOn()
    },
    async stop({ keepTakeover }) {
      watch?.[Symbol.dispose]()
      watch = null
      for (const client of CLIENTS) {
        await takeovers[client].stop({ keep: keepTakeover || !resumed }).catch((error: unknown) => {
          log.warn('a takeover could not be switched off', { client, error })
          deps.onLeft?.(error)
        })
      }
      await withDeadline(clock, STOP_MS, undefined, (signal) => gateway.stop(signal)).catch((error: unknown) =>
        log.warn('the gateway was cut', { error }),
      )
    },
  }
}

/** A file that still holds the old key, and why. */
interface LockedOut {
  readonly configPath: string
  readonly error: unknown
}

function lockedOut(files: readonly LockedOut[]): AppError {
  const [first] = files
  const names = files.map(({ configPath, error }) => `${configPath} (${whyOf(error)})`).join(' and ')
  const code = first?.error instanceof AppError ? first.error.code : 'internal'
  return new AppError(
    code,
    `The gateway has a new key, but the old one, which opens nothing any more, still stands in ${names}. Repair it there once that is mended.`,
    { cause: first?.error },
  )
}

/** Its own message may say that nothing was changed. */
function whyOf(error: unknown): string {
  if (!(error instanceof AppError)) return 'the log has the details'
  if (error.code === 'storage_full') return 'the disk is full'
  return error.code === 'takeover_config_unwritable' && error.detail !== undefined
    ? error.detail
    : 'it could not be written'
}

async function fingerprint(path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs } = await stat(path, { bigint: true })
    return `${ino} ${size} ${mtimeNs}`
  } catch {
    return 'missing'
  }
}

function upstreamFrom(row: ProviderConnection): GatewayUpstream {
  return Object.freeze({
    connectionId: row.id,
    connectionName: row.name,
    preset: row.preset,
    baseUrl: addressOf(row),
    authMode: authOf(row),
    credentialRef: row.credentialRef ?? null,
    credentialEnv: row.credentialEnv ?? null,
  })
}
