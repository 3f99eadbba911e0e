/** What a sed script does beyond changing the text that it prints. */
import { hasLong, hasShort, operandsOf, optionsOf, optionValues } from './words.ts'
import type { Arg, OptionSyntax } from './words.ts'

const SYNTAX: OptionSyntax = { short: 'efl', long: ['--expression', '--file', '--line-length'] }

/** The scripts that stand in the command, and the files behind them. */
export function sedWords(args: readonly Arg[]): { scripts: readonly string[]; files: readonly string[] } {
  const options = optionsOf(args)
  const given = optionValues(args, { short: 'e', long: ['--expression'] })
  const operands = operandsOf(args, SYNTAX).map((arg) => arg.text)
  const scripted = given.length > 0 || hasShort(options, 'f') || hasLong(options, 'file')
  return scripted ? { scripts: given, files: operands } : { scripts: operands.slice(0, 1), files: operands.slice(1) }
}

export interface SedEffects {
  /** It writes a file or runs a command (`w`, `W`, `e`, such flags of `s`), or nobody can tell. */
  acts: boolean
  /** It reads a file that it names (`r`, `R`). */
  reads: boolean
}

const UNCLEAR: SedEffects = { acts: true, reads: true }

/** Reads the script as sed does, command by command: GNU sed takes `1ecmd` and `s a b e` as well as the spaced forms. */
export function sedDoes(script: string): SedEffects {
  let at = 0
  let reads = false
  const skip = (pattern: RegExp): string => {
    pattern.lastIndex = at
    const [text = ''] = pattern.exec(script) ?? []
    at += text.length
    return text
  }
  /** Up to the next mark that is not escaped. False: there is none, or a bracket holds it, which not every sed reads alike. */
  const passUntil = (mark: string, isPattern: boolean): boolean => {
    const from = at
    for (; at < script.length; at += 1) {
      if (script[at] === '\\') at += 1
      else if (script[at] === mark) {
        const bracket = script.slice(from, at).replaceAll(/\\./gs, '')
        at += 1
        return !isPattern || bracket.lastIndexOf('[') <= bracket.lastIndexOf(']')
      }
    }
    return false
  }
  const address = (): boolean => {
    if (script[at] === '/') {
      at += 1
      if (!passUntil('/', true)) return false
    } else if (script[at] === '\\') {
      at += 2
      if (!passUntil(script[at - 1] ?? '', true)) return false
    } else {
      skip(/(?:\d+(?:~\d+)?|\$|[+~]\d+)?/sy)
      return true
    }
    skip(/[IM]*/sy)
    return true
  }

  for (;;) {
    skip(/[\s;{}]*/sy)
    if (at >= script.length) return { acts: false, reads }
    if (!address()) return UNCLEAR
    skip(/\s*/sy)
    if (skip(/,\s*/sy) !== '' && !address()) return UNCLEAR
    skip(/[\s!{]*/sy)
    const name = script[at] ?? ''
    at += 1
    if (name === 's' || name === 'y') {
      const mark = script[at] ?? '\n'
      at += 1
      if (/[\n\\]/.test(mark) || !passUntil(mark, name === 's') || !passUntil(mark, false)) return UNCLEAR
      if (/[ewW]/.test(skip(/[a-zA-Z\d]*/sy))) return UNCLEAR
    } else if (/[rR]/.test(name)) {
      reads = true
      skip(/[^\n]*/sy)
    } else if (/[aic#]/.test(name)) {
      skip(/(?:\\.|[^\n\\])*/sy)
    } else if (/[btT:]/.test(name)) {
      skip(/[^\n;}]*/sy)
    } else if (/[lLqQ]/.test(name)) {
      skip(/\s*\d*/sy)
    } else if (!/[pPdDhHgGxnNzF=}]/.test(name)) return UNCLEAR
    if (at < script.length && !/[\s;{}#]/.test(script[at] ?? '')) return UNCLEAR
  }
}
