import { expect, test } from 'vitest'
import { elicitedForm } from '../../../../src/main/workers/drivers/shared/elicitation.ts'
import { readAsking } from '../../../../src/main/workers/drivers/claude/asking.ts'

const asked = (properties: unknown, required: string[] = []) =>
  elicitedForm({ mode: 'form', message: 'Tell me', requestedSchema: { type: 'object', properties, required } })

test('WK-71 a form of plain fields is shown field by field, and answered by the values behind the labels', () => {
  const elicited = asked(
    {
      colour: {
        type: 'string',
        title: 'Colour',
        oneOf: [
          { const: 'r', title: 'Red' },
          { const: 'b', title: 'Blue' },
        ],
      },
      tags: { type: 'array', items: { enum: ['x', 'y'], enumNames: ['X', 'Y'] } },
      name: { type: 'string', description: 'A name' },
      count: { type: 'integer' },
      sure: { type: 'boolean' },
    },
    ['colour'],
  )
  expect(elicited?.form.text).toBe('Tell me')
  expect(elicited?.form.fields.map(({ id, label, kind, required }) => [id, label, kind, required])).toEqual([
    ['colour', 'Colour', 'choice', true],
    ['tags', 'tags', 'choices', false],
    ['name', 'A name', 'text', false],
    ['count', 'count', 'number', false],
    ['sure', 'sure', 'yes_no', false],
  ])
  expect(elicited?.contentOf({ colour: 'Blue', tags: ['Y'], count: 3, sure: true, name: 'n' })).toEqual({
    colour: 'b',
    tags: ['y'],
    count: 3,
    sure: true,
    name: 'n',
  })
})

test('WK-71 two options of one label stand there by their values', () => {
  const elicited = asked({ q: { type: 'string', oneOf: ['a', 'b'].map((value) => ({ const: value, title: 'Same' })) } })
  expect(elicited?.form.fields[0]?.options.map(({ label }) => label)).toEqual(['a', 'b'])
  expect(elicited?.contentOf({ q: 'b' })).toEqual({ q: 'b' })
})

test.each([
  ['nothing', undefined],
  ['a nested field', { q: { type: 'object', properties: {} } }],
  ['an option without a name', { q: { type: 'string', enum: [''] } }],
  [
    'more fields than a card shows',
    Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`q${n}`, { type: 'string' }])),
  ],
])('WK-71 %s is no form', (_name, properties) => {
  expect(properties === undefined ? elicitedForm({ message: 'x' }) : asked(properties)).toBeNull()
})

test('the questions of Claude Code go back with the answers in them, by their text', () => {
  const input = {
    questions: [
      { question: 'Which?', header: 'Colour', multiSelect: false, options: [{ label: 'Red', description: 'r' }] },
      { question: 'And?', header: '', multiSelect: true, options: [{ label: 'A', description: '' }] },
    ],
    metadata: { kept: true },
  }
  const asking = readAsking(input)
  expect(asking?.form.fields).toMatchObject([
    { id: '0', label: 'Colour: Which?', kind: 'choice', other: true },
    { id: '1', label: 'And?', kind: 'choices' },
  ])
  expect(asking?.answered({ '0': 'mauve', '1': ['A', 'B, or C'] })).toEqual({
    ...input,
    answers: { 'Which?': 'mauve', 'And?': 'A, "B, or C"' },
  })
  expect(readAsking({ questions: [] })).toBeNull()
  expect(readAsking({ questions: 'x' })).toBeNull()
})
