/** Linux: `/proc`. Identity is the boot id and `stat` field 22, in ticks; never through `btime`, which drifts. */
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Clock } from '../../platform/types.ts'
import type { ProcessRow, ProcessSource } from './source.ts'
import { WORKER_MARK, sharedScan } from './source.ts'

const SCAN_CHUNK = 64
const ENVIRON_READS = 16
/** The unit of `stat`, whatever the kernel's own: USER_HZ. */
const TICK_MS = 10

/** Parses `/proc/<pid>/stat`. The command name may hold blanks and brackets, so fields begin after the LAST `)`. */
export function parseStat(pid: number, stat: string): Omit<ProcessRow, 'uid' | 'startedAtMs'> | null {
  const end = stat.lastIndexOf(')')
  if (end === -1) return null
  const fields = stat.slice(end + 2).split(' ')
  const [state, ppid, pgid, sid] = fields
  const startToken = fields[19]
  if (state === undefined || startToken === undefined || !/^\d+$/.test(startToken)) return null
  return {
    pid,
    ppid: Number(ppid),
    pgid: Number(pgid),
    sid: Number(sid),
    zombie: state === 'Z' || state === 'X' || state === 'x',
    startToken,
  }
}

function errorCode(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
}

/** Reading these files never waits for the process, so it may be done on the main thread. */
function readRow(proc: string, pid: number, bootedAtMs: number): ProcessRow | null | 'unreadable' {
  try {
    const parsed = parseStat(pid, readFileSync(`${proc}/${pid}/stat`, 'latin1'))
    if (parsed === null) return 'unreadable'
    const { uid } = statSync(`${proc}/${pid}`)
    return { ...parsed, uid, startedAtMs: bootedAtMs + Number(parsed.startToken) * TICK_MS }
  } catch (error) {
    const code = errorCode(error)
    return code === 'ENOENT' || code === 'ESRCH' ? null : 'unreadable'
  }
}

export function createLinuxSource(clock: Clock, proc = '/proc'): ProcessSource {
  let bootId: string | null = null
  /** Callers that share a listing share what its environments say. */
  const marks = new WeakMap<readonly ProcessRow[], Promise<ReadonlyMap<number, string>>>()

  /** By today's wall clock: for display, and for the age of a process, never for its identity. */
  function bootedAt(): number {
    try {
      const upSeconds = Number.parseFloat(readFileSync(`${proc}/uptime`, 'latin1'))
      return Math.round(clock.nowMs() - upSeconds * 1_000)
    } catch {
      return 0
    }
  }

  const scan = sharedScan(async (): Promise<readonly ProcessRow[] | null> => {
    let names: string[]
    try {
      names = readdirSync(proc)
    } catch {
      return null
    }
    const pids = names.filter((name) => /^\d+$/.test(name)).map(Number)
    const rows: ProcessRow[] = []
    const bootedAtMs = bootedAt()
    for (const [index, pid] of pids.entries()) {
      if (index % SCAN_CHUNK === SCAN_CHUNK - 1) await new Promise((resolve) => setImmediate(resolve))
      const row = readRow(proc, pid, bootedAtMs)
      if (row === 'unreadable') return null
      if (row !== null) rows.push(row)
    }
    return rows
  })

  /** A read of `environ` may wait for the process's memory, so it is done off the main thread. */
  async function markOf(pid: number): Promise<string | null> {
    try {
      const environ = `\0${await readFile(`${proc}/${pid}/environ`, 'latin1')}`
      const at = environ.indexOf(`\0${WORKER_MARK}=`)
      if (at === -1) return null
      const from = at + WORKER_MARK.length + 2
      const end = environ.indexOf('\0', from)
      return environ.slice(from, end === -1 ? undefined : end)
    } catch {
      return null
    }
  }

  async function readMarks(rows: readonly ProcessRow[]): Promise<ReadonlyMap<number, string>> {
    const uid = process.getuid?.() ?? -1
    const found = new Map<number, string>()
    // Kernel threads, children of 2, have no environment.
    const queue = rows.filter((row) => !row.zombie && row.uid === uid && row.pid !== 2 && row.ppid !== 2)
    const read = async (): Promise<void> => {
      for (let row = queue.pop(); row !== undefined; row = queue.pop()) {
        const mark = await markOf(row.pid)
        if (mark !== null) found.set(row.pid, mark)
      }
    }
    await Promise.all(Array.from({ length: ENVIRON_READS }, read))
    return found
  }

  return {
    bootId() {
      try {
        bootId ??= readFileSync(`${proc}/sys/kernel/random/boot_id`, 'latin1').trim()
      } catch {
        bootId = null
      }
      return Promise.resolve(bootId)
    },
    row: (pid) => Promise.resolve(readRow(proc, pid, bootedAt())),
    rows: scan,
    async marked(rows, workerId) {
      const reading = marks.get(rows) ?? readMarks(rows)
      marks.set(rows, reading)
      return new Set([...(await reading)].filter(([, mark]) => mark === workerId).map(([pid]) => pid))
    },
  }
}
