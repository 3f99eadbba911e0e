import { EventEmitter } from 'node:events'
import { describe, expect, test } from 'vitest'
import { endOnUncaught } from '../../../src/main/desktop/crash.ts'
import type { CrashDeps } from '../../../src/main/desktop/crash.ts'
import { createShutdown, STOP_LIMIT_MS } from '../../../src/main/desktop/shutdown.ts'
import { createFakeClock } from '../../support/clock.ts'
import { createMemoryLog } from '../../support/log.ts'

describe('the stop', () => {
  test('runs its steps in order, once, however often it is asked', async () => {
    const done: string[] = []
    const step = (name: string) => ({ name, run: async () => void done.push(name) })
    const shutdown = createShutdown({ clock: createFakeClock(), log: createMemoryLog(), steps: [step('a'), step('b')] })
    expect(await Promise.all([shutdown.stop(), shutdown.stop()])).toEqual([true, true])
    expect(done).toEqual(['a', 'b'])
  })

  test('goes on after a step that failed, and logs it', async () => {
    const log = createMemoryLog()
    const done: string[] = []
    const shutdown = createShutdown({
      clock: createFakeClock(),
      log,
      steps: [
        { name: 'broken', run: () => Promise.reject(new Error('no')) },
        { name: 'next', run: () => void done.push('next') },
      ],
    })
    expect(await shutdown.stop()).toBe(true)
    expect(done).toEqual(['next'])
    expect(log.entries).toMatchObject([{ message: 'a step of the stop failed', fields: { step: 'broken' } }])
  })

  test('DT-A40 is over within 15 s, whatever hangs', async () => {
    const clock = createFakeClock()
    const log = createMemoryLog()
    const steps = [{ name: 'hangs', run: () => new Promise<void>(() => {}) }]
    const stopped = createShutdown({ clock, log, steps }).stop()
    await clock.advance(STOP_LIMIT_MS)
    expect(await stopped).toBe(false)
    expect(log.entries).toMatchObject([{ level: 'error' }])
  })
})

describe('a bug that nobody caught', () => {
  function setUp(isReady: boolean) {
    const process = new EventEmitter()
    const happened: string[] = []
    const { promise: exited, resolve } = Promise.withResolvers<number>()
    const electron = {
      app: { isReady: () => isReady, exit: resolve },
      dialog: {
        showMessageBox: async () => void happened.push('shown'),
        showErrorBox: () => void happened.push('shown'),
      },
    } as unknown as CrashDeps['electron']
    endOnUncaught({
      electron,
      process,
      report: (message, error) => happened.push(`${message}: ${String(error)}`),
      end: async () => void happened.push('ended'),
    })
    return { process, happened, exited }
  }

  test.each([true, false])('DT-A33 is logged, shown once, and ends the app (ready: %s)', async (isReady) => {
    const { process, happened, exited } = setUp(isReady)
    process.emit('unhandledRejection', new Error('first'))
    process.emit('uncaughtException', new Error('second'))
    expect(await exited).toBe(1)
    expect(happened.toSorted()).toEqual([
      'a rejection was not handled: Error: first',
      'an exception was not caught: Error: second',
      'ended',
      'shown',
    ])
  })
})
