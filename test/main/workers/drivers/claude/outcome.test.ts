import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createSecretRegistry } from '../../../../../src/main/platform/index.ts'
import { actionOf } from '../../../../../src/main/workers/drivers/claude/action.ts'
import { turnEnd } from '../../../../../src/main/workers/drivers/claude/outcome.ts'
import { resultContent, toolView } from '../../../../../src/main/workers/drivers/claude/tools.ts'
import { Result } from '../../../../../src/main/workers/drivers/claude/wire.ts'
import { createRedactor } from '../../../../../src/main/workers/text/redactor.ts'
import { createTempDir } from '../../../../support/dir.ts'

const redactor = createRedactor(createSecretRegistry(), { secrets: [], env: {}, dirs: [] })

test.each<[string, object, string | null, object]>([
  ['well', {}, null, { stop: 'end_turn' }],
  ['is_error with status 401', { is_error: true, api_error_status: 401 }, null, { code: 'login_required' }],
  ['is_error with status 429', { is_error: true, api_error_status: 429 }, null, { code: 'usage_limit' }],
  ['is_error', { is_error: true, result: 'it broke' }, null, { code: 'turn_failed' }],
  ['a named reason', { is_error: true }, 'billing_error', { code: 'usage_limit' }],
  ['a cut stream', { stop_reason: null }, null, { code: 'stop_unknown' }],
  ['a cut tool call', { num_turns: 2, stop_reason: 'tool_use' }, null, { code: 'stop_unknown' }],
  ['a command of its own', { num_turns: 0, stop_reason: null }, null, { stop: 'end_turn' }],
  ['a full context', { stop_reason: 'max_tokens' }, null, { stop: 'max_tokens' }],
  ['the model says no', { stop_reason: 'refusal', is_error: true }, null, { stop: 'refusal' }],
  ['too many requests', { subtype: 'error_max_turns', is_error: true }, null, { stop: 'max_turn_requests' }],
  [
    'interrupted',
    { subtype: 'error_during_execution', is_error: true, terminal_reason: 'aborted_tools' },
    null,
    { stop: 'cancelled' },
  ],
])('WK-69 a turn that ended: %s', (_what, more, named, expected) => {
  const result = Result.parse({ subtype: 'success', num_turns: 1, stop_reason: 'end_turn', ...more })
  const end = turnEnd(result, named, null, redactor)
  expect(end.kind === 'stopped' ? { stop: end.stop } : { code: end.error.code }).toEqual(expected)
})

test('what is asked shows exactly what will be done', () => {
  using dir = createTempDir()
  const present = dir.at('present.txt')
  const absent = dir.at('absent.txt')
  writeFileSync(present, 'as it is')
  const edit = (path: string, oldText: string | null, newText: string, complete: boolean): object => ({
    action: { kind: 'edit', changes: [{ path, oldText, newText }] },
    complete,
  })
  const command = (complete: boolean): object => ({
    action: { kind: 'command', command: 'ls', cwd: '/here', wrapper: null },
    complete,
  })
  const asked = (tool: string, input: Record<string, unknown>): object => actionOf(tool, input, '/here')
  expect(asked('Bash', { command: 'ls', description: 'List', timeout: 5 })).toEqual(command(true))
  expect(asked('Bash', { command: 'ls', dangerouslyDisableSandbox: true })).toEqual(command(false))
  expect(asked('Bash', { command: ['ls'] })).toMatchObject({ action: { kind: 'other' }, complete: false })
  const change = { file_path: present, old_string: 'a', new_string: 'b' }
  expect(asked('Edit', { ...change, replace_all: false })).toEqual(edit(present, 'a', 'b', true))
  expect(asked('Edit', { ...change, replace_all: true })).toEqual(edit(present, 'a', 'b', false))
  expect(asked('Write', { file_path: present, content: 'new' })).toEqual(edit(present, 'as it is', 'new', true))
  expect(asked('Write', { file_path: absent, content: 'new' })).toEqual(edit(absent, null, 'new', true))
  expect(asked('Write', { file_path: dir.path, content: 'new' })).toEqual(edit(dir.path, '', 'new', false))
  // It says that it is empty, and never ends.
  const endless = '/proc/self/pagemap'
  if (process.platform === 'linux') {
    expect(asked('Write', { file_path: endless, content: 'new' })).toEqual(edit(endless, '', 'new', false))
  }
  expect(asked('mcp__files__read', { path: '/etc' })).toEqual({
    action: { kind: 'mcp', server: 'files', tool: 'read', input: '{\n  "path": "/etc"\n}' },
    complete: true,
  })
})

test('a call is named by what it does, and a command ends with its code', () => {
  expect(toolView('Bash', { command: 'first\nsecond' })).toMatchObject({ kind: 'execute', title: 'first\nsecond' })
  expect(toolView('Grep', { pattern: 'x', path: '/in' })).toMatchObject({ title: 'Search for x', paths: ['/in'] })
  expect(toolView('mcp__a__b', {})).toMatchObject({ kind: 'other', title: 'a: b' })
  expect(toolView('Edit', { file_path: '/f', old_string: 'a', new_string: 'b' }).content).toEqual([
    { type: 'diff', path: '/f', oldText: 'a', newText: 'b' },
  ])
  const output = (text: string, failed: boolean): unknown => resultContent('execute', text, failed)[0]
  expect(output('fine', false)).toEqual({ type: 'output', text: 'fine', exitCode: 0 })
  expect(output('Exit code 2\nno such file', true)).toEqual({ type: 'output', text: 'no such file', exitCode: 2 })
  expect(output('The person said no.', true)).toEqual({ type: 'output', text: 'The person said no.', exitCode: null })
})
