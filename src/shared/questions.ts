/** What an agent asks a person in words, as a small form, and the answers to it. Every agent's own form becomes this one. */
import { z } from 'zod'

const Label = z.string().min(1).max(1_024)

export const QuestionOption = z.object({ label: Label, description: z.string().max(4_096) })
export type QuestionOption = z.infer<typeof QuestionOption>

export const QuestionField = z.object({
  id: z.string().min(1).max(256),
  /** What is asked; '' where the form's text says it. */
  label: z.string().max(4_096),
  kind: z.enum(['choice', 'choices', 'text', 'number', 'yes_no']),
  /** Of `choice` and `choices`. */
  options: z.array(QuestionOption).max(64),
  /** A choice may also be answered in one's own words. */
  other: z.boolean(),
  required: z.boolean(),
})
export type QuestionField = z.infer<typeof QuestionField>

export const QuestionForm = z.object({ text: z.string().max(8_192), fields: z.array(QuestionField).max(16) })
export type QuestionForm = z.infer<typeof QuestionForm>

const Words = z.string().max(8_192)
/** By field id. */
export const FormAnswer = z.record(
  z.string().max(256),
  z.union([Words, z.array(Words).max(64), z.number(), z.boolean()]),
)
export type FormAnswer = z.infer<typeof FormAnswer>
export type FieldValue = FormAnswer[string]

/** A form is kept whole or not put to anybody. */
export const FORM_BYTES = 16_384

/** True where every field has a value of its kind, or may do without, and nothing else is there. */
export function answersForm(form: QuestionForm, answer: FormAnswer): boolean {
  const known = new Set(form.fields.map(({ id }) => id))
  if (!Object.keys(answer).every((id) => known.has(id))) return false
  return form.fields.every((field) => {
    const value = answer[field.id]
    return value === undefined ? !field.required : fits(field, value)
  })
}

function fits({ kind, options, other }: QuestionField, value: FieldValue): boolean {
  const offered = (word: string): boolean => other || options.some(({ label }) => label === word)
  switch (kind) {
    case 'choice':
      return typeof value === 'string' && value !== '' && offered(value)
    case 'choices':
      return Array.isArray(value) && value.every(offered)
    case 'text':
      return typeof value === 'string'
    case 'number':
      return typeof value === 'number' && Number.isFinite(value)
    case 'yes_no':
      return typeof value === 'boolean'
    default:
      return kind satisfies never
  }
}

/** A field's answer in words, as on a command line: an option by its number or its label. Null: it is none. */
export function valueInWords(field: QuestionField, words: string): FieldValue | null {
  const said = words.trim()
  const optionOf = (word: string): string => {
    const known = field.options.find(({ label }) => label.toLowerCase() === word.toLowerCase())
    return (known ?? (/^\d+$/.test(word) ? field.options[Number(word) - 1] : undefined))?.label ?? word
  }
  const value = ((): FieldValue => {
    switch (field.kind) {
      case 'choice':
        return optionOf(said)
      case 'choices':
        return said.split(',').flatMap((word) => (word.trim() === '' ? [] : optionOf(word.trim())))
      case 'text':
        return said
      case 'number':
        return said === '' ? Number.NaN : Number(said)
      case 'yes_no':
        return /^y(?:es)?$/i.test(said) ? true : /^no?$/i.test(said) ? false : said
      default:
        return field.kind satisfies never
    }
  })()
  return fits(field, value) ? value : null
}

/** One answer in words to a form that asks one thing. Null: it asks more, or something else. */
export function answerInWords({ fields }: QuestionForm, words: string): FormAnswer | null {
  const asked = fields.length === 1 ? fields : fields.filter(({ required }) => required)
  const [field, ...more] = asked
  if (field === undefined || more.length > 0) return null
  const value = valueInWords(field, words)
  return value === null ? null : { [field.id]: value }
}

/** What was answered, one field a line. */
export function answerText(answer: FormAnswer, form: QuestionForm | null = null): string {
  return Object.entries(answer)
    .map(([id, value]) => {
      const words = Array.isArray(value)
        ? value.join(', ')
        : typeof value === 'boolean'
          ? value
            ? 'yes'
            : 'no'
          : `${value}`
      const label = form?.fields.find((field) => field.id === id)?.label ?? ''
      return label === '' ? words : `${label} ${words}`
    })
    .filter((line) => line !== '')
    .join('\n')
}

/** The form as a person reads it from beginning to end. */
export function formText({ text, fields }: QuestionForm): string {
  const lines = fields.flatMap(({ label, options }) => [
    ...(label === '' ? [] : [label]),
    ...options.map(({ label: option, description }) => `- ${option}${description === '' ? '' : `: ${description}`}`),
  ])
  return [text, ...lines].filter((line) => line !== '').join('\n')
}
