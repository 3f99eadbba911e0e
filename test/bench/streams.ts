import { createSharedDatabase, startProcess } from '../main/runtime/support/workers.ts'
import { median } from './types.ts'
import type { Benchmark } from './types.ts'

const ALONE_S = 20
const TOGETHER_S = 60

/** What the fixture's process tells of runs that talked for a while. */
interface Talk {
  commitsPerSecond: number
  /** p99, in ms. */
  loopDelayMs: number
  writeWaitMs: number
  leasesLost: number
}

/** Agents that talk, 50 pieces of text a second each. */
export const streams: Benchmark = {
  name: 'runtime-streams',
  group: 'runtime',
  how: `Runs that each say 50 pieces of text a second: 8 in one process for ${ALONE_S} s; then two processes with 4 each over one database for ${TOGETHER_S} s. Commits are those of the whole process, renewals of leases among them.`,
  async run() {
    const alone = await talk(1, 8, ALONE_S)
    const together = await talk(2, 4, TOGETHER_S)
    const at = (value: number) => ({ kind: 'at_most', value }) as const
    const commits = alone.map(({ commitsPerSecond }) => Math.round(commitsPerSecond * 10) / 10)
    const delays = alone.map(({ loopDelayMs }) => loopDelayMs)
    const waits = together.map(({ writeWaitMs }) => writeWaitMs)
    const lost = together.reduce((sum, { leasesLost }) => sum + leasesLost, 0)
    return [
      { name: '8 runs, commits a second', unit: 'commits', value: median(commits), samples: commits, target: at(11) },
      { name: '8 runs, event loop delay, p99', unit: 'ms', value: median(delays), samples: delays, target: at(25) },
      { name: 'two processes, leases lost', unit: 'count', value: lost, samples: [lost], target: at(0) },
      {
        name: 'two processes, wait of a write, p99',
        unit: 'ms',
        value: Math.max(...waits),
        samples: waits,
        target: at(250),
      },
    ]
  },
}

async function talk(processes: number, runs: number, seconds: number): Promise<Talk[]> {
  using db = createSharedDatabase()
  const started = []
  try {
    for (let n = 0; n < processes; n++) started.push(await startProcess(db.dir))
    return await Promise.all(
      started.map((process) => process.call<Talk>('talk', { runs: String(runs), seconds: String(seconds) })),
    )
  } finally {
    for (const process of started) await process.kill()
  }
}
