/**
 * Runs a model's regular expression on text it does not know. JavaScript's engine backtracks, so a pattern like `(a+)+$`
 * can take for ever on one line; `vm` is the one place of Node that can stop it, by its time-out.
 */
import { createContext, Script } from 'node:vm'

import { ToolError } from './types.ts'

/** One file's share of time. The process answers nothing else meanwhile, so it stays well below a cancel's second. */
const FILE_TIMEOUT_MS = 300
/** Lines are judged by their beginning; what lies behind is mostly machine-made. */
const LINE_MAX_CHARS = 4_000
const TIMED_OUT = 'ERR_SCRIPT_EXECUTION_TIMEOUT'

export interface LineMatch {
  line: number
  text: string
}

/**
 * Answers the first `max` matching lines of a text, counted from 1.
 * @throws ToolError: no valid pattern, or one that takes too long.
 */
export function lineMatcher(pattern: string): (text: string, max: number) => LineMatch[] {
  let expression: RegExp
  try {
    expression = new RegExp(pattern, 'u')
  } catch {
    try {
      // Many a pattern is written for engines that are laxer about escapes.
      expression = new RegExp(pattern)
    } catch (thrown) {
      throw new ToolError(`The pattern is no valid regular expression: ${String(thrown)}`)
    }
  }
  const scope = { expression, lines: [] as string[], max: 0, found: [] as number[] }
  const context = createContext(scope, { codeGeneration: { strings: false, wasm: false } })
  const script = new Script(
    'found = []; for (let i = 0; i < lines.length && found.length < max; i += 1) if (expression.test(lines[i])) found.push(i)',
  )
  return (text, max) => {
    const lines = text.split('\n')
    scope.lines = lines.map((line) => line.slice(0, LINE_MAX_CHARS))
    scope.max = max
    try {
      script.runInContext(context, { timeout: FILE_TIMEOUT_MS })
    } catch (thrown) {
      // The error is of the context's own realm, so it is no instance of ours.
      if (typeof thrown === 'object' && thrown !== null && 'code' in thrown && thrown.code === TIMED_OUT) {
        throw new ToolError('The pattern takes too long. Use a simpler one, without nested repetition.')
      }
      throw thrown
    }
    return Array.from(scope.found, (index) => ({ line: index + 1, text: lines[index] ?? '' }))
  }
}
