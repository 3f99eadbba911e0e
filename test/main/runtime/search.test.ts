import fc from 'fast-check'
import { expect, test } from 'vitest'
import { snippetOf, wordsOf } from '../../../src/main/runtime/sessions/snippet.ts'
import { createTestRuntime, quiet } from './support/runtime.ts'
import type { TestRuntime } from './support/runtime.ts'

async function say(t: TestRuntime, text: string, answer: string): Promise<void> {
  await t.submit({ text })
  await quiet()
  t.executor.last().text(answer)
  t.executor.last().end()
  await t.clock.advance(10)
}

test('what was said is found by all of its words, the last one as a beginning, newest first', async () => {
  await using t = await createTestRuntime({ title: 'Refactoring' })
  await say(t, 'rename the parser', 'The parser of the\nconfiguration is renamed.')
  await say(t, 'now the printer', 'Printing is done by the parser no more.')
  const { sessions, hits, next } = t.runtime.sessions.search({ text: 'PARSER conf' })
  expect(sessions).toEqual([])
  expect(next).toBeNull()
  expect(hits).toMatchObject([{ kind: 'assistant', sessionTitle: 'Refactoring', sessionId: t.session.id }])
  const { text, marks } = hits[0]?.snippet ?? { text: '', marks: [] }
  expect(text).toBe('The parser of the configuration is renamed.')
  expect(marks.map(([from, to]) => text.slice(from, to))).toEqual(['parser', 'conf'])
  const all = t.runtime.sessions.search({ text: 'parser' }).hits
  expect(all.map(({ kind }) => kind)).toEqual(['assistant', 'assistant', 'user'])
})

test('a session is found by its title, whatever its letters mean to the database', async () => {
  await using t = await createTestRuntime({ title: '100% of a_b' })
  const titles = (text: string) => t.runtime.sessions.search({ text }).sessions.map(({ title }) => title)
  expect(titles('100%')).toEqual(['100% of a_b'])
  expect(titles('OF A_B')).toEqual(['100% of a_b'])
  expect(titles('100% x')).toEqual([])
  expect(titles('aXb')).toEqual([])
  expect(titles('%')).toEqual(['100% of a_b'])
})

test('pages follow each other without a gap or a double', async () => {
  await using t = await createTestRuntime()
  for (let n = 1; n <= 7; n++) await say(t, `word ${n}`, `nothing ${n}`)
  const found: (number | string)[] = []
  let before: number | undefined
  for (let page = 0; page < 5; page++) {
    const { hits, next } = t.runtime.sessions.search({
      text: 'word',
      limit: 3,
      ...(before === undefined ? {} : { before }),
    })
    found.push(...hits.map(({ snippet }) => snippet.text))
    if (next === null) break
    before = next
  }
  expect(found).toEqual(['word 7', 'word 6', 'word 5', 'word 4', 'word 3', 'word 2', 'word 1'])
})

test('no query is an expression of its own, and what is deleted is found no more', async () => {
  await using t = await createTestRuntime()
  await say(t, 'a "quoted" NEAR(thing)', 'x')
  const search = (text: string): number => t.runtime.sessions.search({ text }).hits.length
  expect(search('"quoted"')).toBe(1)
  expect(search('NEAR(thing')).toBe(1)
  expect(search('quoted OR nothing')).toBe(0)
  expect(search('* AND - ^ :')).toBe(0)
  expect(search('')).toBe(0)
  expect(() => search('a'.repeat(201))).toThrow(expect.objectContaining({ code: 'input_invalid' }))
  await t.runtime.sessions.delete(t.session.id)
  expect(search('quoted')).toBe(0)
})

test('a snippet is short, marks what matched and never cuts a character in two', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 600 })
  fc.assert(
    fc.property(text, fc.constantFrom('Käse', '日本', 'a1', 'z'), text, (before, word, after) => {
      const { text: shown, marks } = snippetOf(`${before} ${word} ${after}`, wordsOf(word))
      expect(shown.length).toBeLessThanOrEqual(203)
      expect(shown.isWellFormed()).toBe(true)
      expect(marks.length).toBeGreaterThan(0)
      for (const [from, to] of marks) expect(shown.slice(from, to).toLowerCase()).toBe(word.toLowerCase())
    }),
  )
})
