/**
 * Walks a parsed text and judges every simple command in it, wherever it stands: lists, pipelines, loops, functions,
 * substitutions, here-documents. Stops at the first high one.
 */
import { forEachChild, parse } from 'unbash'
import type { Command, ParsedScript, SyntaxNode } from 'unbash'
import { judgeAssignment } from './assignments.ts'
import type { Fed, Invocation } from './program.ts'
import { findProgram } from './programs/index.ts'
import { feedsInput, judgeRedirect } from './redirects.ts'
import { high, low, medium, worse } from './verdict.ts'
import type { Verdict } from './verdict.ts'
import { argumentArg, isForeignPath, programName, wordArg } from './words.ts'
import type { Arg } from './words.ts'

/** Substitutions, compound commands and texts handed on, counted together. */
export const MAX_NESTING = 32

/** A function of such a name does not hide the builtin in every mode of Bash. */
const SPECIAL = new Set([
  'eval',
  'exec',
  'source',
  '.',
  'trap',
  'command',
  'builtin',
  'alias',
  'unset',
  'export',
  'set',
])

/** Builtins that read a word as a variable's name, and so run what stands in its subscript, quoted or not. */
const NAMES_VARIABLES = new Set(
  'declare typeset local export readonly read unset let test [ mapfile readarray'.split(' '),
)
const RUNS_SUBSCRIPT = high('Holds a subscript that the shell runs as a command.')

const NOTHING = low('Does nothing.')
const UNREADABLE = high('Cannot be read as a shell command.')

interface Place {
  depth: number
  fed: Fed
  /** Functions whose body this is. */
  within: readonly string[]
}

/** The class of a whole text. `depth`: how deep it already stands. */
export function judgeText(text: string, depth = 0): Verdict {
  return new Walk().script(parse(text), { depth, fed: 'nothing', within: [] }, true)
}

class Walk {
  #worst: Verdict = NOTHING
  #seen = false
  /** Functions that are certainly defined by now: statements of the outermost list alone. */
  readonly #defined = new Set<string>()
  readonly #calls = new Map<string, Set<string>>()

  script(script: ParsedScript, place: Place, outermost = false): Verdict {
    if (script.errors !== undefined && script.errors.length > 0) this.#note(UNREADABLE)
    else if (place.depth > MAX_NESTING) this.#note(high('Is nested too deeply to be read.'))
    else {
      for (const { command, background } of script.commands) {
        if (this.#decided) break
        this.#visit(command, place)
        if (outermost && command.type === 'Function' && background !== true)
          this.#defined.add(wordArg(command.name).text)
      }
      // Errors of a nested script are known once it was looked at.
      if (script.errors !== undefined && script.errors.length > 0) this.#note(UNREADABLE)
    }
    return this.#worst
  }

  get #decided(): boolean {
    return this.#worst.risk === 'high'
  }

