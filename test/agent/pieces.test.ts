import { readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'

import { childEnvironment, readAgentEnvironment } from '../../src/agent/environment.ts'
import { closeOpenCalls, createHistory, loadHistory } from '../../src/agent/history.ts'
import { toPromptError } from '../../src/agent/model-errors.ts'
import { createBoundedOutput } from '../../src/agent/tools/bounded-output.ts'
import { htmlToText } from '../../src/agent/tools/fetch.ts'
import { globMatcher } from '../../src/agent/tools/glob.ts'
import { lineMatcher } from '../../src/agent/tools/line-matcher.ts'
import { createTempDir } from '../support/dir.ts'

test.each([
  ['*.ts', 'a.ts', true],
  ['*.ts', 'deep/er/a.ts', true],
  ['*.ts', 'a.tsx', false],
  ['src/*.ts', 'src/a.ts', true],
  ['src/*.ts', 'src/deep/a.ts', false],
  ['src/**/*.ts', 'src/a.ts', true],
  ['src/**/*.ts', 'src/deep/er/a.ts', true],
  ['**/test/**', 'a/test/b/c', true],
  ['*.{js,ts}', 'a.js', true],
  ['*.{js,ts}', 'a.css', false],
  ['a?.txt', 'ab.txt', true],
  ['./src/a.ts', 'src/a.ts', true],
  ['{a,b{c,d}}.ts', 'bd.ts', true],
  ['a+b(c).txt', 'a+b(c).txt', true],
])('the glob %s against %s: %s', (glob, path, meant) => {
  expect(globMatcher(glob)(path)).toBe(meant)
})

test('no glob is too strange to be tried, and one without wildcards means itself', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), fc.string({ unit: 'grapheme' }), (glob, path) => {
      const plain = /^[^*?{},/]+$/u.test(glob)
      expect(typeof globMatcher(glob)(path)).toBe('boolean')
      expect(globMatcher(glob)(glob) || !plain).toBe(true)
    }),
  )
})

test('a glob or a page made to take for ever does not', () => {
  expect(globMatcher(`${'*a'.repeat(100)}b`)('a'.repeat(255))).toBe(false)
  expect(globMatcher(`${'**/'.repeat(100)}x`)('a/'.repeat(60))).toBe(false)
  expect(globMatcher('{a,b}'.repeat(100))('c')).toBe(false)
  expect(globMatcher(`{${'a,'.repeat(200_000)}}`)('c')).toBe(false)
  expect(htmlToText('<script>'.repeat(200_000))).toBe('')
  expect(htmlToText('<!--'.repeat(200_000))).toBe('')
  expect(htmlToText('a<'.repeat(200_000)).startsWith('a<a<')).toBe(true)
})

test('output within the bound is whole; beyond it, head and tail stay and the rest is counted', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 50 })), (chunks) => {
      const output = createBoundedOutput({ headBytes: 20, tailBytes: 30 })
      const ascii = chunks.map((chunk) => Buffer.from(chunk.map((byte) => 97 + (byte % 26))))
      for (const chunk of ascii) output.push(chunk)
      const all = Buffer.concat(ascii).toString()
      const expected =
        all.length <= 50 ? all : `${all.slice(0, 20)}\n[${all.length - 50} bytes left out]\n${all.slice(-30)}`
      expect(output.text()).toBe(expected)
      expect(all.endsWith(output.tail(10))).toBe(true)
    }),
  )
})

test('a line matcher finds what a plain loop finds', () => {
  const match = lineMatcher('b+')
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[abc]{0,6}$/)), (lines) => {
      const found = match(lines.join('\n'), 1_000).map(({ line }) => line)
      expect(found).toEqual(lines.flatMap((line, index) => (line.includes('b') ? [index + 1] : [])))
    }),
  )
  expect(match('b\nb\nb', 2)).toHaveLength(2)
})

