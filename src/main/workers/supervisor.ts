/** The door's inside: slots, opening with its one retry, and everything that ends workers. */
import { tmpdir } from 'node:os'
import type { Clock, Ids, Log, Paths, SecretRegistry } from '../platform/types.ts'
import type { DriverDeps, DriverFactory } from './drivers/shared/types.ts'
import { WorkerError } from './errors.ts'
import { createPrivateDir, sweepPrivateDirs } from './launch/private-dir.ts'
import { findProgram } from './launch/program.ts'
import { LIMITS, lowerLimits } from './limits.ts'
import { runProbe, startProbe } from './probe.ts'
import { closeOptions, endEach, releaseProcess } from './process/release.ts'
import { createPlatformTable } from './process/table.ts'
import { createSlots } from './slots.ts'
import type { Slot } from './slots.ts'
import { bareCommand, createStarter } from './start.ts'
import { createRedactor } from './text/redactor.ts'
import { createDescriptorProver } from './token/descriptor-prover.ts'
import { chooseSocketFolder } from './token/socket-folder.ts'
import { serveTokenAt } from './token/token-socket.ts'
import type {
  CloseOptions,
  Driver,
  DriverName,
  PeerProver,
  Preflight,
  PreflightCheck,
  PreflightRequest,
  ProcessIdentity,
  ProcessTable,
  ReleaseOutcome,
  Session,
  SessionConfig,
  Worker,
  Workers,
} from './types.ts'
import { startWorker } from './worker.ts'

export interface WorkersDeps {
  clock: Clock
  ids: Ids
  log: Log
  paths: Pick<Paths, 'workers'>
  secrets: SecretRegistry
  hostEnv: (name: string) => string | undefined
  /** Default: this platform's. */
  processes?: ProcessTable
  /** Default: by a file that the peer has to hold open. */
  peers?: PeerProver
}

/** Whose listing cannot be read is neither gone nor ours. */
const UNKNOWN: ReleaseOutcome = { kind: 'held', reason: 'identity_unknown', members: null, strays: [] }

