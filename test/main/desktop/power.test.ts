import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { onAway } from '../../../src/main/desktop/power.ts'

test('keys leave memory when the screen is locked and when the machine sleeps, and not after the end', () => {
  const monitor = new EventEmitter()
  let left = 0
  const away = onAway(monitor as unknown as Parameters<typeof onAway>[0], () => void (left += 1))
  monitor.emit('lock-screen')
  monitor.emit('suspend')
  monitor.emit('resume')
  expect(left).toBe(2)
  away[Symbol.dispose]()
  monitor.emit('lock-screen')
  expect([left, monitor.eventNames()]).toEqual([2, []])
})
