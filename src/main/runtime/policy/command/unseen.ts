/**
 * Whether a command can read where its text does not say: through a variable, a substitution, a list of names, a link.
 * What only reads is let through unasked because it stays in the session's folders; of these nobody can tell.
 */
import { forEachChild, parse } from 'unbash'
import type { Command, SyntaxNode, Word, WordPart } from 'unbash'
import { sedDoes, sedWords } from './sed.ts'
import { literalArg, programName } from './words.ts'

/** They print their words and open none of them. */
export const PRINTS: ReadonlySet<string> = new Set([
  'echo',
  'printf',
  'test',
  '[',
  'basename',
  'dirname',
  'export',
  'set',
  'expr',
])
/** They move what a path means to everything behind them. */
const MOVES_PATHS = new Set(['HOME', 'PWD', 'OLDPWD', 'CDPATH', 'GIT_DIR', 'GIT_WORK_TREE'])
const KNOWN = /^\$(?:HOME|PWD|\{HOME\}|\{PWD\})$/
/** A number, whatever its value. */
const NUMBERS = /^\$(?:[?#$!]|\{[?#$!]\})$/
const SHELLS = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh'])
const MAX_DEPTH = 8

/** One plain sentence, or null: every path that the text reads by is spelled out. @throws whatever the parser throws. */
export function unseenReach(script: SyntaxNode): string | null {
  return reachOf(script, 0)
}

function reachOf(node: SyntaxNode, depth: number): string | null {
  let found = ownReach(node, depth)
  forEachChild(node, (child) => {
    found ??= reachOf(child, depth)
  })
  return found
}

function ownReach(node: SyntaxNode, depth: number): string | null {
  switch (node.type) {
    case 'Assignment':
      return MOVES_PATHS.has(node.name) ? `Sets ${node.name}, which changes where its paths lead.` : null
    case 'Redirect':
      return node.target === undefined ? null : computed(node.target)
    case 'Pipeline':
      return node.commands.some((each) => each.type === 'Command' && fedWords(each)) ? feederOf(node.commands) : null
    case 'Command':
      return fedWords(node) && (node.redirects.some((each) => each.operator.startsWith('<')) || namesList(node))
        ? LISTED
        : commandReach(node, depth)
    default:
      return null
  }
}

function commandReach(command: Command, depth: number): string | null {
  if (command.name === undefined) return null
  const words = [command.name, ...command.args.filter((arg) => arg.type === 'Word')]
  const values = words.map((word) => word.value)
  if (!PRINTS.has(programName(command.name.value))) {
    for (const word of words.slice(1)) {
      const why = computed(word)
      if (why !== null) return why
    }
  }
  // Behind a wrapper (`timeout 5 grep …`) a program stands further along.
  let looked = 0
  for (const [at, value] of values.entries()) {
    const name = programName(value)
    if (!REACHING.has(name)) continue
    looked += 1
    if (looked > MAX_PROGRAMS) return 'It names too many programs to look at each.'
    const why = programReach(name, values.slice(at + 1), depth)
    if (why !== null) return why
  }
  return null
}

/** Each is looked at with all that follows it. */
const MAX_PROGRAMS = 16
/** Those that `programReach` knows. */
const REACHING: ReadonlySet<string> = new Set([
  ...SHELLS,
  ...'cd pushd grep egrep fgrep rg fd du find ls tree diff sort wc sha256sum sed awk gawk mawk nawk yq jq'.split(' '),
])

/** The word is worked out when it runs, so that any path may come of it. */
function computed(word: Word): string | null {
  const why = `What ${short(word.text)} stands for is worked out only when it runs.`
  if ((word.parts ?? []).some((part, at) => isComputed(part, at === 0))) return why
  return word.value.split('/').some(mayBeParent) ? why : null
}

/** `.*` also stands for `..`. */
const mayBeParent = (segment: string): boolean => /^\.(?:\*+|\?|\[[^\]]*\])$/.test(segment)

function isComputed(part: WordPart, leads: boolean): boolean {
  switch (part.type) {
    case 'SimpleExpansion':
    case 'ParameterExpansion':
      return !NUMBERS.test(part.text) && !(leads && KNOWN.test(part.text))
    case 'CommandExpansion':
      return true
    case 'BraceExpansion':
      return /[{,][/~.$]|\$/.test(part.text)
    case 'DoubleQuoted':
    case 'LocaleString':
      return part.parts.some((child, at) => isComputed(child, leads && at === 0))
    default:
      return false
  }
}

const LINKS = 'Follows links, wherever they lead'
const LISTED = 'Reads the files that a list names.'

function programReach(name: string, args: readonly string[], depth: number): string | null {
  const has = (pattern: RegExp): boolean => args.some((arg) => pattern.test(arg))
  switch (name) {
    case 'cd':
    case 'pushd':
      return args.includes('-') ? 'Goes back to a folder that is not named.' : null
    case 'grep':
    case 'egrep':
    case 'fgrep':
      return has(/^(?:-[a-zA-Z]*R|--deref)/) ? `${LINKS} (${name} -R).` : null
    case 'rg':
    case 'fd':
    case 'du':
      return has(/^(?:-[a-zA-Z]*L|--(?:follow|deref)|--files0)/) ? `${LINKS} (${name} -L).` : null
    case 'find':
      return has(/^-(?:L|H|follow|files0-from)$/) ? `${LINKS} (find -L).` : null
    case 'ls':
      return has(/^-[a-zA-Z]*[LH]|^--deref/) && has(/^-[a-zA-Z]*R|^--recursive/) ? `${LINKS} (ls -LR).` : null
    case 'tree':
      return has(/^-[a-zA-Z]*l/) ? `${LINKS} (tree -l).` : null
    case 'diff':
      return has(/^-[a-zA-Z]*r|^--recursive/) && !has(/^--no-deref/) ? `${LINKS} (diff -r).` : null
    case 'sort':
    case 'wc':
      return has(/^--files0/) ? LISTED : null
    case 'sha256sum':
      return has(/^(?:-[a-z]*c|--ch)/) ? LISTED : null
    case 'sed':
      return sedWords(args.map(literalArg)).scripts.some((script) => sedDoes(script).reads)
        ? 'Reads a file from inside of a sed script.'
        : null
    case 'awk':
    case 'gawk':
    case 'mawk':
    case 'nawk':
      return has(/getline|ARGV/) ? 'Reads files from inside of an awk program.' : null
    case 'yq':
      return has(/\b(?:str)?load/) ? 'Reads files from inside of a yq program.' : null
    case 'jq':
      return has(/\b(?:import|include)\b|^-[a-zA-Z]*L/) ? 'Reads files from inside of a jq program.' : null
    default:
      return SHELLS.has(name) ? innerReach(args, depth) : null
  }
}

/** The text of `sh -c text` is a script like the outer one. */
function innerReach(args: readonly string[], depth: number): string | null {
  const at = args.findIndex((arg) => /^-[a-zA-Z]*c$/.test(arg))
  const text = args[at + 1]
  if (at === -1 || text === undefined) return null
  return depth >= MAX_DEPTH ? 'Is nested too deeply to be read.' : reachOf(parse(text), depth + 1)
}

/** It takes its operands from what it is fed. */
function fedWords(command: Command): boolean {
  const words = [command.name, ...command.args].flatMap((word) => (word?.type === 'Word' ? [word.value] : []))
  return words.some((word) => /^(?:xargs|parallel)$/.test(programName(word)))
}

/** `xargs -a list` takes them from a file. */
function namesList(command: Command): boolean {
  return command.args.some((arg) => arg.type === 'Word' && /^(?:-[0rtpxo]*a|--arg-f)/.test(arg.value))
}

/** Programs that only hand on the names of files below a folder that they spell out, or fewer of them. */
function feederOf(commands: readonly SyntaxNode[]): string | null {
  const first = commands.findIndex((each) => each.type === 'Command' && fedWords(each))
  const before = commands.slice(0, first)
  return before.length > 0 && before.every(namesFiles) ? null : LISTED
}

function namesFiles(node: SyntaxNode): boolean {
  if (node.type !== 'Command' || node.name === undefined) return false
  const args = node.args.flatMap((arg) => (arg.type === 'Word' ? [arg.value] : []))
  switch (programName(node.name.value)) {
    case 'find':
      return !args.some((arg) => /^-(?:printf|exec|execdir|ok|okdir)$/.test(arg))
    case 'git':
      return args[0] === 'ls-files'
    case 'grep':
    case 'rg':
      return args.some((arg) => /^(?:-[a-zA-Z]*[lL]|--files(?:-with.*)?)$/.test(arg))
    case 'fd':
      return true
    case 'ls':
    case 'sort':
    case 'uniq':
    case 'head':
    case 'tail':
      return true
    default:
      return false
  }
}

const short = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text)
