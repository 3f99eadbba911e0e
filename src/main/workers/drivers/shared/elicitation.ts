/** MCP's and ACP's forms: a JSON Schema of plain fields. What cannot be shown as one is not put to anybody. */
import { z } from 'zod'
import { QuestionForm } from '../../../../shared/questions.ts'
import type { FormAnswer, QuestionField } from '../../../../shared/questions.ts'

const Titled = z.object({ const: z.string(), title: z.string().nullish(), description: z.string().nullish() })
const Choices = {
  enum: z.array(z.string()).nullish(),
  enumNames: z.array(z.string()).nullish(),
  oneOf: z.array(Titled).nullish(),
  anyOf: z.array(Titled).nullish(),
}
const Property = z.object({
  type: z.enum(['string', 'number', 'integer', 'boolean', 'array']),
  title: z.string().nullish(),
  description: z.string().nullish(),
  ...Choices,
  items: z.object(Choices).nullish(),
})
type Property = z.infer<typeof Property>

export const Elicited = z.object({
  message: z.string(),
  requestedSchema: z.object({
    properties: z.record(z.string(), Property).default({}),
    required: z.array(z.string()).nullish(),
  }),
})

interface Option {
  value: string
  label: string
  description: string
}

/** What one form's answers are called on the wire. */
export interface ElicitedForm {
  form: QuestionForm
  contentOf(answer: FormAnswer): Record<string, unknown>
}

export function elicitedForm(params: unknown): ElicitedForm | null {
  const read = Elicited.safeParse(params)
  if (!read.success) return null
  const { message, requestedSchema } = read.data
  const required = new Set(requestedSchema.required)
  const named = Object.entries(requestedSchema.properties).map(([id, property]) => ({
    id,
    property,
    options: optionsOf(property),
  }))
  const fields = named.map(({ id, property, options }): QuestionField => ({
    id,
    label: labelOf(id, property),
    kind: kindOf(property, options),
    options: options.map(({ label, description }) => ({ label, description })),
    other: false,
    required: required.has(id),
  }))
  const form = QuestionForm.safeParse({ text: message, fields })
  if (!form.success || new Set(named.flatMap(({ options }) => options.map(({ label }) => label))).has('')) return null
  const valueOf = (id: string, label: string): string =>
    named.find((each) => each.id === id)?.options.find((option) => option.label === label)?.value ?? label
  return {
    form: form.data,
    contentOf: (answer) =>
      Object.fromEntries(
        Object.entries(answer).map(([id, value]) => {
          if (typeof value === 'string') return [id, valueOf(id, value)]
          return [id, Array.isArray(value) ? value.map((label) => valueOf(id, label)) : value]
        }),
      ),
  }
}

function labelOf(id: string, { title, description }: Property): string {
  const said = [title, description].filter((part) => typeof part === 'string' && part !== '')
  return said.length === 0 ? id : said.join(': ')
}

function kindOf({ type }: Property, options: readonly Option[]): QuestionField['kind'] {
  switch (type) {
    case 'string':
      return options.length === 0 ? 'text' : 'choice'
    case 'array':
      return 'choices'
    case 'boolean':
      return 'yes_no'
    case 'number':
    case 'integer':
      return 'number'
    default:
      return type satisfies never
  }
}

/** Two options of one label could not be told apart by their answer: their values stand beside them. */
function optionsOf(property: Property): Option[] {
  const from = property.type === 'array' ? property.items : property
  const titled = from?.oneOf ?? from?.anyOf
  const plain = titled?.map(({ const: value, title, description }) => ({
    value,
    label: title ?? value,
    description: description ?? '',
  }))
  const options =
    plain ?? from?.enum?.map((value, index) => ({ value, label: from.enumNames?.[index] ?? value, description: '' }))
  if (options === undefined) return []
  const labels = options.map(({ label }) => label)
  return new Set(labels).size === labels.length ? options : options.map((each) => ({ ...each, label: each.value }))
}
