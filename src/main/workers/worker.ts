/**
 * One process tree: spawned as the leader of its own group and session, identified before its first byte, read for ever,
 * and ended by the one release. Every driver starts through here; none spawns on its own.
 */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { withDeadline, within } from '../platform/index.ts'
import type { Clock, Log, Secret } from '../platform/types.ts'
import { WorkerError, unusable } from './errors.ts'
import { spawnEnv } from './launch/env.ts'
import { createKeyFile } from './launch/key-file.ts'
import type { KeyFile } from './launch/key-file.ts'
import { emptyPrivateDir } from './launch/private-dir.ts'
import type { Limits } from './limits.ts'
import { closeOptions, endEach, releaseProcess } from './process/release.ts'
import { createHeldLines } from './text/held-lines.ts'
import { createLineReader } from './text/line-reader.ts'
import { createStderrRing } from './text/stderr-ring.ts'
import type {
  CloseOptions,
  Command,
  Exit,
  ProcessIdentity,
  ProcessTable,
  Redactor,
  ReleaseOutcome,
  TokenSocket,
  Worker,
} from './types.ts'

export interface WorkerDeps {
  table: ProcessTable
  clock: Clock
  log: Log
}

export interface WorkerPlan {
  workerId: string
  /** The environment holds the mark already. */
  command: Command
  /** Given on descriptor 3. */
  key: Secret | null
  /** Emptied at release; null: it has none. */
  privateDir: string | null
  /** Armed once the worker is on record, before its first byte; closed at release. */
  token: TokenSocket | null
  redactor: Redactor
  limits: Limits
  onStarted(process: ProcessIdentity): Promise<void>
  onReleasing(): void
  onReleased(outcome: ReleaseOutcome, exit: Exit | null): void
}

/** A failed start or an unsafe session is given no time to be polite. */
export const AT_ONCE: CloseOptions = { closeStdinMs: 0, termGraceMs: 0 }

/** Linux tells start times and the time since boot in hundredths of a second. */
const START_GRAIN_MS = 20

const UNUSABLE_SPAWN = new Set(['E2BIG', 'EINVAL', 'ERR_INVALID_ARG_VALUE', 'ERR_INVALID_ARG_TYPE'])

/**
 * @throws WorkerError `worker_not_started` or `worker_unusable` (`never`); `handshake_failed` when `onStarted` failed,
 * `identity_unknown` (`held`) when the kernel does not say who the child is.
 */
export async function startWorker(deps: WorkerDeps, plan: WorkerPlan): Promise<Worker> {
  const key = plan.key === null || plan.privateDir === null ? null : createKeyFile(plan.privateDir, 'key', plan.key)
  let child: ChildProcess
  try {
    child = spawnChild(plan.command, key)
  } catch (error) {
    key?.drop()
    throw spawnError(error)
  }
  const { pid } = child
  const { stdin, stdout, stderr } = child
  if (pid === undefined || stdin === null || stdout === null || stderr === null) {
    const error = await new Promise((resolve) => child.once('error', resolve))
    key?.drop()
    for (const stream of [stdin, stdout, stderr]) stream?.destroy()
    throw spawnError(error)
  }
  const exit = observeExit(child)
  const identity = await identify(deps, pid)
  const worker = createWorker(deps, plan, { child, stdin, stdout, stderr, key, identity, exit })
  if (!identity.exact) {
    stdin.destroy()
    await worker.release(AT_ONCE)
    throw new WorkerError(
      'identity_unknown',
      'The agent was started, but the system does not say which process it is.',
      {
        started: 'held',
        process: identity,
      },
    )
  }
  try {
    await withDeadline(deps.clock, plan.limits.onStartedMs, undefined, () => plan.onStarted(identity))
  } catch (error) {
    const outcome = await worker.release(AT_ONCE)
    throw new WorkerError('handshake_failed', 'The agent was ended again, because its start could not be recorded.', {
      started: outcome.kind === 'gone' ? 'ended' : 'held',
      process: identity,
      detail: plan.redactor.line(error instanceof Error ? error.message : ''),
    })
  }
  // An agent may start its MCP servers in its handshake, and wait for them.
  plan.token?.arm(identity)
  return worker
}

