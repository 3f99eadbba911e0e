import { existsSync, readdirSync, utimesSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import type { Admission, ScanOutcome } from '../../../src/main/runtime/index.ts'
import { createSharedDatabase, startProcess } from './support/workers.ts'

const GENEROUS_MS = 90_000
const ROUNDS = 20

test(
  'RT-A31 a crash in the middle of a copy completes the run without the torn file, which goes after 8 days',
  { timeout: GENEROUS_MS },
  async () => {
    using db = createSharedDatabase()
    await using first = await startProcess(db.dir, { killAt: { name: 'artifact.mid_copy', times: 2 } })
    const sessionId = await first.call<string>('create')
    await first.call<Admission>('submit', { sessionId })
    await db.until(`SELECT id FROM runs WHERE state = 'running'`)
    await first.call('offerSlowly')
    await first.call('end').catch(() => undefined)
    await first.died

    await using second = await startProcess(db.dir)
    await expect(second.call<ScanOutcome>('scan')).resolves.toMatchObject({ finished: 1 })
    expect(db.rows('SELECT state FROM runs')).toEqual([{ state: 'completed' }])
    expect(db.rows('SELECT id FROM attachments')).toEqual([])
    const artifacts = join(db.dir, 'data', 'artifacts')
    const [torn = ''] = readdirSync(artifacts)
    await second.call('cleanUp')
    expect(readdirSync(artifacts)).toEqual([torn])
    const old = new Date(Date.now() - 8 * 24 * 3_600_000 - 60_000)
    utimesSync(join(artifacts, torn), old, old)
    await second.call('cleanUp')
    expect(readdirSync(artifacts)).toEqual([])
  },
)

test(
  'RT-A84 a crash right after an attachment was deleted leaves its row so, and its files go at the next cleanup',
  { timeout: GENEROUS_MS },
  async () => {
    using db = createSharedDatabase()
    await using first = await startProcess(db.dir, { killAt: { name: 'input.after_delete_commit', times: 1 } })
    const sessionId = await first.call<string>('create')
    const { id, path } = await first.call<{ id: string; path: string }>('prepare', { sessionId })
    await expect(first.call('deleteInput', { sessionId, inputId: id })).rejects.toThrow('died')
    expect(db.rows('SELECT status FROM input_resources')).toEqual([{ status: 'deleted' }])
    expect(existsSync(path)).toBe(true)
    await using second = await startProcess(db.dir)
    await second.call('cleanUp')
    expect(existsSync(dirname(path))).toBe(false)
  },
)

test(
  'RT-A66 one event that two processes bring at once is one row and one folder',
  { timeout: GENEROUS_MS },
  async () => {
    using db = createSharedDatabase()
    await using first = await startProcess(db.dir)
    await using second = await startProcess(db.dir)
    const sessionId = await first.call<string>('create')
    for (let round = 1; round <= ROUNDS; round++) {
      const request = { sessionId, eventId: `event-${round}` }
      const [one, two] = await Promise.all([
        first.call<{ id: string }>('prepare', request),
        second.call<{ id: string }>('prepare', request),
      ])
      expect(one.id).toBe(two.id)
      expect(readdirSync(join(db.dir, '.wheelhouse', 'inputs'))).toHaveLength(round)
    }
    expect(db.rows('SELECT id FROM input_resources')).toHaveLength(ROUNDS)
  },
)
