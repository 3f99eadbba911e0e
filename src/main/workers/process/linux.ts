/** Linux: `/proc`. Identity is the boot id and `stat` field 22, in ticks; never through `btime`, which drifts. */
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { ProcessRow, ProcessSource } from './source.ts'
import { WORKER_MARK, sharedScan } from './source.ts'

const SCAN_CHUNK = 64
const ENVIRON_READS = 16

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
function readRow(proc: string, pid: number): ProcessRow | null | 'unreadable' {
  try {
    const parsed = parseStat(pid, readFileSync(`${proc}/${pid}/stat`, 'latin1'))
    if (parsed === null) return 'unreadable'
    const folder = statSync(`${proc}/${pid}`)
    return { ...parsed, uid: folder.uid, startedAtMs: Math.round(folder.ctimeMs) }
  } catch (error) {
    const code = errorCode(error)
    return code === 'ENOENT' || code === 'ESRCH' ? null : 'unreadable'
  }
}

export function createLinuxSource(proc = '/proc'): ProcessSource {
  let bootId: string | null = null

  const scan = sharedScan(async (): Promise<readonly ProcessRow[] | null> => {
    let names: string[]
    try {
      names = readdirSync(proc)
    } catch {
      return null
    }
    const pids = names.filter((name) => /^\d+$/.test(name)).map(Number)
    const rows: ProcessRow[] = []
    for (const [index, pid] of pids.entries()) {
      if (index % SCAN_CHUNK === SCAN_CHUNK - 1) await new Promise((resolve) => setImmediate(resolve))
      const row = readRow(proc, pid)
      if (row === 'unreadable') return null
      if (row !== null) rows.push(row)
    }
    return rows
  })

  /** A read of `environ` may wait for the process's memory, so it is done off the main thread. */
  async function carries(pid: number, mark: string): Promise<boolean> {
    try {
      const environ = await readFile(`${proc}/${pid}/environ`, 'latin1')
      return environ === mark || environ.startsWith(`${mark}\0`) || environ.includes(`\0${mark}\0`)
    } catch {
      return false
    }
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
    row: (pid) => Promise.resolve(readRow(proc, pid)),
    rows: scan,
    async marked(rows, workerId) {
      const mark = `${WORKER_MARK}=${workerId}`
      const uid = process.getuid?.() ?? -1
      const found = new Set<number>()
      const queue = rows.filter((row) => !row.zombie && row.uid === uid && row.pid !== 2 && row.ppid !== 2)
      const read = async (): Promise<void> => {
        for (let row = queue.pop(); row !== undefined; row = queue.pop()) {
          if (await carries(row.pid, mark)) found.add(row.pid)
        }
      }
      await Promise.all(Array.from({ length: ENVIRON_READS }, read))
      return found
    },
  }
}
