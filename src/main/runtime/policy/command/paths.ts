/** The paths that a command text spells out. What a program computes cannot be seen here. */
import { forEachChild, parse } from 'unbash'
import type { SyntaxNode } from 'unbash'
import type { PathBase } from '../paths.ts'
import { resolvePath } from '../paths.ts'
import { PRINTS, unseenReach } from './unseen.ts'
import { argumentArg, isForeignPath, programName, wordArg } from './words.ts'

export interface CommandPaths {
  /** Every word that could be a path or hold one, against every folder that the command may stand in. Generous. */
  candidates: readonly string[]
  /** What is surely meant as a path: absolute, below home, or climbing out by `..`. Sparing. */
  named: readonly string[]
  /** Folders that a path climbs out of by `..`. The kernel climbs from where a link led to, not from what the text names. */
  climbed: readonly string[]
  /** Why the command may reach where its text does not say; null: it says it all. */
  unseen: string | null
  /** Folders that Git may be started in; null: in some that the text does not say. */
  gitFolders: readonly string[] | null
}

const DEVICES = /^\/dev\/(?:null|zero|u?random|full|stdin|stdout|stderr|tty|fd(?:\/|$)|tcp\/|udp\/)/
/** Their first word is a pattern or a program of their own, which may begin with a slash. */
const PATTERN_FIRST = new Set([
  'grep',
  'egrep',
  'fgrep',
  'rg',
  'sed',
  'awk',
  'gawk',
  'mawk',
  'nawk',
  'jq',
  'yq',
  'perl',
  'tr',
])

const GIVES_PATTERN = /^(?:-[a-zA-Z]*e|--(?:reg|expr)[a-z]*)$/

/** @throws whatever the parser throws; the caller has classified the text before. */
export function commandPaths(text: string, base: PathBase): CommandPaths {
  const words = new Set<string>()
  const named = new Set<string>()
  const folders: string[] = []
  const found: Found = { words, named, folders, git: false, elsewhere: false }
  const script = parse(text)
  collect(script, found)
  const bases = [base]
  for (const folder of folders) {
    // Each folder is entered from each one before it: the order in which the text runs is not known.
    for (const known of bases.slice(0, MAX_FOLDERS)) bases.push({ ...base, cwd: resolvePath(folder, known) })
    if (bases.length > MAX_FOLDERS) break
  }
  const climbing = climbsIn(words)
  return {
    candidates: [...words].flatMap((word) => bases.slice(0, MAX_FOLDERS).map((known) => resolvePath(word, known))),
    named: [...named].map((word) => resolvePath(word, base)),
    climbed: climbing.flatMap((word) => bases.slice(0, MAX_FOLDERS).map((known) => resolvePath(word, known))),
    unseen: unseenReach(script) ?? (climbing.length > MAX_CLIMBS ? 'It climbs out of too many folders.' : null),
    gitFolders: gitFolders(found, bases),
  }
}

function gitFolders({ git, elsewhere, folders }: Found, bases: readonly PathBase[]): string[] | null {
  if (!git) return []
  const isUnclear = elsewhere || bases.length > MAX_FOLDERS || folders.some((folder) => /[*?[{]/.test(folder))
  return isUnclear ? null : bases.map(({ cwd }) => cwd)
}

const MAX_FOLDERS = 16
/** Each is a path of its own to look at. */
const MAX_CLIMBS = 64

interface Found {
  words: Set<string>
  named: Set<string>
  folders: string[]
  /** Git is started somewhere in it. */
  git: boolean
  /** Something is started in each folder that is found. */
  elsewhere: boolean
}

function collect(node: SyntaxNode, found: Found): void {
  if (node.type === 'Command') collectCommand(node, found)
  else if (node.type === 'Word') for (const piece of pieces(node.value)) found.words.add(piece)
  else if (node.type === 'Assignment' && node.value.type === 'Word') addNamed(wordArg(node.value).text, found.named)
  else if (node.type === 'Redirect' && node.target !== undefined) addNamed(wordArg(node.target).text, found.named)
  forEachChild(node, (child) => collect(child, found))
}

function collectCommand(command: Extract<SyntaxNode, { type: 'Command' }>, found: Found): void {
  if (command.name === undefined) return
  const spelled = wordArg(command.name).text
  const name = programName(spelled)
  if (isForeignPath(spelled)) addNamed(spelled, found.named)
  const args = command.args.map((arg) => argumentArg(arg).text)
  if (name === 'cd' || name === 'pushd') {
    const folder = args.find((arg) => !arg.startsWith('-')) ?? '~'
    found.folders.push(folder)
    addNamed(folder, found.named)
  }
  for (const [at, arg] of args.entries()) {
    const [option, glued] = /^(?:-[a-zA-Z\d]*?C|--(?:chdir|directory|cwd|prefix)(?:=|$))(.*)$/s.exec(arg) ?? []
    if (option === undefined) continue
    const folder = glued || (args[at + 1] ?? '.')
    found.folders.push(folder)
    addNamed(folder, found.named)
  }
  found.git ||= [name, ...args.map(programName)].includes('git')
  found.elsewhere ||= args.some((arg) => /^-(?:exec|ok)dir$/.test(arg))
  if (PRINTS.has(name)) return
  // With `-e` or `-f` the pattern came already, or lies in a file.
  const patternGiven = args.some((arg) => /^(?:-[a-zA-Z]*[efL]|--(?:reg|expr|file|from|lib))/.test(arg))
  const skipped = PATTERN_FIRST.has(name) && !patternGiven ? args.findIndex((arg) => !arg.startsWith('-')) : -1
  for (const [at, arg] of args.entries()) {
    if (at === skipped || (PATTERN_FIRST.has(name) && GIVES_PATTERN.test(args[at - 1] ?? ''))) continue
    addNamed(arg.startsWith('--') ? arg.slice(arg.indexOf('=') + 1) : (gluedPath(name, arg) ?? arg), found.named)
  }
}

function addNamed(text: string, named: Set<string>): void {
  const climbs = text === '..' || text.startsWith('../') || text.includes('/../') || text.endsWith('/..')
  if ((climbs || /^(?:\/|~[\w.+-]*(?:\/|$)|\$(?:HOME|\{HOME\})(?:\/|$))/.test(text)) && !DEVICES.test(text))
    named.add(text)
}

/** `-f/etc/passwd`; not the `/` of `-d/`, nor a pattern behind `-e`. */
function gluedPath(name: string, arg: string): string | null {
  const [, letter = '', path] = /^-[a-zA-Z]*([a-zA-Z])((?:\/[^/]|~|\.\.\/).*)$/s.exec(arg) ?? []
  return path === undefined || (PATTERN_FIRST.has(name) && !/[fL]/.test(letter)) ? null : path
}

/** No more than one too many. */
function climbsIn(words: Iterable<string>): string[] {
  const found = new Set<string>()
  for (const word of words) {
    for (const { index } of word.matchAll(/\/\.\.(?=\/|$)/g)) {
      if (found.size > MAX_CLIMBS) return [...found]
      if (index > 0) found.add(word.slice(0, index))
    }
  }
  return [...found]
}

/** A word, and what stands in it behind an option's letter, `=`, `:`, `,` or `@`. */
function pieces(word: string): string[] {
  const parts = word.split(/[=:,@]/)
  const glued = /^-[A-Za-z](.+)$/.exec(word)?.[1]
  return [word, ...(parts.length > 1 ? parts : []), ...(glued === undefined ? [] : [glued])].filter(
    (piece) => piece !== '',
  )
}
