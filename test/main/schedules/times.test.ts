import { expect, test } from 'vitest'
import { dueTimes, nextTime } from '../../../src/main/schedules/times.ts'

const at = (text: string): number => Date.parse(text)
const iso = (times: readonly number[]): string[] => times.map((time) => new Date(time).toISOString())

test('the times of a crontab line are those of its own time zone, over the change of the clocks', () => {
  expect(iso(dueTimes('0 9 * * 1-5', 'Europe/Berlin', at('2026-03-27T12:00:00Z'), 2))).toEqual([
    '2026-03-30T07:00:00.000Z',
    '2026-03-31T07:00:00.000Z',
  ])
  // 02:30 is not there on that day: the hour after it is.
  expect(iso(dueTimes('30 2 * * *', 'Europe/Berlin', at('2026-03-28T12:00:00Z'), 2))).toEqual([
    '2026-03-29T01:00:00.000Z',
    '2026-03-30T00:30:00.000Z',
  ])
  expect(iso(dueTimes('@daily', 'UTC', at('2026-01-01T00:00:00Z'), 1))).toEqual(['2026-01-02T00:00:00.000Z'])
})

test('an hour that comes twice counts once', () => {
  const times = dueTimes('30 2 * * *', 'Europe/Berlin', at('2026-10-24T12:00:00Z'), 3)
  expect(new Set(iso(times).map((time) => time.slice(0, 10))).size).toBe(3)
})

test('a day that never comes is due never', () => {
  expect(nextTime('0 0 31 2 *', 'UTC', at('2026-01-01T00:00:00Z'))).toBeNull()
})

test.each(['* * * *', '0 0 9 * * *', 'x', '@reboot', '61 * * * *', '2026-12-01T00:00:00', ''])(
  '"%s" is no schedule',
  (pattern) => {
    expect(() => dueTimes(pattern, 'UTC', 0, 1)).toThrow(expect.objectContaining({ code: 'schedule_invalid' }))
  },
)

test('a time zone that is none is refused', () => {
  expect(() => dueTimes('0 9 * * *', 'No/Where', 0, 1)).toThrow(expect.objectContaining({ code: 'schedule_invalid' }))
})
