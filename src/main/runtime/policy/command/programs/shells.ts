/** Shells, interpreters and the shell's own ways to run text. */
import type { Invocation, Judge, ProgramTable } from '../program.ts'
import { atLeastMedium, high, low, medium, runsProject, worse } from '../verdict.ts'
import type { Verdict } from '../verdict.ts'
import { operandsOf, takesNextWord } from '../words.ts'
import type { Arg, OptionSyntax } from '../words.ts'

/** The first word that is no option; `-` and `/dev/stdin` name the input, not a script. */
function scriptOperand(args: readonly Arg[], syntax: OptionSyntax): Arg | null {
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at]
    if (arg === undefined) break
    if (arg.text === '--') return namesInput(args[at + 1]) ? null : (args[at + 1] ?? null)
    if (!/^[-+]./.test(arg.text)) return namesInput(arg) ? null : arg
    if (takesNextWord(arg.text.replace(/^\+/, '-'), syntax)) at += 1
  }
  return null
}

function namesInput(arg: Arg | undefined): boolean {
  return arg !== undefined && /^(?:-|\/dev\/(?:stdin|fd\/\d+)|\/proc\/self\/fd\/\d+)$/.test(arg.text)
}

function readsSubstitution(call: Invocation): boolean {
  return call.args.some((arg) => arg.processSubstitution)
}

const SHELL_SYNTAX: OptionSyntax = { short: 'oO', long: ['--rcfile', '--init-file'] }

const shell: Judge = (call) => {
  const { args, name } = call
  const script = scriptOperand(args, SHELL_SYNTAX)
  const options = args.slice(0, script === null ? args.length : args.indexOf(script)).map((arg) => arg.text)
  if (options.some((text) => /^-[a-z]*c/i.test(text) || /^--(?:command|init-command)(?:=|$)/.test(text))) {
    return high(`Runs a command text in ${name} (-c).`)
  }
  if (name === 'cmd' && args.some((arg) => /^\/[ckr]/i.test(arg.text))) return high('Runs a command text in cmd (/c).')
  if (readsSubstitution(call)) return high(`Runs another command's output in ${name}.`)
  if (call.fed === 'piped') return high(`Feeds text or another command's output to ${name}.`)
  if (script === null && call.fed === 'unclear') return high(`Starts ${name} on whatever it is fed.`)
  if (script !== null && script.splits) return high(`Starts ${name} with computed options.`)
  return medium(script === null ? `Starts the shell ${name}.` : `Runs the script ${script.text} in ${name}.`)
}

const source: Judge = (call) => {
  if (readsSubstitution(call)) return high("Runs another command's output in this shell.")
  if (call.fed !== 'nothing' && namesInput(call.args[0])) return high('Runs whatever it is fed in this shell.')
  return medium(`Runs the script ${call.args[0]?.text ?? ''} in this shell.`)
}

interface Interpreter {
  /** An option that carries the program itself. */
  inline: RegExp
  version: RegExp
  syntax: OptionSyntax
  special?: (call: Invocation) => Verdict | null
}

const PYTHON_LOW = new Set(['mypy', 'json.tool', 'compileall'])
const PYTHON_TESTS = new Set(['pytest', 'unittest'])

function pythonModule(call: Invocation): Verdict | null {
  const at = call.args.findIndex((arg) => /^-[bBdEhiIOPqRsSuvx]*m/.test(arg.text))
  const option = call.args[at]
  if (option === undefined) return null
  if (call.args.slice(0, at).some((arg) => !arg.text.startsWith('-') || arg.text === '--')) return null
  const glued = option.text.slice(option.text.indexOf('m') + 1)
  const module = glued === '' ? (call.args[at + 1]?.text ?? '') : glued
  const rest = call.args.slice(glued === '' ? at + 2 : at + 1)
  if (PYTHON_TESTS.has(module)) return runsProject(`Runs the project's tests (python -m ${module}).`)
  if (module === 'json.tool' && operandsOf(rest, { short: '', long: ['--indent'] }).length > 1)
    return medium('Writes a file (python -m json.tool).')
  // A file of the project that bears the module's name is run in its place.
  if (PYTHON_LOW.has(module)) return runsProject(`Runs python -m ${module}.`)
  if (module === 'pip') {
    const verdict = call.judgeWords([{ ...option, text: 'pip' }, ...rest])
    return { ...verdict, runsProject: true }
  }
  return medium(`Runs the Python module ${module}.`)
}

/** `deno eval`, `bun eval`; `bun publish` belongs to the registries. */
function subcommandEval(call: Invocation): Verdict | null {
  const first = call.args.find((arg) => !arg.text.startsWith('-'))?.text
  if (first === 'eval') return high(`Runs a program text in ${call.name} (eval).`)
  return first === 'publish' ? high(`Publishes a package (${call.name} publish).`) : null
}

/** Unlike `pwsh`, it takes a bare word as a command text. */
function powershell(call: Invocation): Verdict | null {
  const first = call.args.find((arg) => !/^[-/]/.test(arg.text))?.text
  return first !== undefined && !/\.ps1$/i.test(first) && !call.args.some((arg) => /^[-/]f/i.test(arg.text))
    ? high('Runs a command text in powershell.')
    : null
}

