import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseAnsi, plainOutput } from '../../../src/renderer/content/ansi.ts'

const ESC = '\u001b'

describe('the output of a command', () => {
  test('keeps colours as names of ours, and weight', () => {
    const spans = parseAnsi(`${ESC}[31mred${ESC}[0m ${ESC}[1;92mok${ESC}[0m`)
    expect(spans.map(({ text, color, bold }) => ({ text, color, bold }))).toEqual([
      { text: 'red', color: 'red', bold: false },
      { text: ' ', color: null, bold: false },
      { text: 'ok', color: 'green', bold: true },
    ])
  })

  test('DT-A22 drops links, titles and cursor moves of the terminal', () => {
    const hostile = `${ESC}]8;;https://evil.example${ESC}\\click${ESC}]8;;${ESC}\\${ESC}]0;title\u0007${ESC}[2J${ESC}[10;10Hend`
    expect(plainOutput(hostile)).toBe('clickend')
  })

  test('shows the last state of a line that was overwritten', () => {
    expect(plainOutput('10 %\r50 %\r100 %\r\ndone\r\n')).toBe('100 %\ndone\n')
  })

  test('is never longer than what was printed, whatever that was', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(ESC, '[', ']', ';', 'm', '3', '1', 'a', '\r', '\n', '\u0007', '\\') }),
        (text) => {
          expect(plainOutput(text).length).toBeLessThanOrEqual(text.length)
        },
      ),
    )
  })
})
