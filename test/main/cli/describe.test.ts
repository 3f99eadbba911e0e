import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EventData } from '../../../src/shared/events.ts'
import { describeAction } from '../../../src/main/cli/describe.ts'
import { visible } from '../../../src/main/cli/print.ts'

const asked = (more: Partial<EventData<'decision_requested'>> = {}): EventData<'decision_requested'> => ({
  decisionId: 'd',
  kind: 'approval',
  toolCallId: 'c',
  tool: 'bash',
  toolKind: 'execute',
  title: 'ls',
  action: { kind: 'command', command: 'ls -l\nrm x', cwd: '/project', wrapper: null },
  complete: true,
  risk: 'medium',
  riskReason: 'Removes files.',
  options: [],
  paths: [],
  expiresAt: null,
  ...more,
})

test('a command is shown with its folder, its risk and every line of it', () => {
  expect(describeAction(asked(), null)).toBe(
    'The agent asks (medium risk: Removes files.):\n  ls -l\n  rm x\n  in /project',
  )
})

test('an edit is shown line by line', () => {
  const action = { kind: 'edit', changes: [{ path: '/p/a', oldText: 'one', newText: 'two\nthree' }] } as const
  expect(describeAction(asked({ action: { ...action, changes: [...action.changes] }, risk: null }), null)).toBe(
    'The agent asks:\n  /p/a\n  - one\n  + two\n  + three',
  )
})

test('what the event holds in part is shown whole, and what nobody knows whole says so', () => {
  expect(describeAction(asked({ complete: false }), 'all of it')).toMatch(
    /:\nall of it\nThe agent did not say all of it/,
  )
})

test('DT-A22 nothing that a terminal obeys, and nothing that hides text, reaches it', () => {
  const hostile = 'ls\u001b]8;;http://x\u0007\u202egnp.exe\u200b\r\u009b2J'
  const action = { kind: 'command', command: hostile, cwd: '/\u001b[2J', wrapper: null } as const
  const shown = describeAction(asked({ action }), null)
  expect(shown).toContain('ls[U+001B]]8;;http://x[U+0007][U+202E]gnp.exe[U+200B][U+000D][U+009B]2J')
  expect(shown).toContain('in /[U+001B][2J')
})

test('visible text has no control but line break and tab, whatever went in', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(visible(text)).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cf}]/u)
    }),
  )
})