export function createSupervisor(deps: WorkersDeps, factories: readonly DriverFactory[]): Workers {
  const { clock, ids, log, hostEnv } = deps
  const table = deps.processes ?? createPlatformTable(clock)
  const peers = deps.peers ?? createDescriptorProver({ table, ids })
  const slots = createSlots(clock)
  /** Whose private folders are this host's, whatever they are for: no sweep takes one away from under a start or a check. */
  const own = new Set<string>()
  const redactor: DriverDeps['redactor'] = (redaction) => createRedactor(deps.secrets, redaction)
  const shared = { table, clock, ids, log, redactor }
  const driverDeps: DriverDeps = {
    clock,
    ids,
    log,
    hostEnv,
    redactor,
    start: createStarter({ ...shared, stages: slots }),
    probe: (request, signal) => runProbe(shared, request, signal),
    startProbe: (request, signal) => startProbe(shared, request, signal),
    findProgram,
  }
  const drivers = new Map<DriverName, Driver>()
  for (const factory of factories) {
    const driver = factory(driverDeps)
    drivers.set(driver.name, { ...driver, preflight: (request, signal) => preflight(driver, request, signal) })
  }

  function driverOf(name: DriverName): Driver {
    const driver = drivers.get(name)
    if (driver === undefined) throw new WorkerError('agent_unavailable', 'This agent is not part of this build.')
    return driver
  }

  function requireSupport(): void {
    if (table.supported) return
    throw new WorkerError('platform_unsupported', 'Agents cannot be started on this system yet.', { started: 'never' })
  }

  /** What cannot be told from others could not be ended either: then nothing is started for a check. */
  async function preflight(driver: Driver, request: PreflightRequest, signal: AbortSignal): Promise<Preflight> {
    const self = await table.lookup(process.pid)
    if (self?.exact === true) return driver.preflight(request, signal)
    const message = table.supported
      ? 'This system does not say which process is which.'
      : 'Agents cannot be started on this system yet.'
    const failed: PreflightCheck = { name: 'platform', status: 'fail', message }
    const product = request.profile?.product ?? driver.product
    return { product, path: null, version: null, checks: [failed], failed }
  }

  /** W-10: exactly one retry, and only of what never came to be. */
  async function once(start: () => Promise<Session>, signal: AbortSignal): Promise<Session> {
    try {
      return await start()
    } catch (error) {
      if (!(error instanceof WorkerError) || error.code !== 'worker_not_started' || error.started !== 'never')
        throw error
      try {
        await clock.sleep(LIMITS.startRetryDelayMs, signal)
      } catch {
        throw new WorkerError('aborted', 'The start was given up.', { started: 'never' })
      }
      return start()
    }
  }

  /** What failed before there was a process gives its slot back; a HELD one keeps it. */
  async function guarded<T>(slot: Slot, start: () => Promise<T>): Promise<T> {
    const { workerId } = slot.record
    try {
      return await start()
    } catch (error) {
      const state = slots.get(workerId)?.record.state.kind
      if (state === 'starting') slots.drop(workerId)
      throw error
    } finally {
      slot.begun.resolve()
    }
  }

  async function open(
    name: DriverName,
    cfg: SessionConfig,
    { load }: { load?: string },
    signal: AbortSignal,
  ): Promise<Session> {
    const driver = driverOf(name)
    requireSupport()
    const product = cfg.profile?.product ?? driver.product
    const key = (agentSessionId: string): string => `${name} ${cfg.profile?.id ?? ''} ${agentSessionId}`
    const conversation = load === undefined ? null : key(load)
    const slot = slots.take({ workerId: cfg.workerId, runId: cfg.scope.runId, driver: name, product, conversation })
    const inner = AbortSignal.any([signal, slot.abort.signal])
    const start = (): Promise<Session> =>
      load === undefined ? driver.newSession(cfg, inner) : driver.loadSession(cfg, load, inner)
    return guarded(slot, async () => {
      const session = await once(start, inner)
      slot.conversation = key(session.id)
      slot.release = (options) => session.close(options)
      return session
    })
  }

  /** A worker that came to be ends its token's socket itself; of one that did not, it ends here. */
  async function openWithToken(...[name, cfg, options, signal]: Parameters<Workers['open']>): Promise<Session> {
    try {
      return await open(name, cfg, options, signal)
    } catch (error) {
      await cfg.token?.close()
      throw error
    }
  }

  async function spawn(cfg: Parameters<Workers['spawn']>[0], signal: AbortSignal): Promise<Worker> {
    requireSupport()
    const { workerId, runId, product } = cfg
    const slot = slots.take({ workerId, runId, driver: null, product, conversation: null })
    return guarded(slot, async () => {
      const command = await bareCommand(workerId, cfg.command, cfg.redaction.secrets)
      if (signal.aborted) throw new WorkerError('aborted', 'The start was given up.', { started: 'never' })
      const worker = await startWorker(shared, {
        workerId,
        command,
        key: null,
        privateDir: null,
        token: null,
        redactor: redactor(cfg.redaction),
        limits: lowerLimits(cfg.limits),
        onStarted(process) {
          slots.started(workerId, process)
          return cfg.onStarted(process)
        },
        onReleasing: () => slots.releasing(workerId),
        onReleased: (outcome, exit) => slots.released(workerId, outcome, exit),
      })
      slot.release = (options) => worker.release(options)
      return worker
    })
  }

  /**
   * One that never told its identity is known by its mark alone. Where no mark can be read it counts as gone: it was given
   * no byte, and its input ended with its host.
   */
  async function reapMarked(workerId: string): Promise<ReleaseOutcome> {
    if (!table.supported) return { kind: 'held', reason: 'platform_unsupported', members: null, strays: [] }
    const found = await table.marked(workerId)
    if (found === null) return UNKNOWN
    if (found.length === 0) return { kind: 'gone', strongest: 'none', strays: [] }
    await endEach(table, clock, found, LIMITS.confirmPollMs[1])
    const left = await table.marked(workerId)
    if (left === null) return UNKNOWN
    if (left.length === 0) return { kind: 'gone', strongest: 'kill', strays: [] }
    const strays = left.map(({ pid, startToken }) => ({ pid, startToken }))
    return { kind: 'held', reason: 'group_outlived_leader', members: null, strays }
  }

  async function reap(
    workerId: string,
    recorded: ProcessIdentity | null,
    options?: CloseOptions,
  ): Promise<ReleaseOutcome> {
    const slot = slots.get(workerId)
    if (slot !== undefined && slot.record.state.kind !== 'held') {
      // Ours and alive: it is ended the ordinary way.
      slot.abort.abort()
      await slot.begun.promise
      if (slot.release !== null) return slot.release(options)
    }
    const outcome =
      recorded === null
        ? await reapMarked(workerId)
        : await releaseProcess({ table, clock, workerId, process: recorded, options: closeOptions(options, LIMITS) })
    if (outcome.kind === 'gone') slots.drop(workerId)
    else slots.keepHeld(workerId, outcome)
    return outcome
  }

  async function closeOne(slot: Slot, options: CloseOptions | undefined): Promise<ReleaseOutcome> {
    const { workerId } = slot.record
    if (slot.release === null) slot.abort.abort()
    // A start that was given up releases its own process.
    await slot.begun.promise
    if (slot.release !== null) return slot.release(options)
    const state = slots.get(workerId)?.record.state
    return state?.kind === 'held'
      ? { kind: 'held', reason: state.reason, members: null, strays: [] }
      : { kind: 'gone', strongest: 'kill', strays: [] }
  }

  return {
    driver: driverOf,
    open: openWithToken,
    spawn,
    reap,
    sweep: (keep) => sweepPrivateDirs(deps.paths.workers, (workerId) => keep.has(workerId) || own.has(workerId)),
    privateDir(workerId) {
      own.add(workerId)
      return createPrivateDir(deps.paths.workers, workerId)
    },
    async serveToken(token, socketDir) {
      const runtimeDirs = [hostEnv('XDG_RUNTIME_DIR'), hostEnv('TMPDIR'), tmpdir()]
      const folder = await chooseSocketFolder(socketDir, runtimeDirs, ids)
      return serveTokenAt({ clock, log, table, peers }, token, folder)
    },
    list: () => slots.list(),
    settle(workerId) {
      const slot = slots.get(workerId)
      if (slot === undefined) throw new WorkerError('worker_unknown', 'There is no such agent process any more.')
      if (slot.record.state.kind !== 'held') {
        throw new WorkerError('worker_not_held', 'Only an agent process that could not be ended is settled by hand.')
      }
      slots.drop(workerId)
    },
    async closeAll(options) {
      const all = slots.all().filter((slot) => slot.record.state.kind !== 'held')
      const outcomes = await Promise.all(
        all.map(async (slot) => [slot.record.workerId, await closeOne(slot, options)] as const),
      )
      return new Map(outcomes)
    },
  }
}
