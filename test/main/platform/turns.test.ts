import { expect, test } from 'vitest'
import { createPace, mapInSlices } from '../../../src/main/platform/index.ts'

test('long work in slices keeps the order, and lets others have their turn between two', async () => {
  const seen: string[] = []
  setImmediate(() => seen.push('another'))
  const working = mapInSlices([1, 2, 3], 2, (slice) => {
    seen.push(slice.join())
    return slice.map((n) => n * 2)
  })
  await expect(working).resolves.toEqual([2, 4, 6])
  expect(seen).toEqual(['1,2', 'another', '3'])
  await expect(mapInSlices([], 2, () => [1])).resolves.toEqual([])
})

test('a pace gives way only once its steps have taken long enough', async () => {
  let nowMs = 0
  const pace = createPace({ monotonicMs: () => nowMs })
  let gaveWay = false
  setImmediate(() => {
    gaveWay = true
  })
  await pace()
  expect(gaveWay).toBe(false)
  nowMs = 9
  await pace()
  expect(gaveWay).toBe(true)
})
