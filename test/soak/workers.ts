import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { createAcpWorkers, never } from '../support/acp-worker.ts'
import type { Soak } from './types.ts'

const AT_ONCE = 8
const SAY_EVERY = 100

/** Linux. */
export const workersSoak = (rounds: number): Soak => ({
  name: 'workers',
  how: `${rounds} workers started, prompted once and closed, ${AT_ONCE} at a time: descriptors, processes and private folders are as before.`,
  async run(say) {
    await using fleet = createAcpWorkers()
    const ids = new Set<string>()
    const once = async (): Promise<void> => {
      const cfg = await fleet.config('ok')
      ids.add(cfg.workerId)
      const session = await fleet.workers.open('acp', cfg, {}, never)
      const prompt = { text: 'hello', inputs: [], clientMessageId: cfg.workerId, literal: false }
      const { stop } = await session.prompt(prompt)
      if (stop !== 'end_turn') throw new Error(`a turn ended as ${stop}`)
      const outcome = await session.close()
      if (outcome.kind !== 'gone') throw new Error(`a worker is ${outcome.kind}: ${outcome.reason}`)
      const left = readdirSync(cfg.privateDir)
      if (left.length > 0) throw new Error(`its private folder holds ${left.join(', ')}`)
      rmSync(cfg.privateDir, { recursive: true })
    }
    // What is loaded or opened at the first start stays.
    await Promise.all(Array.from({ length: AT_ONCE }, once))
    const before = readdirSync('/proc/self/fd').length
    for (let round = 0; round < rounds; round += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, once))
      if (round % SAY_EVERY < AT_ONCE) say(`${round} of ${rounds}`)
    }
    const after = readdirSync('/proc/self/fd').length
    if (after > before) throw new Error(`${after - before} descriptors are left open`)
    const alive = marked(ids)
    if (alive.length > 0) throw new Error(`processes ${alive.join(', ')} are left`)
    if (fleet.workers.list().length > 0) throw new Error('workers are left in the list')
    const folders = readdirSync(`${fleet.dir}/workers`)
    if (folders.length > 0) throw new Error(`${folders.length} private folders are left`)
  },
})

/** Processes of these workers, zombies too. */
function marked(ids: ReadonlySet<string>): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      if (!/^\d+$/.test(pid)) return false
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (state === 'Z') return Number(parent) === process.pid
      const mark = /(?:^|\0)WHEELHOUSE_WORKER=([^\0]*)/.exec(readFileSync(`/proc/${pid}/environ`, 'latin1'))?.[1]
      return mark !== undefined && ids.has(mark)
    } catch {
      return false
    }
  })
}
