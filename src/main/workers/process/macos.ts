/** macOS: `ps` and `sysctl`. Start times have a grain of one second; environments of others cannot be read. */
import { execFile } from 'node:child_process'
import type { ProcessRow, ProcessSource } from './source.ts'
import { sharedScan } from './source.ts'

const COMMAND_MS = 5_000
const COMMAND_BYTES = 16 * 1_024 * 1_024
const COLUMNS = 'pid=,ppid=,pgid=,uid=,stat=,lstart='
/** `nobody` is shown as −2, or as the same without its sign. */
const ROW = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(-?\d+)\s+(\S+)\s+(\S.*?)\s*$/

/** One line of `ps`; null when it is not in that form. `lstart` is kept verbatim but for runs of blanks. */
export function parsePsRow(line: string): ProcessRow | null {
  const match = ROW.exec(line)
  if (match === null) return null
  const [, pid, ppid, pgid, uid, state = '', started = ''] = match
  const startToken = started.replaceAll(/\s+/g, ' ')
  const startedAtMs = Date.parse(`${startToken} UTC`)
  if (Number.isNaN(startedAtMs)) return null
  return {
    pid: Number(pid),
    ppid: Number(ppid),
    pgid: Number(pgid),
    sid: null,
    uid: Number(uid),
    zombie: state.startsWith('Z'),
    startToken,
    startedAtMs,
  }
}

/** Null when any line cannot be read: a listing with holes proves nothing. */
export function parsePs(stdout: string): readonly ProcessRow[] | null {
  const rows: ProcessRow[] = []
  for (const line of stdout.split('\n')) {
    if (line.trim() === '') continue
    const row = parsePsRow(line)
    if (row === null) return null
    rows.push(row)
  }
  return rows
}

export interface CommandResult {
  code: number | null
  stdout: string
}
export type RunCommand = (file: string, args: readonly string[]) => Promise<CommandResult>

const runCommand: RunCommand = (file, args) =>
  new Promise((resolve) => {
    const env = { LC_ALL: 'C', TZ: 'UTC0', PATH: '/usr/bin:/bin:/usr/sbin:/sbin', NODE_V8_COVERAGE: undefined }
    execFile(file, [...args], { env, timeout: COMMAND_MS, maxBuffer: COMMAND_BYTES }, (error, stdout) => {
      const failed = error === null ? 0 : typeof error.code === 'number' ? error.code : null
      resolve({ code: failed, stdout })
    })
  })

export function createMacosSource(run: RunCommand = runCommand): ProcessSource {
  let bootId: string | null = null
  return {
    async bootId() {
      if (bootId !== null) return bootId
      const asked = await run('/usr/sbin/sysctl', ['-n', 'kern.bootsessionuuid'])
      const answer = asked.stdout.trim()
      bootId = asked.code === 0 && answer !== '' ? answer : null
      return bootId
    },
    async row(pid) {
      const asked = await run('/bin/ps', ['-o', COLUMNS, '-p', String(pid)])
      if (asked.stdout.trim() === '') return asked.code === null ? 'unreadable' : null
      return parsePsRow(asked.stdout.trimEnd()) ?? 'unreadable'
    },
    rows: sharedScan(async () => {
      const asked = await run('/bin/ps', ['-A', '-o', COLUMNS])
      return asked.code === 0 ? parsePs(asked.stdout) : null
    }),
    marked: () => Promise.resolve(new Set<number>()),
  }
}