function spawnChild(command: Command, key: KeyFile | null): ChildProcess {
  return spawn(command.path, [...command.args], {
    cwd: command.cwd,
    env: spawnEnv(command.env),
    // The child leads a new group and a new kernel session: what the release signals is its own.
    detached: true,
    shell: false,
    windowsHide: true,
    stdio: key === null ? ['pipe', 'pipe', 'pipe'] : ['pipe', 'pipe', 'pipe', key.fd],
  })
}

function spawnError(error: unknown): WorkerError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  if (UNUSABLE_SPAWN.has(code)) return unusable('The agent cannot be started with this configuration.', code)
  return new WorkerError('worker_not_started', 'The agent could not be started. Check that it is installed.', {
    started: 'never',
    detail: code,
  })
}

/** A child that died before it was looked at is known by its pid alone; a token that matches nobody keeps it unsignalled. */
async function identify({ table, clock }: WorkerDeps, pid: number): Promise<ProcessIdentity> {
  const found = await table.lookup(pid, { zombies: true })
  if (found !== null) return found.exact ? { ...found, pgid: pid } : found
  const self = await table.lookup(process.pid)
  return {
    pid,
    pgid: pid,
    bootId: self?.bootId ?? '',
    startToken: 'unseen',
    exact: self?.exact === true,
    startedAtMs: clock.nowMs(),
  }
}

interface Leaving {
  readonly exited: Promise<{ code: number | null; signal: string | null; error: string | null }>
  /** Null while it lives. */
  readonly left: boolean
}

function observeExit(child: ChildProcess): Leaving {
  let left = false
  const exited = new Promise<{ code: number | null; signal: string | null; error: string | null }>((resolve) => {
    child.once('exit', (code, signal) => {
      left = true
      resolve({ code, signal, error: null })
    })
    // After a start that worked, an error is about a signal or a message; it ends nothing.
    child.on('error', () => undefined)
  })
  return {
    exited,
    get left() {
      return left
    },
  }
}

interface Parts {
  child: ChildProcess
  stdin: Writable
  stdout: Readable
  stderr: Readable
  key: KeyFile | null
  identity: ProcessIdentity
  exit: Leaving
}

