import { createInterface } from 'node:readline/promises'
import type { EventData } from '../../shared/events.ts'
import type { Answer } from '../../shared/vocabulary.ts'
import { describeAction } from './describe.ts'

let turn: Promise<unknown> = Promise.resolve()

/** Asks one at a time. Without a terminal there is nobody to ask: that is a denial, and says how to do otherwise. */
export function askOnTerminal(asked: EventData<'decision_requested'>): Promise<Answer> {
  const mine = turn.then(() => ask(asked))
  turn = mine.catch(() => undefined)
  return mine
}

async function ask(asked: EventData<'decision_requested'>): Promise<Answer> {
  if (!process.stdin.isTTY) {
    process.stderr.write('There is no terminal to ask on, so it is denied. Use --approve once, all or deny.\n')
    return { option: 'reject_once', reason: 'Nobody was there to ask.' }
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    process.stderr.write(`\n${describeAction(asked)}\n`)
    const said = (await terminal.question('Allow once? [y]es, [n]o, or a reason to deny: ')).trim()
    if (/^y(?:es)?$/i.test(said)) return { option: 'allow_once' }
    return /^(?:no?)?$/i.test(said)
      ? { option: 'reject_once' }
      : { option: 'reject_once', reason: said.slice(0, 2_000) }
  } finally {
    terminal.close()
  }
}
