/** The crashes and races of `npm run test:faults`, a few rounds of each. */
import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundleProgram } from '../../faults/bundle.ts'
import { CRASHES, RACES } from '../../faults/cases/index.ts'
import { begin, finish, openLane } from '../../faults/lane.ts'
import type { Lane } from '../../faults/lane.ts'
import { play } from '../../faults/play.ts'
import type { FaultCase } from '../../faults/types.ts'

const ROUNDS = 3
const GENEROUS_MS = 300_000

let program = ''
const lanes = new Map<FaultCase['lane'], Lane>()

async function laneOf(kind: FaultCase['lane']): Promise<Lane> {
  const known = lanes.get(kind) ?? (await openLane(kind, program))
  lanes.set(kind, known)
  return known
}

beforeAll(async () => {
  program = await bundleProgram()
}, GENEROUS_MS)

afterAll(async () => {
  for (const lane of lanes.values()) await lane[Symbol.asyncDispose]()
  rmSync(dirname(program), { recursive: true, force: true })
}, GENEROUS_MS)

/** What a round leaves when it breaks would break all that follow. */
async function hold(fault: FaultCase): Promise<void> {
  const { broken } = await play(fault, ROUNDS, await laneOf(fault.lane))
  if (broken.length > 0) {
    const lane = lanes.get(fault.lane)
    lanes.delete(fault.lane)
    await lane?.[Symbol.asyncDispose]()
  }
  expect(broken).toEqual([])
}

test.each(CRASHES)('$id a crash at $at $holds', { timeout: GENEROUS_MS }, hold)

test.each(RACES)('$id $at: $holds', { timeout: GENEROUS_MS }, hold)

test('RT-A02 a key used in another process answers the same run', { timeout: GENEROUS_MS }, async () => {
  const lane = await laneOf(undefined)
  const { sessionId, runId } = await begin(lane, lane.keeper)
  const peer = await lane.peer()
  await expect(peer.call('submit', { sessionId, key: 'k' })).resolves.toMatchObject({ runId, replayed: true })
  expect(lane.rows('SELECT id FROM runs WHERE session_id = ?', sessionId)).toHaveLength(1)
  await finish(lane.keeper, runId)
})

test('RT-A10 whoever waits for the run of a killed process has it ended', { timeout: GENEROUS_MS }, async () => {
  const lane = await laneOf(undefined)
  const owner = await lane.victim()
  const { sessionId, runId } = await begin(lane, owner)
  await expect(lane.keeper.call('inspect', { sessionId })).resolves.toMatchObject({
    state: 'external',
    ownerPid: owner.pid,
  })
  await owner.kill()
  await expect(lane.keeper.call('inspect', { sessionId })).resolves.toMatchObject({ state: 'orphaned' })
  await expect(lane.keeper.call('wait', { runId })).resolves.toMatchObject({
    terminal: true,
    run: { state: 'failed', error: { code: 'owner_lost' } },
  })
})