function createWorker(deps: WorkerDeps, plan: WorkerPlan, parts: Parts): Worker {
  const { table, clock, log } = deps
  const { workerId, redactor, limits } = plan
  const { stdin, stdout, stderr, key, identity, exit } = parts
  const ring = createStderrRing(limits.stderrTailBytes, () => limits.stderrLineBytes)
  let requested = false
  let releasing: Promise<ReleaseOutcome> | null = null
  let beforeRelease: (() => void) | null = null
  let stdoutEnded = false
  const ends: (() => void)[] = []

  const exited: Promise<Exit> = exit.exited.then((how) => ({ ...how, requested }))
  void exited.then(() => key?.drop())

  stderr.on('data', (chunk: Uint8Array) => ring.push(chunk))
  stderr.on('error', () => undefined)
  stdin.on('error', () => undefined)
  stdout.on('error', () => undefined)
  stdout.once('close', () => {
    stdoutEnded = true
    for (const end of ends) end()
  })

  function closed(): WorkerError {
    return new WorkerError('session_ended', 'This agent has ended.', { process: identity })
  }

  function write(line: string, signal?: AbortSignal): Promise<void> {
    const bytes = Buffer.byteLength(line) + 1
    if (signal?.aborted === true) return Promise.reject(aborted())
    if (requested || exit.left || stdin.destroyed || stdin.writableEnded) return Promise.reject(closed())
    if (stdin.writableLength > 0 && stdin.writableLength + bytes > limits.stdinQueueBytes) {
      const stuck = new WorkerError('stdin_stuck', 'The agent does not read what it is told.', { process: identity })
      return Promise.reject(stuck)
    }
    return new Promise((resolve, reject) => {
      const abort = (): void => reject(aborted())
      signal?.addEventListener('abort', abort, { once: true })
      stdin.write(`${line}\n`, (error) => {
        signal?.removeEventListener('abort', abort)
        if (error === null || error === undefined) resolve()
        else reject(closed())
      })
    })
  }

  async function endStdin(ms: number): Promise<boolean> {
    stdin.end()
    await within(clock, ms, exit.exited)
    if (!exit.left) stdin.destroy()
    return exit.left
  }

  async function drain(): Promise<void> {
    if (!stdoutEnded) {
      const ended = new Promise<void>((resolve) => ends.push(resolve))
      // Nobody may have asked for the lines: what is left unread would hold the stream open.
      stdout.resume()
      await within(clock, limits.pipeDrainMs, ended)
    }
    for (const stream of [stdin, stdout, stderr]) stream.destroy()
  }

  async function release(options: CloseOptions | undefined): Promise<ReleaseOutcome> {
    try {
      beforeRelease?.()
    } catch (error) {
      log.warn('the cancel before a release failed', { error })
    }
    requested = true
    plan.onReleasing()
    void plan.token?.close().catch((error: unknown) => log.warn('the socket of a token was not closed', { error }))
    const outcome = await releaseProcess({
      table,
      clock,
      workerId,
      process: identity,
      options: closeOptions(options, limits),
      endStdin,
    }).catch((error: unknown): ReleaseOutcome => {
      log.error('a release failed', { error })
      return { kind: 'held', reason: 'identity_unknown', members: null, strays: [] }
    })
    await drain()
    key?.drop()
    await plan.token?.close().catch(() => undefined)
    if (outcome.kind === 'gone') {
      if (plan.privateDir !== null) await emptyPrivateDir(plan.privateDir)
      plan.onReleased(outcome, await exited)
    } else {
      plan.onReleased(outcome, null)
    }
    return outcome
  }

  return {
    workerId,
    process: identity,
    exited,
    write,
    lines(onLine, onEnd) {
      let over = false
      const finish = (why: 'eof' | 'line_too_long' | 'error'): void => {
        if (over) return
        over = true
        onEnd(why)
      }
      const held = createHeldLines({
        onLine: (line) => (over ? undefined : onLine(line)),
        pause: () => void stdout.pause(),
        resume: () => void stdout.resume(),
      })
      const reader = createLineReader(limits.lineBytes, held.take)
      const last = (): void => {
        if (!over) reader.end()
        held.finish(() => finish('eof'))
      }
      if (stdoutEnded) return last()
      stdout.on('data', (chunk: Uint8Array) => {
        if (!over && !reader.push(chunk)) held.finish(() => finish('line_too_long'))
      })
      stdout.once('end', last)
      ends.push(() => held.finish(() => finish('eof')))
    },
    stderrTail: () => redactor.line(ring.text().trimEnd().split('\n').at(-1) ?? ''),
    stderrLines: () => redactor.lines(ring.text()),
    dropKey: () => key?.drop(),
    async endFamily(withinMs) {
      // Taken before the listing, which may take a while; start times have a grain of their own.
      const sinceMs = clock.nowMs() - withinMs - START_GRAIN_MS
      const found = await table.family(identity, workerId)
      const young = found.filter(({ startedAtMs }) => startedAtMs >= sinceMs)
      await endEach(table, clock, young, limits.confirmPollMs[1])
    },
    onRelease(first) {
      beforeRelease = first
    },
    release: (options) => (releasing ??= release(options)),
  }
}

function aborted(): WorkerError {
  return new WorkerError('aborted', 'The call was given up.')
}