const INTERPRETERS: Record<string, Interpreter> = {
  python: {
    inline: /^-[bBdEhiIOPqRsSuvx]*c/,
    version: /^(?:-V+|--version)$/,
    syntax: { short: 'WXm', long: ['--check-hash-based-pycs'] },
    special: pythonModule,
  },
  node: {
    inline: /^(?:-[cip]*[ep]|--(?:eval|print)(?:=|$)|--(?:import|require|loader|experimental-loader)=data:|data:)/,
    version: /^(?:-v|--version)$/,
    syntax: { short: 'rC', long: ['--require', '--import', '--loader', '--conditions', '--env-file'] },
  },
  deno: { inline: /^(?!)/, version: /^(?:-V|-v|--version)$/, syntax: {}, special: subcommandEval },
  bun: {
    inline: /^(?:-[ep]|--(?:eval|print)(?:=|$))/,
    version: /^(?:-v|--version|--revision)$/,
    syntax: { short: 'r', long: ['--preload', '--cwd', '--config'] },
    special: subcommandEval,
  },
  perl: { inline: /^-(?![IMmFxDVC])[a-zA-Z0-9]*[eE]/, version: /^(?:-v|-V|--version)$/, syntax: { short: 'I' } },
  ruby: { inline: /^-(?![IrCEFxTK])[a-zA-Z0-9]*e/, version: /^(?:-v|--version)$/, syntax: { short: 'IrCE' } },
  php: {
    inline: /^(?:-[nqC]*[rRBE]|--(?:run|process-code|process-begin|process-end)(?:=|$))/,
    version: /^(?:-v|--version)$/,
    syntax: { short: 'cdzf' },
  },
  lua: { inline: /^-[iEW]*e/, version: /^-v$/, syntax: { short: 'l' } },
  osascript: { inline: /^-[i]*e/, version: /^(?!)/, syntax: { short: 'ls' } },
  pwsh: {
    inline: /^[-/]+(?:c|co[a-z]*|cw[a-z]*|e|ec|en[a-z]*)$/i,
    version: /^[-/]+v(?:ersion)?$/i,
    syntax: {},
  },
  powershell: {
    inline: /^[-/]+(?:c|co[a-z]*|e|ec|en[a-z]*)$/i,
    version: /^[-/]+v(?:ersion)?$/i,
    syntax: {},
    special: powershell,
  },
}

/** `python3.12` and `lua5.4` are the interpreters `python` and `lua`. */
export function interpreterName(name: string): string | null {
  const family = name === 'nodejs' ? 'node' : name.replace(/[\d.]+$/, '')
  return Object.hasOwn(INTERPRETERS, family) ? family : null
}

/** An interpreter, under its family's name. */
export const interpreter: Judge = (call) => {
  const { args, name } = call
  const known = INTERPRETERS[name]
  if (known === undefined) return null
  const script = scriptOperand(args, known.syntax)
  const options = args.slice(0, script === null ? args.length : args.indexOf(script)).map((arg) => arg.text)
  if (options.some((text) => known.inline.test(text))) return high(`Runs a program text in ${name}.`)
  if (readsSubstitution(call)) return high(`Runs another command's output in ${name}.`)
  if (call.hereText) return high(`Feeds a text in the command to ${name}.`)
  if (script !== null && script.splits) return high(`Starts ${name} with computed options.`)
  const special = known.special?.(call) ?? null
  if (special !== null) return special
  if (options.length > 0 && args.length === options.length && options.every((text) => known.version.test(text))) {
    return low(`Asks ${name} for its version.`)
  }
  if (script === null && call.fed !== 'nothing') return high(`Feeds another command's output to ${name}.`)
  return medium(script === null ? `Starts ${name}.` : `Runs the script ${script.text} in ${name}.`)
}

const exec: Judge = (call) =>
  call.args.length === 0 ? low('Only redirects.') : high('Replaces the shell by a command (exec).')

/** `trap 'text' SIGNAL`. */
const trap: Judge = (call) => {
  const reason = 'Sets a command for later (trap).'
  const [first, second] = call.args
  const text = first?.text === '--' ? second : first
  if (text === undefined || /^-[lpP]?$/.test(text.text) || text.text === '') return medium(reason)
  return atLeastMedium(call.judgeText(text), reason)
}

/** `alias name='text'`. */
const alias: Judge = (call) => {
  const reason = 'Sets a command for later (alias).'
  let verdict: Verdict = medium(reason)
  for (const arg of call.args) {
    const equals = arg.text.indexOf('=')
    if (equals !== -1) verdict = worse(verdict, call.judgeText({ ...arg, text: arg.text.slice(equals + 1) }))
    else if (!arg.literal) verdict = high('Sets a computed command for later (alias).')
  }
  return verdict
}

export const SHELLS: ProgramTable = [
  ['sh bash dash zsh ksh ash fish cmd rbash mksh csh tcsh', shell],
  ['source .', source],
  ['eval', () => high('Runs computed text as a command (eval).')],
  ['exec', exec],
  ['trap', trap],
  ['alias', alias],
]
