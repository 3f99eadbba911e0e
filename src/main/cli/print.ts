import { AppError } from '../../shared/errors.ts'
import { escapeHidden } from '../../shared/reveal.ts'

/** What happened and what to do, then the code in brackets. Anything else is a bug of ours and shows its stack. */
export function printError(thrown: unknown): void {
  if (thrown instanceof AppError) {
    const detail = thrown.detail === undefined ? '' : ` (${thrown.detail})`
    process.stderr.write(`wheelhouse: ${thrown.message}${detail} [${thrown.code}]\n`)
    return
  }
  process.stderr.write(`wheelhouse: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}\n`)
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
