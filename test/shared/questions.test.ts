import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { answerInWords, answerText, answersForm, formText, valueInWords } from '../../src/shared/questions.ts'
import type { QuestionField, QuestionForm } from '../../src/shared/questions.ts'

const field = (more: Partial<QuestionField>): QuestionField => ({
  id: 'q',
  label: 'Which?',
  kind: 'choice',
  options: ['Red', 'Blue'].map((label) => ({ label, description: '' })),
  other: false,
  required: true,
  ...more,
})
const form = (...fields: QuestionField[]): QuestionForm => ({ text: 'Choose', fields })

describe('a form', () => {
  test.each([
    [field({}), 'Red', true],
    [field({}), 'Green', false],
    [field({ other: true }), 'Green', true],
    [field({ other: true }), '', false],
    [field({ kind: 'choices' }), ['Red', 'Blue'], true],
    [field({ kind: 'choices' }), ['Green'], false],
    [field({ kind: 'choices' }), 'Red', false],
    [field({ kind: 'text', options: [] }), 'words', true],
    [field({ kind: 'number', options: [] }), 4, true],
    [field({ kind: 'number', options: [] }), Number.NaN, false],
    [field({ kind: 'yes_no', options: [] }), false, true],
    [field({ kind: 'yes_no', options: [] }), 'yes', false],
  ])('takes what is of its field’s kind %#', (asked, value, fits) => {
    expect(answersForm(form(asked), { q: value })).toBe(fits)
  })

  test('takes nothing that it did not ask, and nothing less than it needs', () => {
    expect(answersForm(form(field({})), { q: 'Red', other: 'x' })).toBe(false)
    expect(answersForm(form(field({})), {})).toBe(false)
    expect(answersForm(form(field({ required: false })), {})).toBe(true)
    expect(answersForm(form(), {})).toBe(true)
  })

  test('is answered in words where it asks one thing', () => {
    expect(answerInWords(form(field({})), ' blue ')).toEqual({ q: 'Blue' })
    expect(answerInWords(form(field({})), '1')).toEqual({ q: 'Red' })
    expect(answerInWords(form(field({})), 'green')).toBeNull()
    expect(answerInWords(form(field({}), field({ id: 'r' })), 'blue')).toBeNull()
    expect(answerInWords(form(field({}), field({ id: 'r', required: false })), 'blue')).toEqual({ q: 'Blue' })
    expect(valueInWords(field({ kind: 'choices', other: true }), '2, mauve')).toEqual(['Blue', 'mauve'])
    expect(valueInWords(field({ kind: 'number' }), '')).toBeNull()
    expect(valueInWords(field({ kind: 'yes_no' }), 'No')).toBe(false)
  })

  test('is read from beginning to end, and so is its answer', () => {
    const asked = form(field({ options: [{ label: 'Red', description: 'as a rose' }] }))
    expect(formText(asked)).toBe('Choose\nWhich?\n- Red: as a rose')
    expect(answerText({ q: ['Red', 'Blue'], r: true }, asked)).toBe('Which? Red, Blue\nyes')
  })

  test('whatever words become a value, the form takes it', () => {
    const kinds = fc.constantFrom<QuestionField['kind'][]>('choice', 'choices', 'text', 'number', 'yes_no')
    fc.assert(
      fc.property(kinds, fc.boolean(), fc.string(), (kind, other, words) => {
        const asked = field({ kind, other })
        const value = valueInWords(asked, words)
        expect(value === null || answersForm(form(asked), { q: value })).toBe(true)
      }),
    )
  })
})
