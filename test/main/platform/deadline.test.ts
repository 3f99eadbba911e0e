import { expect, test } from 'vitest'
import { withDeadline } from '../../../src/main/platform/deadline.ts'
import { createFakeClock, settled } from '../../support/clock.ts'

test('what is in time is answered, and its timer goes', async () => {
  const clock = createFakeClock()
  await expect(withDeadline(clock, 100, undefined, async () => 7)).resolves.toBe(7)
  await settled()
  expect(clock.pending()).toBe(0)
})

test('at the deadline the caller is told at once and the work is asked to stop', async () => {
  const clock = createFakeClock()
  const seen: AbortSignal[] = []
  const outcome = withDeadline(clock, 100, undefined, (inner) => {
    seen.push(inner)
    return new Promise(() => {})
  }).catch((error: unknown) => error)
  await clock.advance(99)
  expect(seen[0]?.aborted).toBe(false)
  await clock.advance(1)
  expect(await outcome).toMatchObject({ code: 'deadline_exceeded', retryable: true })
  expect(seen[0]?.aborted).toBe(true)
})

test('the caller may leave first, and its reason is what comes out', async () => {
  const clock = createFakeClock()
  const caller = new AbortController()
  const outcome = withDeadline(clock, 100, caller.signal, (inner) => clock.sleep(1_000, inner))
  caller.abort(new Error('gone'))
  await expect(outcome).rejects.toThrow('gone')
  await settled()
  expect(clock.pending()).toBe(0)
})

test('a caller who left before does not start the work', async () => {
  let started = false
  const outcome = withDeadline(createFakeClock(), 100, AbortSignal.abort(new Error('gone')), async () => {
    started = true
  })
  await expect(outcome).rejects.toThrow('gone')
  expect(started).toBe(false)
})

test('a throw before the first promise is a rejection', async () => {
  const outcome = withDeadline(createFakeClock(), 100, undefined, () => {
    throw new Error('at once')
  })
  await expect(outcome).rejects.toThrow('at once')
})
