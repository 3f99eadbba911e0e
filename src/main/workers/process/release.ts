/**
 * The one release: what ends a worker, in which order, and what counts as proof that it is gone. Used for a live worker
 * (stdin first) and for one that an earlier host left behind (signals only).
 */
import type { Clock } from '../../platform/types.ts'
import { LIMITS } from '../limits.ts'
import type { CloseOptions, HeldReason, ProcessIdentity, ProcessTable, ReleaseOutcome, Stray } from '../types.ts'

export interface ReleaseParts {
  table: ProcessTable
  clock: Clock
  workerId: string
  process: ProcessIdentity
  options: Required<CloseOptions>
  /** Ends stdin and answers whether the leader left within `ms`. Absent: there is no pipe to it any more. */
  endStdin?: (ms: number) => Promise<boolean>
}

type Strongest = Extract<ReleaseOutcome, { kind: 'gone' }>['strongest']

export function closeOptions(
  options: CloseOptions | undefined,
  limits: Required<CloseOptions>,
): Required<CloseOptions> {
  return {
    closeStdinMs: options?.closeStdinMs ?? limits.closeStdinMs,
    termGraceMs: options?.termGraceMs ?? limits.termGraceMs,
    confirmMs: options?.confirmMs ?? limits.confirmMs,
  }
}

export async function releaseProcess(parts: ReleaseParts): Promise<ReleaseOutcome> {
  const { table, clock, workerId, process: leader, options } = parts
  let seen: readonly ProcessIdentity[] = []

  /** The family now, and whoever was seen before and may have lost its parent since: by one listing. */
  const familyNow = async (): Promise<readonly ProcessIdentity[]> => {
    const [family, before] = await Promise.all([table.family(leader, workerId), table.living(seen)])
    seen = [...new Map([...before, ...family].map((member) => [member.pid, member])).values()]
    return seen
  }

  const isGone = async (): Promise<boolean> => {
    const [outcome, family] = await Promise.all([table.confirmGone(leader, 0), familyNow()])
    return outcome.kind === 'gone' && family.length === 0
  }

  let strongest: Strongest = 'none'
  // Taken first: on macOS a descendant whose parents have gone is found by nothing but an earlier walk.
  const [owned] = await Promise.all([table.owns(leader), familyNow()])
  if (parts.endStdin !== undefined && owned.owns === true) {
    if (options.closeStdinMs > 0 && (await parts.endStdin(options.closeStdinMs))) strongest = 'stdin'
  }

  const [unknown, gone] = await Promise.all([identityReason(table, leader), isGone()])
  if (unknown !== null) return { kind: 'held', reason: unknown, members: null, strays: [] }
  if (gone) return { kind: 'gone', strongest, strays: [] }

  const polled = async (ms: number): Promise<boolean> => {
    const [first, most] = LIMITS.confirmPollMs
    const deadline = clock.monotonicMs() + ms
    for (let pause: number = first; ; pause = Math.min(pause * 2, most)) {
      if (await isGone()) return true
      const left = deadline - clock.monotonicMs()
      if (left <= 0) return false
      await clock.sleep(Math.min(pause, left))
    }
  }

  const term = await table.signal(leader, 'SIGTERM')
  for (const member of await familyNow()) await table.signalOne(member, 'SIGTERM')
  strongest = 'term'
  if (term === 'refused' && !(await mayGoOn(table, leader))) {
    return { kind: 'held', reason: 'group_outlived_leader', members: await count(table, leader), strays: [] }
  }
  if (options.termGraceMs > 0 && (await polled(options.termGraceMs))) return { kind: 'gone', strongest, strays: [] }

  strongest = 'kill'
  const end = clock.monotonicMs() + options.confirmMs
  // Who forks while being killed is met by the next round.
  for (let first = true; ; first = false) {
    await table.signal(leader, 'SIGKILL')
    for (const member of (await table.members(leader)) ?? []) {
      if (member.pgid !== leader.pgid) await table.signalOne(member, 'SIGKILL')
    }
    for (const member of await familyNow()) await table.signalOne(member, 'SIGKILL')
    const left = end - clock.monotonicMs()
    if (await polled(Math.max(0, Math.min(left, first ? LIMITS.confirmPollMs[1] : left)))) {
      return { kind: 'gone', strongest, strays: [] }
    }
    if (end - clock.monotonicMs() <= 0) break
  }
  const strays = (await familyNow()).map(({ pid, startToken }): Stray => ({ pid, startToken }))
  return { kind: 'held', reason: 'group_outlived_leader', members: await count(table, leader), strays }
}

async function identityReason(table: ProcessTable, leader: ProcessIdentity): Promise<HeldReason | null> {
  const owned = await table.owns(leader)
  return owned.owns === null && owned.reason !== 'group_outlived_leader' ? owned.reason : null
}

/** A refused SIGTERM still allows the kill, unless the target is one that nobody may signal (init, our own group). */
async function mayGoOn(table: ProcessTable, leader: ProcessIdentity): Promise<boolean> {
  return leader.pgid > 1 && (await table.owns(leader)).owns !== false
}

async function count(table: ProcessTable, leader: ProcessIdentity): Promise<number | null> {
  return (await table.members(leader))?.length ?? null
}

/** Ends the processes given, by their own identities: TERM, a grace, KILL. Answers who lives on. */
export async function endEach(
  table: ProcessTable,
  clock: Clock,
  targets: readonly ProcessIdentity[],
  graceMs: number,
): Promise<readonly ProcessIdentity[]> {
  const waited = async (ms: number): Promise<readonly ProcessIdentity[]> => {
    const deadline = clock.monotonicMs() + ms
    for (;;) {
      const left = await table.living(targets)
      if (left.length === 0 || clock.monotonicMs() >= deadline) return left
      await clock.sleep(LIMITS.confirmPollMs[0])
    }
  }
  for (const target of targets) await table.signalOne(target, 'SIGTERM')
  for (const target of await waited(graceMs)) await table.signalOne(target, 'SIGKILL')
  return waited(LIMITS.confirmMs)
}
