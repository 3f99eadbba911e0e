/**
 * Who a process is, what belongs to it, and how it is signalled. The only code that signals: ownership is established
 * again before EVERY signal, since a pid freed during a grace period may lead a stranger by the time of the kill.
 */
import type { Clock } from '../../platform/types.ts'
import { LIMITS } from '../limits.ts'
import type { Ownership, ProcessIdentity, ProcessTable, ReleaseOutcome, TermSignal } from '../types.ts'
import { createLinuxSource } from './linux.ts'
import { createMacosSource } from './macos.ts'
import type { ProcessRow, ProcessSource } from './source.ts'

/** `process.kill`, replaced by tests that need a process nobody may signal. */
export type Kill = (pid: number, signal: TermSignal | 0) => void

export interface TableDeps {
  source: ProcessSource
  clock: Clock
  kill?: Kill
  /** The host itself: never signalled, nor its parents. */
  hostPid?: number
}

type KillAnswer = 'sent' | 'none' | 'denied'

const UNKNOWN: Ownership = { owns: null, reason: 'identity_unknown' }

export function createProcessTable({
  source,
  clock,
  kill = killProcess,
  hostPid = process.pid,
}: TableDeps): ProcessTable {
  const uid = process.getuid?.() ?? -1

  function send(pid: number, signal: TermSignal | 0): KillAnswer {
    try {
      kill(pid, signal)
      return 'sent'
    } catch (error) {
      return error instanceof Error && 'code' in error && error.code === 'ESRCH' ? 'none' : 'denied'
    }
  }

  const identityOf = (row: ProcessRow, bootId: string): ProcessIdentity => ({
    pid: row.pid,
    pgid: row.pgid,
    bootId,
    startToken: row.startToken,
    exact: true,
    startedAtMs: row.startedAtMs,
  })

  const belongs = (row: ProcessRow, p: ProcessIdentity): boolean =>
    p.pid === p.pgid && (row.pgid === p.pgid || row.sid === p.pid)

  async function owns(p: ProcessIdentity): Promise<Ownership> {
    if (!p.exact) return UNKNOWN
    const bootId = await source.bootId()
    if (bootId === null) return UNKNOWN
    if (bootId !== p.bootId) return { owns: false }
    const row = await source.row(p.pid)
    if (row === 'unreadable') return UNKNOWN
    if (row !== null && row.startToken !== p.startToken) return { owns: false }
    if (row !== null && !row.zombie) return { owns: true }
    if (p.pid !== p.pgid) return { owns: false }
    const rows = await source.rows()
    if (rows === null) return UNKNOWN
    const left = rows.some((other) => !other.zombie && belongs(other, p))
    return left ? { owns: null, reason: 'group_outlived_leader' } : { owns: false }
  }

  async function ancestorsOfHost(rows: readonly ProcessRow[]): Promise<ReadonlySet<number>> {
    const byPid = new Map(rows.map((row) => [row.pid, row]))
    const spared = new Set<number>()
    for (let pid = hostPid; pid > 0 && !spared.has(pid); pid = byPid.get(pid)?.ppid ?? 0) spared.add(pid)
    return spared
  }

  async function members(p: ProcessIdentity): Promise<readonly ProcessIdentity[] | null> {
    const [bootId, rows] = await Promise.all([source.bootId(), source.rows()])
    if (bootId === null || rows === null) return null
    if (bootId !== p.bootId) return []
    return rows.filter((row) => !row.zombie && belongs(row, p)).map((row) => identityOf(row, bootId))
  }

  /** The family among these rows: below the leader, below a member, or carrying the mark (null: no mark is believed). */
  async function familyRows(rows: readonly ProcessRow[], p: ProcessIdentity | null, workerId: string | null) {
    const spared = await ancestorsOfHost(rows)
    const found = new Set(workerId === null ? [] : await source.marked(rows, workerId))
    // A leader whose pid was reused leads strangers now.
    const leader = p === null ? undefined : rows.find((row) => row.pid === p.pid)
    const trusted = p !== null && (leader === undefined || leader.startToken === p.startToken)
    if (trusted) {
      for (const row of rows) if (belongs(row, p) || (row.pid === p.pid && p.exact)) found.add(row.pid)
    }
    const children = new Map<number, number[]>()
    for (const row of rows) children.set(row.ppid, [...(children.get(row.ppid) ?? []), row.pid])
    const queue = [...found].filter((pid) => !spared.has(pid))
    for (let pid = queue.pop(); pid !== undefined; pid = queue.pop()) {
      for (const child of children.get(pid) ?? []) {
        if (found.has(child) || spared.has(child)) continue
        found.add(child)
        queue.push(child)
      }
    }
    return rows.filter(
      (row) => found.has(row.pid) && !row.zombie && row.uid === uid && row.pid > 1 && !spared.has(row.pid),
    )
  }

  async function signalOne(p: ProcessIdentity, signal: TermSignal): Promise<'sent' | 'nothing' | 'refused'> {
    if (!p.exact || p.pid <= 1 || p.pid === hostPid) return 'refused'
    const bootId = await source.bootId()
    if (bootId === null) return 'refused'
    const row = await source.row(p.pid)
    if (row === 'unreadable') return 'refused'
    if (row === null || row.zombie || row.startToken !== p.startToken || bootId !== p.bootId) return 'nothing'
    const answer = send(p.pid, signal)
    return answer === 'sent' ? 'sent' : answer === 'none' ? 'nothing' : 'refused'
  }

  /** W-3's proof for the group: `ESRCH`, or rows of it that are all zombies. `EPERM` alone proves nothing. */
  function groupIsGone(rows: readonly ProcessRow[], p: ProcessIdentity): boolean {
    if (p.pid !== p.pgid)
      return !rows.some((row) => row.pid === p.pid && !row.zombie && row.startToken === p.startToken)
    if (rows.some((row) => !row.zombie && belongs(row, p))) return false
    return send(-p.pgid, 0) === 'none' || rows.some((row) => row.pgid === p.pgid)
  }

  return {
    supported: true,
    async lookup(pid, options) {
      const [bootId, row] = await Promise.all([source.bootId(), source.row(pid)])
      if (row === null || (row !== 'unreadable' && row.zombie && options?.zombies !== true)) return null
      if (row === 'unreadable' || bootId === null) {
        return { pid, pgid: pid, bootId: bootId ?? '', startToken: '', exact: false, startedAtMs: clock.nowMs() }
      }
      return identityOf(row, bootId)
    },
    owns,
    members,
    async family(p, workerId) {
      const [bootId, rows] = await Promise.all([source.bootId(), source.rows()])
      if (bootId === null || rows === null) return []
      const same = bootId === p.bootId ? p : null
      const found = await familyRows(rows, same, workerId)
      return found
        .filter((row) => same === null || (!belongs(row, same) && row.pid !== same.pid))
        .map((row) => identityOf(row, bootId))
    },
    async living(members) {
      if (members.length === 0) return members
      const [bootId, rows] = await Promise.all([source.bootId(), source.rows()])
      if (bootId === null || rows === null) return members
      const tokens = new Map(rows.filter((row) => !row.zombie).map((row) => [row.pid, row.startToken]))
      return members.filter((member) => member.bootId === bootId && tokens.get(member.pid) === member.startToken)
    },
    async marked(workerId) {
      const [bootId, rows] = await Promise.all([source.bootId(), source.rows()])
      if (bootId === null || rows === null) return null
      return (await familyRows(rows, null, workerId)).map((row) => identityOf(row, bootId))
    },
    async tree(p) {
      const [bootId, rows] = await Promise.all([source.bootId(), source.rows()])
      if (bootId === null || rows === null || !p.exact) return null
      if (bootId !== p.bootId) return []
      return (await familyRows(rows, p, null)).map((row) => identityOf(row, bootId))
    },
    signalOne,
    async signal(p, signal) {
      if (p.pgid <= 1 || p.pid <= 1) return 'refused'
      const host = await source.row(hostPid)
      if (host === null || host === 'unreadable' || host.pgid === p.pgid || p.pid === hostPid) return 'refused'
      const owned = await owns(p)
      if (owned.owns === false) return 'nothing'
      if (owned.owns === null && owned.reason !== 'group_outlived_leader') return 'refused'
      if (p.pid !== p.pgid) return signalOne(p, signal)
      // A group id is not reused while it has members, so the group is still ours even without its leader.
      const answer = send(-p.pgid, signal)
      return answer === 'sent' ? 'sent' : answer === 'none' ? 'nothing' : 'refused'
    },
    async confirmGone(p, ms) {
      const [first, most] = LIMITS.confirmPollMs
      const deadline = clock.monotonicMs() + ms
      let pause: number = first
      for (;;) {
        // Asked at once: they share a listing.
        const [owned, rows, bootId] = await Promise.all([owns(p), source.rows(), source.bootId()])
        if (owned.owns === null && owned.reason === 'identity_unknown') return held('identity_unknown', null)
        const elsewhere = p.bootId !== bootId
        const reused = rows?.some((row) => row.pid === p.pid && row.startToken !== p.startToken) === true
        if (owned.owns === false && (elsewhere || reused || (rows !== null && groupIsGone(rows, p)))) {
          return { kind: 'gone', strongest: 'none', strays: [] }
        }
        const left = deadline - clock.monotonicMs()
        if (left <= 0) return held('group_outlived_leader', (await members(p))?.length ?? null)
        await clock.sleep(Math.min(pause, left))
        pause = Math.min(pause * 2, most)
      }
    },
  }
}

