import { describe, expect, test } from 'vitest'
import { amount, duration, shortenMiddle, shortTime } from '../../../src/renderer/text/index.ts'

describe('amounts and times', () => {
  test.each([
    [340, '340 ms'],
    [1_240, '1.2 s'],
    [42_000, '42 s'],
    [185_000, '3 min 5 s'],
    [7_440_000, '2 h 4 min'],
  ])('%i ms read as %s', (ms, words) => expect(duration(ms)).toBe(words))

  test.each([
    [812, '812'],
    [3_421, '3.4 k'],
    [34_210, '34 k'],
    [1_234_567, '1.2 M'],
  ])('%i read as %s', (count, words) => expect(amount(count)).toBe(words))

  test('are relative up to a day, then absolute', () => {
    const now = new Date(2024, 4, 14, 12).getTime()
    expect(shortTime(now - 10_000, now)).toBe('now')
    expect(shortTime(now - 4 * 60_000, now)).toBe('4 min')
    expect(shortTime(now - 3 * 3_600_000, now)).toBe('3 h')
    expect(shortTime(now - 48 * 3_600_000, now)).toBe('May 12')
  })

  test('a long path loses its middle, never its ends', () => {
    const path = `/home/me/${'deep/'.repeat(40)}file.ts`
    const short = shortenMiddle(path, 40)
    expect(short).toHaveLength(40)
    expect(short.startsWith('/home/me')).toBe(true)
    expect(short.endsWith('file.ts')).toBe(true)
  })
})
