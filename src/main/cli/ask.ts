import { createInterface } from 'node:readline/promises'
import type { EventData } from '../../shared/events.ts'
import type { Answer } from '../../shared/vocabulary.ts'
import { describeAction } from './describe.ts'

let turn: Promise<unknown> = Promise.resolve()

/**
 * Asks one at a time. Without a terminal there is nobody to ask: that is a denial, and says how to do otherwise. So is
 * the end of the input. Rejects when the question is settled elsewhere (`settled` aborts).
 */
export function askOnTerminal(
  asked: EventData<'decision_requested'>,
  wholeOf: () => Promise<string | null>,
  settled: AbortSignal,
): Promise<Answer> {
  const mine = turn.then(() => ask(asked, wholeOf, settled))
  turn = mine.catch(() => undefined)
  return mine
}

async function ask(
  asked: EventData<'decision_requested'>,
  wholeOf: () => Promise<string | null>,
  settled: AbortSignal,
): Promise<Answer> {
  settled.throwIfAborted()
  if (!process.stdin.isTTY) {
    process.stderr.write('There is no terminal to ask on, so it is denied. Use --approve once, all or deny.\n')
    return { option: 'reject_once', reason: 'Nobody was there to ask.' }
  }
  const question = `\n${describeAction(asked, await wholeOf())}\n`
  settled.throwIfAborted()
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const closed = new AbortController()
  terminal.on('close', () => closed.abort())
  // The terminal is read key by key meanwhile, so that Ctrl-C is a key and no signal.
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  const signal = AbortSignal.any([settled, closed.signal])
  try {
    process.stderr.write(question)
    const said = (await terminal.question('Allow once? [y]es, [n]o, or a reason to deny: ', { signal })).trim()
    if (/^y(?:es)?$/i.test(said)) return { option: 'allow_once' }
    return /^(?:no?)?$/i.test(said)
      ? { option: 'reject_once' }
      : { option: 'reject_once', reason: said.slice(0, 2_000) }
  } catch (thrown) {
    if (settled.aborted || !closed.signal.aborted) throw thrown
    return { option: 'reject_once', reason: 'Nobody answered.' }
  } finally {
    terminal.close()
  }
}
