/**
 * A command in a process group of its own. The group is killed as one: TERM, a short grace, KILL. Every live group is
 * known here, so that none survives the agent.
 */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'

import { ToolError } from './types.ts'

/** Between TERM and KILL. Short: a cancelled turn must be over within a second. */
const KILL_GRACE_MS = 400
/** How long a closed command's pipes may still be held open by a child it left behind. */
const DRAIN_MS = 300

const live = new Set<number>()

export interface CommandEnd {
  exitCode: number | null
  signal: NodeJS.Signals | null
  timedOut: boolean
}

/**
 * Runs `command` in a shell and resolves when it is over. Its output goes to `onOutput` as it comes.
 * When `signal` aborts, the group is killed and the promise resolves all the same.
 * @throws ToolError: it could not be started.
 */
export async function runCommand(
  options: {
    command: string
    cwd: string
    env: Record<string, string>
    timeoutMs: number
    onOutput: (chunk: Buffer) => void
  },
  signal: AbortSignal,
): Promise<CommandEnd> {
  signal.throwIfAborted()
  const child = spawn(shell(), ['-c', options.command], {
    cwd: options.cwd,
    env: options.env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.on('data', options.onOutput)
  child.stderr.on('data', options.onOutput)
  let timedOut = false
  const started = Promise.withResolvers<number>()
  child.once('error', (cause) =>
    started.reject(new ToolError(`The command cannot be started: ${cause.message}`, { cause })),
  )
  child.once('spawn', () => (child.pid === undefined ? undefined : started.resolve(child.pid)))
  const over = Promise.withResolvers<CommandEnd>()
  child.once('exit', (exitCode, end) => over.resolve({ exitCode, signal: end, timedOut }))
  const pid = await started.promise
  live.add(pid)
  const kill = (): void => void killGroup(pid)
  const timer = setTimeout(() => {
    timedOut = true
    kill()
  }, options.timeoutMs)
  signal.addEventListener('abort', kill, { once: true })
  if (signal.aborted) kill()
  try {
    const end = await over.promise
    if (signal.aborted || timedOut) await killGroup(pid)
    await drained(child, signal.aborted ? 0 : DRAIN_MS)
    return { ...end, timedOut }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', kill)
    // What the command left running in the background is the supervisor's to find, by its mark.
    live.delete(pid)
  }
}

/** Kills every group that is still there, at once: the agent is about to end. */
export function killAllGroups(): void {
  for (const pid of live) signalGroup(pid, 'SIGKILL')
}

async function killGroup(pid: number): Promise<void> {
  if (!signalGroup(pid, 'SIGTERM')) return
  const until = performance.now() + KILL_GRACE_MS
  while (groupLives(pid) && performance.now() < until) await pause(20)
  signalGroup(pid, 'SIGKILL')
}

function groupLives(pid: number): boolean {
  return signalGroup(pid, 0)
}

/** False: the group is gone. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal)
    return true
  } catch {
    return false
  }
}

/** A background child may hold the pipes for ever; the command itself is over, so they are let go. */
async function drained(child: ChildProcess, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    if (child.stdout?.closed === true && child.stderr?.closed === true) resolve()
    else child.once('close', () => resolve())
  })
  await Promise.race([closed, pause(graceMs)])
  child.stdout?.destroy()
  child.stderr?.destroy()
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

function shell(): string {
  return existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh'
}