function held(reason: 'identity_unknown' | 'group_outlived_leader', count: number | null): ReleaseOutcome {
  return { kind: 'held', reason, members: count, strays: [] }
}

function killProcess(pid: number, signal: TermSignal | 0): void {
  process.kill(pid, signal)
}

/** Where processes cannot be identified, none is started and none is signalled. */
export function createUnsupportedTable(): ProcessTable {
  const refused = { kind: 'held', reason: 'platform_unsupported', members: null, strays: [] } as const
  return {
    supported: false,
    lookup: () => Promise.resolve(null),
    owns: () => Promise.resolve({ owns: null, reason: 'platform_unsupported' }),
    members: () => Promise.resolve(null),
    family: () => Promise.resolve([]),
    living: (members) => Promise.resolve(members),
    marked: () => Promise.resolve(null),
    tree: () => Promise.resolve(null),
    signal: () => Promise.resolve('refused'),
    signalOne: () => Promise.resolve('refused'),
    confirmGone: () => Promise.resolve(refused),
  }
}

/** The table of this platform. Windows and others: unsupported, until a Job Object helper exists. */
export function createPlatformTable(clock: Clock, platform: NodeJS.Platform = process.platform): ProcessTable {
  if (platform === 'linux') return createProcessTable({ source: createLinuxSource(clock), clock })
  if (platform === 'darwin') return createProcessTable({ source: createMacosSource(), clock })
  return createUnsupportedTable()
}
