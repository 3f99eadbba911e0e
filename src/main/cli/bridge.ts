import { createBridgeClient } from '../../shared/bridge/client.ts'
import type { Bridge } from '../../shared/bridge/client.ts'
import type { HostFrame } from '../../shared/bridge/index.ts'
import { AppError } from '../../shared/errors.ts'
import { createHostControl, createSystemClock, withDeadline } from '../platform/index.ts'
import type { Clock, FrameConnection, HostControl } from '../platform/index.ts'
import { whenAborted } from './interrupt.ts'
import type { Interrupts } from './interrupt.ts'
import { tell } from './print.ts'

export interface CliBridge extends AsyncDisposable {
  readonly bridge: Bridge
  /** A host was already running on this data folder; else this is a private one that ends with the command. */
  readonly shared: boolean
}

export interface CliBridgeOptions {
  dataDir: string
  entryDir: string
  /** Told to end: what is not open by then is not waited for. */
  interrupts: Interrupts
}

const HELLO_MS = 10_000
/** A host that is just closing neither answers nor gives its lock free yet. */
const TRIES = 3

/**
 * The bridge of the host that runs on this data folder, or of a private one, which holds the folder's lock meanwhile and
 * serves other commands beside this one.
 * @throws AppError `host_unreachable`, and as `createHost`.
 */
export async function openCliBridge(options: CliBridgeOptions): Promise<CliBridge> {
  const control = createHostControl()
  const role = await lockOrJoin(control, options)
  return role.kind === 'running' ? role.cli : openPrivateHost(control, createSystemClock(), role, options)
}

export type LockOrJoin = { kind: 'host'; release(): Promise<void> } | { kind: 'running'; cli: CliBridge }

/** The data folder's lock, or the bridge of the host that has it. @throws AppError `host_unreachable`. */
export async function lockOrJoin(
  control: HostControl,
  { dataDir, interrupts }: Pick<CliBridgeOptions, 'dataDir' | 'interrupts'>,
): Promise<LockOrJoin> {
  const { signal } = interrupts
  const clock = createSystemClock()
  using _awake = stayAwake()
  for (let tries = 1; ; tries++) {
    const role = await control.acquire(dataDir)
    if (role.kind === 'host') return role
    try {
      return { kind: 'running', cli: await openShared(clock, await role.connect(signal)) }
    } catch (thrown) {
      const passes = thrown instanceof AppError && thrown.code === 'host_unreachable'
      if (!passes || tries === TRIES || signal.aborted) throw thrown
    }
  }
}

/** Between two tries nothing is open that would keep the process: the clock's timers do not. */
function stayAwake(): Disposable {
  const timer = setInterval(() => undefined, HELLO_MS)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

async function openShared(clock: Clock, connection: FrameConnection): Promise<CliBridge> {
  const bridge = createBridgeClient({
    connect: (handlers) => overConnection(connection, handlers),
    nowMs: () => clock.nowMs(),
    after: (ms, fn) => {
      const timer = clock.after(ms, fn)
      return () => timer[Symbol.dispose]()
    },
  })
  await untilOpen(bridge, clock)
  return { bridge, shared: true, [Symbol.asyncDispose]: () => Promise.resolve(bridge.close()) }
}

async function openPrivateHost(
  control: HostControl,
  clock: Clock,
  role: { release(): Promise<void> },
  { dataDir, entryDir, interrupts }: CliBridgeOptions,
): Promise<CliBridge> {
  await using undo = new AsyncDisposableStack()
  undo.defer(() => role.release())
  // A command that finds a running host, which is most of them, does without the host's own code.
  const [{ createHost }, { connectInProcess }] = await Promise.all([import('../host.ts'), import('../bridge/index.ts')])
  const host = await createHost({ dataDir, entryDir, env: process.env, brief: true })
  undo.defer(() => host.stop())
  const others = new Set<FrameConnection>()
  let left: () => void = () => undefined
  const listening = await control.listen(dataDir, (connection) => {
    others.add(connection)
    connection.onClose(() => {
      others.delete(connection)
      if (others.size === 0) left()
    })
    host.attach(connection, 'cli')
  })
  undo.use(listening)
  const bridge = connectInProcess(clock, (connection) => host.attach(connection, 'cli'))
  undo.defer(() => bridge.close())
  // Another command may have come to lean on this host: it is not pulled away from under it.
  undo.defer(async () => {
    if (others.size === 0) return
    tell('Another command still uses this host, and is waited for. Press Ctrl-C to end both.\n')
    await Promise.race([new Promise<void>((resolve) => (left = resolve)), whenAborted(interrupts.renew())])
  })
  await untilOpen(bridge, clock)
  const all = undo.move()
  return { bridge, shared: false, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

/** The connection was made once: a host that goes is gone for this command. */
function overConnection(
  connection: FrameConnection,
  handlers: Parameters<Parameters<typeof createBridgeClient>[0]['connect']>[0],
) {
  // The host parsed what it sent against the same contract.
  connection.onFrame((frame) => handlers.frame(frame as HostFrame))
  connection.onBadFrame(() => connection.close())
  connection.onClose(() =>
    handlers.closed({
      final: true,
      error: new AppError('host_unreachable', 'The running Wheelhouse went away. Run the command again.'),
    }),
  )
  return { send: (frame: unknown) => void connection.send(frame), close: () => connection.close() }
}

function untilOpen(bridge: Bridge, clock: Clock): Promise<void> {
  const opened = new Promise<void>((resolve, reject) => {
    const look = (): boolean => {
      const status = bridge.status()
      if (status.kind === 'open') resolve()
      else if (status.kind === 'refused') reject(status.error)
      else return false
      return true
    }
    if (look()) return
    const forget = bridge.onStatus(() => look() && forget())
  })
  return withDeadline(clock, HELLO_MS, undefined, () => opened).catch((thrown: unknown) => {
    bridge.close()
    if (!(thrown instanceof AppError) || thrown.code !== 'deadline_exceeded') throw thrown
    throw new AppError('host_unreachable', 'Wheelhouse is running but does not answer. Try again, or end it.', {
      cause: thrown,
    })
  })
}
