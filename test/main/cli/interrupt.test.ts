import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { listenForInterrupts } from '../../../src/main/cli/interrupt.ts'

function setUp() {
  const source = new EventEmitter()
  const left: number[] = []
  let nowMs = 0
  const exit = (code: number): void => void left.push(code)
  const interrupts = listenForInterrupts({ on: (signal, listener) => source.on(signal, listener), exit }, () => nowMs)
  const press = (atMs: number, signal = 'SIGINT'): void => {
    nowMs = atMs
    source.emit(signal)
  }
  return { interrupts, left, press }
}

test('one press that comes twice is one', () => {
  const { interrupts, left, press } = setUp()
  press(0)
  expect(interrupts.signal.aborted).toBe(true)
  press(299, 'SIGTERM')
  expect(left).toEqual([])
})

test('a second press leaves at once', () => {
  const { left, press } = setUp()
  press(0)
  press(300)
  expect(left).toEqual([130])
})

test('what goes on after the command is told to end by a press of its own', () => {
  const { interrupts, left, press } = setUp()
  press(0)
  const next = interrupts.renew()
  press(1_000)
  expect([next.aborted, left]).toEqual([true, []])
  press(2_000)
  expect(left).toEqual([130])
})
