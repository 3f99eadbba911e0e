/** The input of `AskUserQuestion`: as the form that a person is shown, and with the answers that the tool then reads. */
import { z } from 'zod'
import { QuestionForm } from '../../../../shared/questions.ts'
import type { FormAnswer } from '../../../../shared/questions.ts'

const Asking = z.looseObject({
  questions: z.array(
    z.object({
      question: z.string().min(1),
      header: z.string().default(''),
      multiSelect: z.boolean().default(false),
      options: z.array(z.object({ label: z.string(), description: z.string().default('') })),
    }),
  ),
})

export interface AskingForm {
  form: QuestionForm
  /** The input with the answers in it, by the text of each question. */
  answered(answer: FormAnswer): unknown
}

/** Null: it cannot be put to anybody. */
export function readAsking(input: unknown): AskingForm | null {
  const read = Asking.safeParse(input)
  if (!read.success) return null
  const { questions } = read.data
  const form = QuestionForm.safeParse({
    text: '',
    fields: questions.map(({ question, header, multiSelect, options }, index) => ({
      id: `${index}`,
      label: header === '' ? question : `${header}: ${question}`,
      kind: multiSelect ? 'choices' : 'choice',
      options,
      other: true,
      required: true,
    })),
  })
  if (!form.success || questions.length === 0) return null
  return {
    form: form.data,
    answered(answer) {
      const answers = questions.flatMap(({ question }, index) => {
        const value = answer[`${index}`]
        if (value === undefined) return []
        return [[question, Array.isArray(value) ? value.map(quoted).join(', ') : `${value}`]]
      })
      return { ...read.data, answers: Object.fromEntries(answers) }
    },
  }
}

/** Several answers are one text, from which the tool takes them apart again. */
function quoted(word: string): string {
  return word.includes(', ') || word.includes('"') ? JSON.stringify(word) : word
}