test("a child's environment keeps the worker's mark and the user's variables, and nothing else of ours", () => {
  const env = {
    PATH: '/bin',
    LANG: 'C',
    ELECTRON_RUN_AS_NODE: '1',
    WHEELHOUSE_WORKER: 'w1',
    WHEELHOUSE_MODEL_BASE_URL: 'http://127.0.0.1:1/v1',
    WHEELHOUSE_AGENT_HOME: '/private',
    WHEELHOUSE_ANYTHING_ELSE: 'x',
  }
  expect(childEnvironment(env)).toEqual({ PATH: '/bin', LANG: 'C', WHEELHOUSE_WORKER: 'w1' })
})

test('the environment is parsed once, and what only the start needs is deleted from it', () => {
  const env: NodeJS.ProcessEnv = {
    ELECTRON_RUN_AS_NODE: '1',
    WHEELHOUSE_MODEL_BASE_URL: 'http://127.0.0.1:4/v1/',
    WHEELHOUSE_MODEL_PROTOCOL: 'messages',
    WHEELHOUSE_MODEL_ID: 'm',
  }
  const route = {
    baseUrl: 'http://127.0.0.1:4/v1',
    protocol: 'messages',
    modelId: 'm',
    effort: 'default',
    contextTokens: null,
  }
  expect(readAgentEnvironment(env)).toEqual({ model: { route, key: null }, home: null })
  expect(env['ELECTRON_RUN_AS_NODE']).toBeUndefined()
  expect(() => readAgentEnvironment({ ...env, WHEELHOUSE_MODEL_PROTOCOL: 'smtp' })).toThrow('protocol')
})

test('a conversation with every call answered is left as it is, one with a lost call is closed', () => {
  const call = (toolCallId: string) => ({ type: 'tool-call' as const, toolCallId, toolName: 'bash', input: {} })
  const result = (toolCallId: string) => ({
    type: 'tool-result' as const,
    toolCallId,
    toolName: 'bash',
    output: { type: 'text' as const, value: 'ok' },
  })
  const whole = [
    { role: 'assistant' as const, content: [call('a'), call('b')] },
    { role: 'tool' as const, content: [result('a'), result('b')] },
  ]
  expect(closeOpenCalls(whole)).toEqual(whole)
  const half = [
    { role: 'assistant' as const, content: [call('a'), call('b')] },
    { role: 'tool' as const, content: [result('a')] },
    { role: 'user' as const, content: 'go on' },
  ]
  expect(closeOpenCalls(half)).toMatchObject([
    { role: 'assistant' },
    { role: 'tool', content: [{ toolCallId: 'a' }, { toolCallId: 'b', output: { type: 'error-text' } }] },
    { role: 'user' },
  ])
})

test('whatever is thrown becomes an error with a message and the four facts', () => {
  const facts = ['code', 'httpStatus', 'requestId', 'retryAfterMs']
  fc.assert(
    fc.property(fc.anything(), (thrown) => {
      const error = toPromptError(thrown)
      expect(error.message).not.toBe('')
      expect(Object.keys(error.data as object).sort()).toEqual(facts)
    }),
  )
  const refused = toPromptError(
    new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }) }),
  )
  expect(refused.data).toMatchObject({ code: 'ECONNREFUSED', httpStatus: null })
  const limited = toPromptError({
    lastError: {
      message: 'no',
      statusCode: 503,
      responseHeaders: { 'Retry-After': '2' },
      responseBody: '{"error":{"type":"overloaded_error","message":"busy"}}',
    },
  })
  expect(limited).toMatchObject({
    message: 'busy',
    data: { httpStatus: 503, code: 'overloaded_error', retryAfterMs: 2_000 },
  })
})

test('a link in the place of a conversation is neither read nor written through', async () => {
  using dir = createTempDir()
  writeFileSync(dir.at('profile'), 'of the person\n')
  symlinkSync(dir.at('profile'), dir.at('linked.jsonl'))
  expect(await loadHistory(dir.path, 'linked')).toBeNull()

  const history = await createHistory(dir.path, 'own', '/project')
  await history.append([{ role: 'user', content: 'one' }])
  renameSync(dir.at('own.jsonl'), dir.at('moved'))
  symlinkSync(dir.at('profile'), dir.at('own.jsonl'))
  await expect(history.append([{ role: 'user', content: 'two' }])).rejects.toMatchObject({ code: 'ELOOP' })
  expect(readFileSync(dir.at('profile'), 'utf8')).toBe('of the person\n')
})
