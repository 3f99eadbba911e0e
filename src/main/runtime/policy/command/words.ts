/** Words as a program would receive them, and the reading of options. */
import type { CommandArgument, Word, WordPart } from 'unbash'

export interface Arg {
  /** Quotes and escapes resolved; where `literal` is false, expansions stand in it as they were written. */
  text: string
  /** The text is exactly what the program gets. */
  literal: boolean
  /** It may become none or several words, or another option than it looks like. */
  splits: boolean
  /** Holds `{a,b}`, which can spell an option. */
  braces: boolean
  /** Holds `<( )` or `>( )`. */
  processSubstitution: boolean
}

export function literalArg(text: string): Arg {
  return { text, literal: true, splits: false, braces: false, processSubstitution: false }
}

export function wordArg(word: Word): Arg {
  const { parts } = word
  if (parts === undefined) return literalArg(word.value)
  return {
    text: word.value,
    literal: parts.every(isLiteralPart),
    splits: parts.some(splits),
    braces: parts.some((part) => part.type === 'BraceExpansion'),
    processSubstitution: parts.some((part) => part.type === 'ProcessSubstitution'),
  }
}

export function argumentArg(argument: CommandArgument): Arg {
  if (argument.type === 'Word') return wordArg(argument)
  const operator = argument.append === true ? '+=' : '='
  if (argument.value.type === 'ArrayValue') return literalArg(`${argument.name}${operator}()`)
  const value = wordArg(argument.value)
  return { ...value, text: `${argument.name}${operator}${value.text}`, splits: false }
}

function isLiteralPart(part: WordPart): boolean {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return true
    case 'DoubleQuoted':
    case 'LocaleString':
      return part.parts.every((child) => child.type === 'Literal')
    default:
      return false
  }
}

function splits(part: WordPart): boolean {
  return part.type === 'SimpleExpansion' || part.type === 'ParameterExpansion' || part.type === 'CommandExpansion'
}

/** A command's name as the tables know it: `/usr/bin/RM.EXE` is `rm`. */
export function programName(text: string): string {
  const base = text.slice(Math.max(text.lastIndexOf('/'), text.lastIndexOf('\\')) + 1).toLowerCase()
  return base.endsWith('.exe') ? base.slice(0, -'.exe'.length) : base
}

const SYSTEM_PROGRAM =
  /^\/(?:usr\/|usr\/local\/|usr\/pkg\/|opt\/homebrew\/|opt\/local\/|run\/current-system\/sw\/|snap\/)?s?bin\/[^/]+$/

/** A program named by its place, where that is none of the system's: its name says nothing of what it is. */
export function isForeignPath(text: string): boolean {
  return /[/\\]/.test(text) && !SYSTEM_PROGRAM.test(text)
}

/** The words that can be options: those before `--` that begin with a dash. */
export function optionsOf(args: readonly Arg[]): string[] {
  const end = args.findIndex((arg) => arg.text === '--')
  return (end === -1 ? args : args.slice(0, end)).map((arg) => arg.text).filter((text) => /^-./.test(text))
}

/** One of these letters stands in a cluster such as `-rf`. */
export function hasShort(options: readonly string[], letters: string): boolean {
  return options.some((option) => !option.startsWith('--') && clusterIndex(option, letters) !== -1)
}

/** `--name` or `--name=…`, abbreviated as GNU tools and Git allow it. */
export function hasLong(options: readonly string[], name: string): boolean {
  const full = `--${name}`
  return options.some((option) => {
    const [given = ''] = option.split('=', 1)
    return given.length > 2 && full.startsWith(given)
  })
}

export interface OptionSyntax {
  /** Letters whose value may be the next word. */
  short?: string
  /** Long names, dashes included, whose value may be the next word. */
  long?: readonly string[]
}

/** The words that are neither options nor options' values. */
export function operandsOf(args: readonly Arg[], syntax: OptionSyntax = {}): Arg[] {
  const operands: Arg[] = []
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at]
    if (arg === undefined) break
    if (arg.text === '--') return [...operands, ...args.slice(at + 1)]
    if (!/^-./.test(arg.text)) operands.push(arg)
    else if (takesNextWord(arg.text, syntax)) at += 1
  }
  return operands
}

/** The value of one of these options, wherever it stands: `-o x`, `-ox`, `--output=x`, `--output x`. */
export function optionValues(args: readonly Arg[], syntax: OptionSyntax): string[] {
  const values: string[] = []
  for (const [at, { text }] of args.entries()) {
    if (text === '--') break
    const next = args[at + 1]?.text
    if (text.startsWith('--')) {
      const equals = text.indexOf('=')
      const name = equals === -1 ? text : text.slice(0, equals)
      if (name.length < 3 || !(syntax.long ?? []).some((long) => long.startsWith(name))) continue
      const value = equals === -1 ? next : text.slice(equals + 1)
      if (value !== undefined) values.push(value)
    } else if (/^-./.test(text)) {
      const found = clusterIndex(text, syntax.short ?? '')
      if (found === -1) continue
      const value = found === text.length - 1 ? next : text.slice(found + 1)
      if (value !== undefined) values.push(value)
    }
  }
  return values
}

export function takesNextWord(option: string, syntax: OptionSyntax): boolean {
  if (option.startsWith('--')) return (syntax.long ?? []).includes(option)
  if ((syntax.long ?? []).includes(option)) return true
  const found = clusterIndex(option, syntax.short ?? '')
  return found !== -1 && found === option.length - 1
}

/** Where in a cluster such as `-rf` the first of these letters stands, -1 for nowhere. */
function clusterIndex(option: string, letters: string): number {
  for (let at = 1; at < option.length; at += 1) if (letters.includes(option.charAt(at))) return at
  return -1
}
