import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BODY_CHARS, decisionLine, settledLine, shortened } from '../../../src/main/notifications/text.ts'
import { aDecision } from './support.ts'

const commandLine = (command: string): string =>
  decisionLine(aDecision(1, { action: { kind: 'command', command, cwd: '/work', wrapper: null } }))

describe('the line of a decision', () => {
  test.each([
    ['API_KEY=abc123 npm publish', 'API_KEY=… npm publish'],
    [`A=1 B="two words" C='x y' make all`, 'A=… B=… C=… make all'],
    ['make A=1', 'make A=1'],
    ['cd /tmp\nls', 'cd /tmp ⏎ ls'],
    ['echo \u202Etxt.exe', 'echo [U+202E]txt.exe'],
    ['echo a\u200Bb', 'echo a[U+200B]b'],
  ])('shows %j as %j', (command, shown) => {
    expect(commandLine(command)).toBe(shown)
  })

  test('names the files of an edit and nothing of what is in them', () => {
    const changes = [
      { path: 'src/a.ts', oldText: 'one secret', newText: 'another secret' },
      { path: 'src/b.ts', oldText: null, newText: 'x' },
    ]
    expect(decisionLine(aDecision(1, { action: { kind: 'edit', changes } }))).toBe('Edit src/a.ts and 1 more')
  })

  test('names the tool of an MCP server without its input', () => {
    const action = { kind: 'mcp', server: 'files', tool: 'write', input: '{"text":"private"}' } as const
    expect(decisionLine(aDecision(1, { action }))).toBe('Use write of files')
  })

  test('never holds a control or direction character, whatever the command', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (command) => {
        // oxlint-disable-next-line no-control-regex -- they are what is looked for
        expect(commandLine(command)).not.toMatch(/[\u0000-\u001f\u202a-\u202e\u2066-\u2069\u200b]/)
      }),
    )
  })
})

test('a text is cut to its bound without halving a character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (text) => {
      const cut = shortened(text, BODY_CHARS)
      expect(Array.from(cut).length).toBeLessThanOrEqual(BODY_CHARS)
      expect(cut.isWellFormed()).toBe(true)
    }),
  )
})

test('a decision that expired says that nothing waits any more', () => {
  expect(settledLine({ kind: 'closed', status: 'timed_out', atMs: 1 })).toBe('It is no longer waiting for an answer.')
})
