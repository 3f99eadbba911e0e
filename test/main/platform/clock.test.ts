import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { createSystemClock } from '../../../src/main/platform/clock.ts'
import { createIds } from '../../../src/main/platform/ids.ts'
import { createFakeClock } from '../../support/clock.ts'
import { createFakeIds } from '../../support/ids.ts'

const clock = createSystemClock()

test('sleep ends after its time, and at once when it is aborted', async () => {
  const startMs = clock.monotonicMs()
  await clock.sleep(20)
  expect(clock.monotonicMs() - startMs).toBeGreaterThanOrEqual(19)

  const abort = new AbortController()
  const sleep = clock.sleep(60_000, abort.signal)
  abort.abort(new Error('enough'))
  await expect(sleep).rejects.toThrow('enough')
  await expect(clock.sleep(60_000, abort.signal)).rejects.toThrow('enough')
})

test('a disposed timer does not fire', async () => {
  let fired = 0
  clock.after(1, () => fired++)[Symbol.dispose]()
  clock.after(1, () => fired++)
  await clock.sleep(30)
  expect(fired).toBe(1)
})

test('a timer longer than 24 days does not fire at once', async () => {
  let fired = false
  using _timer = clock.after(2 ** 31 + 1_000, () => {
    fired = true
  })
  await clock.sleep(20)
  expect(fired).toBe(false)
})

test('a waiting timer keeps no process alive', async () => {
  const url = new URL('../../../src/main/platform/clock.ts', import.meta.url)
  const code = `import { createSystemClock } from ${JSON.stringify(fileURLToPath(url))}
    createSystemClock().after(600_000, () => {}); console.log('out')`
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], { timeout: 15_000 })
  await expect(run).resolves.toMatchObject({ stdout: 'out\n' })
})

test('ids are UUID v7, unique and rising', () => {
  for (const ids of [createIds(), createFakeIds(), createFakeIds(7)]) {
    const made = Array.from({ length: 200 }, () => ids.next())
    expect(made.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id))).toBe(
      true,
    )
    expect(new Set(made).size).toBe(200)
    expect([...made].sort()).toEqual(made)
    expect(ids.bytes(33)).toHaveLength(33)
    expect(ids.bytes(16)).not.toEqual(ids.bytes(16))
  }
})

test('the fake clock fires timers in the order of their time, with promises settled between', async () => {
  const fake = createFakeClock(1_000)
  const order: string[] = []
  fake.after(20, () => order.push(`late ${fake.nowMs()}`))
  void fake.sleep(10).then(async () => {
    order.push(`early ${fake.nowMs()}`)
    await fake.sleep(5)
    order.push(`then ${fake.nowMs()}`)
  })
  fake.jumpWall(500)
  await fake.advance(20)
  expect(order).toEqual(['early 1510', 'then 1515', 'late 1520'])
  expect([fake.nowMs(), fake.monotonicMs(), fake.pending()]).toEqual([1_520, 20, 0])
})
