import { createInterface } from 'node:readline/promises'
import type { Interface } from 'node:readline/promises'
import type { EventData } from '../../shared/events.ts'
import { formText, valueInWords } from '../../shared/questions.ts'
import type { FieldValue, QuestionField, QuestionForm } from '../../shared/questions.ts'
import { revealText } from '../../shared/reveal.ts'
import type { Answer } from '../../shared/vocabulary.ts'
import { describeAction } from './describe.ts'
import { tell } from './print.ts'

let turn: Promise<unknown> = Promise.resolve()

const inTurn = (ask: () => Promise<Answer>): Promise<Answer> => {
  const mine = turn.then(ask)
  turn = mine.catch(() => undefined)
  return mine
}

/**
 * Asks one at a time. Without a terminal there is nobody to ask: that is a denial, and says how to do otherwise. So is
 * the end of the input. Rejects when the question is settled elsewhere (`settled` aborts).
 */
export function askOnTerminal(
  asked: EventData<'decision_requested'>,
  wholeOf: () => Promise<string | null>,
  settled: AbortSignal,
): Promise<Answer> {
  return inTurn(async () => {
    settled.throwIfAborted()
    if (!process.stdin.isTTY) {
      tell('There is no terminal to ask on, so it is denied. Use --approve once, all or deny.\n')
      return { option: 'reject_once', reason: 'Nobody was there to ask.' }
    }
    const question = `\n${describeAction(asked, await wholeOf())}\n`
    const unanswered: Answer = { option: 'reject_once', reason: 'Nobody answered.' }
    return onTerminal(settled, unanswered, async (terminal, signal) => {
      tell(question)
      const said = (await terminal.question('Allow once? [y]es, [n]o, or a reason to deny: ', { signal })).trim()
      if (/^y(?:es)?$/i.test(said)) return { option: 'allow_once' }
      return /^(?:no?)?$/i.test(said)
        ? { option: 'reject_once' }
        : { option: 'reject_once', reason: said.slice(0, 2_000) }
    })
  })
}

const UNANSWERED: Answer = { option: 'reject_once' }

/** A question in words, field after field. Without a terminal, and at the end of its input, it stays unanswered. */
export function answerOnTerminal(form: QuestionForm, settled: AbortSignal): Promise<Answer> {
  return inTurn(async () => {
    settled.throwIfAborted()
    if (!process.stdin.isTTY) {
      tell('There is no terminal to ask on, so the question stays unanswered.\n')
      return UNANSWERED
    }
    return onTerminal(settled, UNANSWERED, async (terminal, signal) => {
      tell(`\nThe agent asks you:\n${revealText(formText({ ...form, fields: [] }))}\n`)
      const answer: [string, FieldValue][] = []
      for (const field of form.fields) {
        const value = await askField(terminal, field, signal)
        if (value !== null) answer.push([field.id, value])
      }
      return { form: Object.fromEntries(answer) }
    })
  })
}

/** Null: left out, where that may be. */
async function askField(terminal: Interface, field: QuestionField, signal: AbortSignal): Promise<FieldValue | null> {
  const { label, options, kind, required } = field
  const lines = options.map((option, index) => {
    const more = option.description === '' ? '' : `: ${option.description}`
    return `  ${index + 1}) ${option.label}${more}`
  })
  const how = {
    choice: 'Number or words',
    choices: 'Numbers, with commas',
    text: 'Answer',
    number: 'A number',
    yes_no: '[y]es or [n]o',
  }[kind]
  tell(
    revealText(
      [label, ...lines]
        .filter((line) => line !== '')
        .map((line) => `${line}\n`)
        .join(''),
    ),
  )
  for (;;) {
    const said = await terminal.question(`${how}${required ? '' : ' (may be left out)'}: `, { signal })
    if (said.trim() === '' && !required) return null
    const value = said.trim() === '' ? null : valueInWords(field, said)
    if (value !== null) return value
    tell('That is not one of the answers.\n')
  }
}

/** `ask` on a terminal of its own; `unanswered` where its input ends. */
async function onTerminal(
  settled: AbortSignal,
  unanswered: Answer,
  ask: (terminal: Interface, signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  settled.throwIfAborted()
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const closed = new AbortController()
  terminal.on('close', () => closed.abort())
  // The terminal is read key by key meanwhile, so that Ctrl-C is a key and no signal.
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  try {
    return await ask(terminal, AbortSignal.any([settled, closed.signal]))
  } catch (thrown) {
    if (settled.aborted || !closed.signal.aborted) throw thrown
    return unanswered
  } finally {
    terminal.close()
  }
}
