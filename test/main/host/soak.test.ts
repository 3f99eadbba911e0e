import { beforeAll, expect, test } from 'vitest'
import { soak } from '../../soak/soak.ts'
import { ensureBuilt } from './support/built.ts'

beforeAll(ensureBuilt, 180_000)

test(
  'several clients on the same sessions leave a database in which every row fits the others, and all saw the same',
  { timeout: 300_000 },
  async () => {
    const outcome = await soak({ sessions: 4, clients: 3, seconds: 8, seed: 7 })
    expect(outcome.violations).toEqual([])
    expect(outcome.runs).toBeGreaterThan(0)
  },
)
