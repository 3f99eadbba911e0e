import { expect, test } from 'vitest'
import { createSharedDatabase, startProcess } from './support/workers.ts'

const ROUNDS = 100

test(
  'RT-A15 two processes that want the same sessions in another order never have them both, and never wait for each other',
  { timeout: 120_000 },
  async () => {
    using db = createSharedDatabase()
    await using first = await startProcess(db.dir)
    await using second = await startProcess(db.dir)
    const [a, b] = [await first.call<string>('create'), await first.call<string>('create')]
    interface Counts {
      held: number
      refused: number
      together: number
    }
    const [one, two] = await Promise.all([
      first.call<Counts>('hold', { ids: `${a},${b}`, rounds: String(ROUNDS) }),
      second.call<Counts>('hold', { ids: `${b},${a}`, rounds: String(ROUNDS) }),
    ])
    expect(one.together + two.together).toBe(0)
    expect(one.held + one.refused).toBe(ROUNDS)
    expect(two.held + two.refused).toBe(ROUNDS)
    expect(one.held + two.held).toBeGreaterThan(0)
    expect(db.rows(`SELECT state FROM leases`)).toEqual([{ state: 'released' }, { state: 'released' }])
  },
)