  #note(verdict: Verdict): void {
    this.#worst = this.#seen ? worse(this.#worst, verdict) : verdict
    this.#seen = true
  }

  #visit(node: SyntaxNode, place: Place): void {
    if (this.#decided) return
    switch (node.type) {
      case 'Command':
        this.#command(node, place)
        this.#children(node, place)
        return
      case 'Pipeline':
        for (const [at, command] of node.commands.entries()) {
          this.#visit(command, at === 0 ? place : { ...place, fed: 'piped' })
        }
        return
      case 'Function':
        this.#function(wordArg(node.name).text, node.body, place)
        return
      case 'Coproc':
        this.#visit(node.body, deeper(place, 'piped'))
        return
      case 'Redirected': {
        for (const redirect of node.redirects) this.#note(judgeRedirect(redirect))
        const fed = node.redirects.some(feedsInput) ? 'piped' : place.fed
        this.#visit(node.command, { ...place, fed })
        for (const redirect of node.redirects) this.#children(redirect, place)
        return
      }
      case 'For':
      case 'Select':
        this.#note(judgeAssignment(wordArg(node.name).text))
        this.#children(node, deeper(place))
        return
      case 'ParameterExpansion':
        if (node.operation?.type === 'Default' && node.operation.operator.endsWith('='))
          this.#note(judgeAssignment(node.parameter))
        if (node.operation?.type === 'Transform' && node.operation.operand?.value === 'P')
          this.#note(high('Expands a text as a prompt, which runs the commands in it (@P).'))
        this.#children(node, place)
        return
      case 'CommandExpansion':
      case 'ProcessSubstitution':
      case 'ArithmeticCommandExpansion': {
        const fed = node.type === 'ProcessSubstitution' && node.operator === '>' ? 'piped' : place.fed
        if (node.script !== undefined) this.script(node.script, deeper(place, fed))
        else if (!/^[$<>`({}\s)]*$/.test(node.text)) this.#note(UNREADABLE)
        return
      }
      case 'TestCommand':
      case 'ArithmeticCommand':
        if (holdsSubscript(node)) this.#note(RUNS_SUBSCRIPT)
        this.#children(node, place)
        return
      case 'If':
      case 'While':
      case 'ArithmeticFor':
      case 'Case':
      case 'Subshell':
      case 'BraceGroup':
        this.#children(node, deeper(place))
        return
      default:
        this.#children(node, place)
    }
  }

  #children(node: SyntaxNode, place: Place): void {
    forEachChild(node, (child) => this.#visit(child, place))
  }

  #function(name: string, body: SyntaxNode, place: Place): void {
    this.#visit(body, { ...deeper(place, 'unclear'), within: [...place.within, name] })
    if (this.#reaches(name, name, new Set()))
      this.#note(high(`Defines the function ${name}, which calls itself without end.`))
  }

  #reaches(from: string, target: string, passed: Set<string>): boolean {
    for (const called of this.#calls.get(from) ?? []) {
      if (called === target) return true
      if (passed.has(called)) continue
      passed.add(called)
      if (this.#reaches(called, target, passed)) return true
    }
    return false
  }

  #command(node: Command, place: Place): void {
    for (const part of node.prefix) {
      if (part.type !== 'Assignment') continue
      this.#note(judgeAssignment(part.name))
      // A later `$((name))` or `${!name}` reads the value as a name.
      if (part.value?.type === 'Word' && runsSubscript(wordArg(part.value).text)) this.#note(RUNS_SUBSCRIPT)
    }
    for (const redirect of node.redirects) this.#note(judgeRedirect(redirect))
    if (node.name === undefined || this.#decided) return
    const words = [wordArg(node.name), ...node.args.map(argumentArg)]
    const [head] = words
    if (head?.literal === true) {
      for (const name of place.within) this.#calls.set(name, (this.#calls.get(name) ?? new Set()).add(head.text))
      if (programName(head.text) === 'unset') this.#forget(words.slice(1))
      if (this.#defined.has(head.text) && !SPECIAL.has(head.text)) {
        this.#note(low(`Calls the function ${head.text}.`))
        return
      }
    }
    const hereText = node.redirects.some((redirect) => redirect.type !== 'Redirect')
    const fed = node.redirects.some(feedsInput) ? 'piped' : place.fed
    this.#note(this.#invocation(words, { fed, hereText, appended: false, bulk: false, led: false, depth: place.depth }))
  }

  #forget(args: readonly Arg[]): void {
    for (const arg of args) {
      if (arg.literal) this.#defined.delete(arg.text)
      else this.#defined.clear()
    }
  }

  #invocation(
    words: readonly Arg[],
    how: Omit<Invocation, 'name' | 'args' | 'judgeWords' | 'judgeText'> & { depth: number },
  ): Verdict {
    const [head, ...args] = words
    if (head === undefined) return NOTHING
    if (!head.literal) return high('The name of the command is computed.')
    // Bash's word `time` takes no such option, but another shell's `time` does, and then runs what follows.
    if (head.text.startsWith('-')) return high(`Runs something behind the option ${head.text}.`)
    if (how.depth > MAX_NESTING) return high('Is nested too deeply to be read.')
    const found = findProgram(programName(head.text))
    if (found === null) return medium(`Runs ${head.text}, which Wheelhouse knows nothing about.`)
    const verdict = found.judge({
      ...how,
      name: found.name,
      args,
      judgeWords: (inner, change = {}) => this.#invocation(inner, { ...how, ...change, depth: how.depth + 1 }),
      judgeText: (arg) => {
        if (!arg.literal) return high('Hands on a computed text as a command.')
        return how.depth > MAX_NESTING ? UNREADABLE : judgeText(arg.text, how.depth + 1)
      },
    })
    if (verdict === null) return medium(`Runs ${head.text}, which Wheelhouse knows nothing about.`)
    if (namesVariable(found.name, args) && args.some((arg) => runsSubscript(arg.text))) return RUNS_SUBSCRIPT
    // A file of the project may bear any name; of a test runner it is known that it runs what the project brings.
    if (isForeignPath(head.text) && !verdict.runsProject)
      return worse(verdict, medium(`Runs ${head.text}, which Wheelhouse knows nothing about.`))
    const hidden = args.find((arg) => arg.braces && arg.text.startsWith('{') && arg.text.includes(',-'))
    return hidden === undefined ? verdict : worse(verdict, medium(`Runs ${head.text} with computed options.`))
  }
}

/** A substitution behind `[` and before any `]`. In one pass: an expression would look from each bracket anew. */
function runsSubscript(text: string): boolean {
  let isOpen = false
  for (const [mark] of text.matchAll(/[[\]`]|\$\(/g)) {
    if (mark === '[' || mark === ']') isOpen = mark === '['
    else if (isOpen) return true
  }
  return false
}

function namesVariable(name: string, args: readonly Arg[]): boolean {
  return NAMES_VARIABLES.has(name) || (name === 'printf' && args[0]?.text.startsWith('-v') === true)
}

function holdsSubscript(node: SyntaxNode): boolean {
  let found = 'value' in node && typeof node.value === 'string' && runsSubscript(node.value)
  forEachChild(node, (child) => {
    found ||= holdsSubscript(child)
  })
  return found
}

function deeper(place: Place, fed: Fed = place.fed): Place {
  return { ...place, depth: place.depth + 1, fed }
}
