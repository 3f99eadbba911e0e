import { expect, test } from 'vitest'
import { printJson } from '../../../src/main/cli/print.ts'

const HOSTILE = { title: 'a\u202eb\u200bc\u009b2J\u{e0041}\u00a0é\n' }

function printed(isTTY: boolean, oneLine: boolean): string {
  let text = ''
  printJson(HOSTILE, { oneLine, to: { isTTY, write: (more) => (text += more) } })
  return text
}

test.each([true, false])(
  'JSON on a terminal holds nothing that hides or steers, and means the same (one line: %s)',
  (oneLine) => {
    const text = printed(true, oneLine)
    expect(text).toContain(String.raw`a\u202eb\u200bc\u009b2J\udb40\udc41\u00a0é\n`)
    expect(JSON.parse(text)).toEqual(HOSTILE)
  },
)

test('JSON for another program is as it is', () => {
  expect(printed(false, false)).toBe(`${JSON.stringify(HOSTILE, null, 2)}\n`)
})
