import { readdirSync, readFileSync } from 'node:fs'
import { afterEach, expect, test, vi } from 'vitest'
import type { CliBridge } from '../../../src/main/cli/bridge.ts'
import { inLine, printError, printJson } from '../../../src/main/cli/print.ts'
import { sessions } from '../../../src/main/cli/sessions.ts'
import { AppError } from '../../../src/shared/errors.ts'

afterEach(() => vi.restoreAllMocks())

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

function spied(stream: 'stdout' | 'stderr'): () => string {
  const write = vi.spyOn(process[stream], 'write').mockReturnValue(true)
  return () => write.mock.calls.map(([text]) => String(text)).join('')
}

test('an error that quotes a file or an agent steers no terminal', () => {
  const told = spied('stderr')
  printError(new AppError('file_failed', 'It cannot be read.', { detail: '/tmp/\u001b]0;x\u0007\u202e' }))
  expect(told()).toBe('wheelhouse: It cannot be read. (/tmp/\\u001b]0;x\\u0007\\u202e) [file_failed]\n')
})

test('a session’s title steers no terminal, and looks like no other session', async () => {
  const said = spied('stdout')
  const session = { id: 's', updatedAt: 0, state: 'idle', title: '\u001b[2Ja\nb' }
  const cli = { bridge: { call: () => Promise.resolve({ sessions: [session] }) } } as unknown as CliBridge
  await sessions([])(cli, new AbortController().signal)
  expect(said()).toBe(`s  1970-01-01 00:00  idle        ${inLine('\\u001b[2Ja\nb')}\n`)
})

test('everything that is printed goes through the one place that makes it visible', () => {
  const folder = new URL('../../../src/main/cli/', import.meta.url)
  const others = readdirSync(folder).filter((name) => name !== 'print.ts')
  const writing = others.filter((name) => /std(?:out|err)\.write/.test(readFileSync(new URL(name, folder), 'utf8')))
  expect(others).toContain('sessions.ts')
  expect(writing).toEqual([])
})
