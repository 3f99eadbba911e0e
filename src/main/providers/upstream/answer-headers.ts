import type { AnswerHeaders } from './types.ts'

/** A header's value; what came more than once is one list. */
export function headerText(headers: AnswerHeaders, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'object' ? value.join(', ') : value
}
