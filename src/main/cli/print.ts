import { AppError } from '../../shared/errors.ts'
import { escapeHidden } from '../../shared/reveal.ts'

/** Every control and format character but line break and tab: a terminal obeys them, or they turn the text. */
const STEERING = /(?![\n\t])[\p{Cc}\p{Cf}]/gu

/** Text for a terminal: nothing in it is obeyed, whoever wrote it. */
export function visible(text: string): string {
  return text.replace(STEERING, (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`)
}

/** A name in a list: what it holds never looks like a line of ours. */
export function inLine(name: string): string {
  return name.replaceAll('\n', String.raw`\n`)
}

/** On standard output. Titles, paths and answers are an agent's or a file's words: all that is said is made visible. */
export function say(text: string): void {
  process.stdout.write(visible(text))
}

/** On standard error. */
export function tell(text: string): void {
  process.stderr.write(visible(text))
}

/** What happened and what to do, then the code in brackets. Anything else is a bug of ours and shows its stack. */
export function printError(thrown: unknown): void {
  if (thrown instanceof AppError) {
    const detail = thrown.detail === undefined ? '' : ` (${thrown.detail})`
    tell(`wheelhouse: ${thrown.message}${detail} [${thrown.code}]\n`)
    return
  }
  tell(`wheelhouse: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}\n`)
}

/** One JSON value. On a terminal, which hidden characters would steer, they are escapes of the same value; piped it is as it is. */
export function printJson(value: unknown, options: { oneLine?: boolean; to?: Output } = {}): void {
  const { oneLine = false, to = process.stdout } = options
  const json = `${JSON.stringify(value, null, oneLine ? 0 : 2)}\n`
  to.write(to.isTTY === true ? escapeHidden(json) : json)
}

interface Output {
  isTTY?: boolean
  write(text: string): unknown
}
