/** What runs on this machine, read from `/proc` by the tests themselves. */
import { readFileSync, readdirSync } from 'node:fs'

export interface SeenProcess {
  pid: number
  argv: string
  environ: string
}

/** Every process that this user may look into, but this one. */
export function processes(): SeenProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      try {
        return {
          pid: Number(name),
          argv: readFileSync(`/proc/${name}/cmdline`, 'latin1'),
          environ: readFileSync(`/proc/${name}/environ`, 'latin1'),
        }
      } catch {
        return []
      }
    })
}

/** Whether it runs. One that has ended and waits for its parent to notice is none any more. */
export function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return !/^[ZXx] /.test(stat.slice(stat.lastIndexOf(')') + 2))
  } catch {
    return false
  }
}

/** The processes that carry the mark of one of these workers. */
export function ofWorkers(workerIds: readonly string[]): SeenProcess[] {
  return processes().filter(({ environ }) =>
    workerIds.some((workerId) => environ.split('\0').includes(`WHEELHOUSE_WORKER=${workerId}`)),
  )
}
