import { AppError } from '../../shared/errors.ts'

/** What happened and what to do, then the code in brackets. Anything else is a bug of ours and shows its stack. */
export function printError(thrown: unknown): void {
  if (thrown instanceof AppError) {
    const detail = thrown.detail === undefined ? '' : ` (${thrown.detail})`
    process.stderr.write(`wheelhouse: ${thrown.message}${detail} [${thrown.code}]\n`)
    return
  }
  process.stderr.write(`wheelhouse: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}\n`)
}
