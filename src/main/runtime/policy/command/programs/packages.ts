/** Package managers, registries, build and test runners. */
import type { Invocation, Judge, ProgramTable } from '../program.ts'
import { high, low, medium, runsProject } from '../verdict.ts'
import type { Verdict } from '../verdict.ts'
import { operandsOf, takesNextWord } from '../words.ts'
import type { OptionSyntax } from '../words.ts'

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

interface Manager {
  project?: ReadonlySet<string>
  lists?: ReadonlySet<string>
  publishes?: ReadonlySet<string>
  syntax?: OptionSyntax
  /** Options that only change what a listing shows. Any other may name a program, settings or a file. */
  shows?: RegExp
}

const NODE_SYNTAX: OptionSyntax = {
  short: 'CwF',
  long: [
    '--prefix',
    '--workspace',
    '--registry',
    '--loglevel',
    '--cwd',
    '--filter',
    '--userconfig',
    '--cache',
    '--dir',
  ],
}
/** The project's own settings name the programs that each of their commands runs: Git, a shell, the manager itself. */
const NODE: Manager = {
  project: words('test t tst run run-script start build lint ls list outdated view info why audit search show'),
  publishes: words('publish'),
  syntax: NODE_SYNTAX,
}
const PIP: Manager = {
  lists: words('list show freeze check'),
  publishes: words(''),
  syntax: { long: ['--python', '--log', '--cache-dir'] },
  shows:
    /^(?:-[ouelfqv]+|--(?:outdated|uptodate|editable|local|user|pre|format|not-required|exclude-editable|include-editable|exclude|files|verbose|quiet|all|disable-pip-version-check|no-color)(?:=.*)?)$/s,
}
const SHOWS =
  /^(?:-[aqv]+|--(?:installed|upgradable|upgradeable|available|updates|all|all-versions|names-only|full|quiet|verbose|versions|local|remote|exact|details|json|cask|casks|formula|formulae)(?:=.*)?)$/s

const MANAGERS: Record<string, Manager> = {
  npm: NODE,
  pnpm: NODE,
  yarn: NODE,
  // `tree`, `metadata` and Go's `list` ask the compiler, and the project's settings may put another in its place.
  cargo: {
    project: words('build b check c test t clippy fmt doc tree metadata search info'),
    publishes: words('publish'),
    syntax: { short: 'CZ', long: ['--color', '--manifest-path', '--config'] },
  },
  go: {
    project: words('build test vet fmt list'),
    lists: words('env version doc'),
    syntax: { short: 'C' },
    shows: /^--?(?:json|changed|m|v|all|c|cmd|short|src|u|C.*)$/,
  },
  pip: PIP,
  gem: { lists: words('list search info'), publishes: words('push') },
  twine: { publishes: words('upload') },
  // Plugins of the project are loaded, and a Gemfile is a program, whatever is asked.
  poetry: { project: words('show search'), publishes: words('publish') },
  uv: { publishes: words('publish') },
  bundle: { project: words('list show info') },
  composer: { project: words('show search info') },
  brew: { lists: words('list search info') },
  apt: { lists: words('list search show') },
  'apt-cache': { lists: words('search show') },
  dnf: { lists: words('list search info') },
  yum: { lists: words('list search info') },
  port: { lists: words('list search info') },
  winget: { lists: words('list search show') },
  choco: { lists: words('list search info') },
}

/** `yarn npm publish`, `yarn workspace x publish`, `cargo +nightly publish`. */
const LEADS_ON = /^(?:npm|workspaces?|\+.+)$/

/** Scripts whose name says that they change more than the project's build output. */
const CHANGES = /^(?:install|uninstall|clean|distclean|deploy|publish|release)(?:[:.-]|$)/
/** Options that name a program, a file of settings or another server to be used instead. */
const SWAPS =
  /^(?:--(?:script-shell|git|shell|node-options|config|userconfig|globalconfig|registry|index-url|extra-index-url|proxy|exec|log)|-exec|--?toolexec|--?vettool|--?overlay|--?modfile|-w$|-u$)(?:=|$)/

const manager: Judge = (call) => {
  const { name, args } = call
  const known = MANAGERS[name]
  if (known === undefined) return null
  const [command, target] = operandsOf(args, known.syntax)
  const before = command === undefined ? args : args.slice(0, args.indexOf(command))
  if (command === undefined) return medium(`Runs ${name}.`)
  const publishes = known.publishes?.has(command.text) === true
  const unsure =
    LEADS_ON.test(command.text) ||
    before.some(({ text }) => text.startsWith('-') && !text.includes('=') && !takesNextWord(text, known.syntax ?? {}))
  if (publishes || (unsure && args.some((arg) => known.publishes?.has(arg.text) === true))) {
    return high(`Publishes a package (${name} ${command.text}).`)
  }
  const doing = `${name} ${command.text}`
  if (command.text === 'audit' && target?.text === 'fix') return medium(`Changes installed packages (${doing} fix).`)
  const swaps = args.some((arg) => SWAPS.test(arg.text))
  if (swaps) return medium(`Runs a program of its own choice, or by other settings (${doing}).`)
  if (known.lists?.has(command.text) === true) {
    const writes = name === 'go' && command.text === 'env' && args.some((arg) => /^--?[wu]$/.test(arg.text))
    if (writes) return medium(`Changes settings (${doing}).`)
    const odd = args.find(({ text }) => /^-./.test(text) && !(known.shows ?? SHOWS).test(text))
    return odd === undefined
      ? low(`Lists or shows packages (${doing}).`)
      : medium(`Lists packages with an option that can do more (${doing} ${odd.text}).`)
  }
  if (known.project?.has(command.text) !== true) return medium(`Changes packages or runs one (${doing}).`)
  if (command.text.startsWith('run') && target !== undefined && CHANGES.test(target.text))
    return medium(`Runs the script ${target.text} (${name}).`)
  return runsProject(`Runs the project's own build or tests (${doing}).`)
}

/** `-f x`, `-C x`, `--eval`, `SHELL=` and a variable that holds a command make it run something else. */
const MAKE_ELSEWHERE = /^(?:-[a-zA-Z]*[fCEI]|--(?:f|mak|di|ev|inc)|SHELL=|MAKEFLAGS=|[A-Za-z_]\w*[:+?!]*=.*[\s;|&`$])/s

const make: Judge = ({ name, args }) => {
  const elsewhere = args.find((arg) => MAKE_ELSEWHERE.test(arg.text))
  if (elsewhere !== undefined) return medium(`Runs ${name} on other rules (${elsewhere.text}).`)
  const target = args.find((arg) => CHANGES.test(arg.text))
  if (target !== undefined) return medium(`Runs ${name} ${target.text}.`)
  return runsProject(`Runs the project's own build or tests (${name}).`)
}

/** Gradle and Maven write options with one dash, so only `-f` and `-C` by themselves count. */
const jvm: Judge = (call: Invocation): Verdict => {
  const { name, args } = call
  const changed = args.find(
    (arg) =>
      CHANGES.test(arg.text) ||
      /^(?:(?:-f|-C|--file|--build-file|-b|-I|-s|-gs)$|--(?:init-script|settings|global-settings|include-build)|-D.*exec|(?:exec|antrun|groovy|script):)/.test(
        arg.text,
      ),
  )
  return changed === undefined
    ? runsProject(`Runs the project's own build or tests (${name}).`)
    : medium(`Runs ${name} ${changed.text}.`)
}

const tests: Judge = ({ name }) => runsProject(`Runs the project's own build or tests (${name}).`)

const pip: Judge = (call) => manager({ ...call, name: 'pip' })

/** `pacman -Q…` and `-S[si]…` list; everything else changes packages. */
const pacman: Judge = ({ args }) => {
  const lists =
    args.length > 0 &&
    args.filter((arg) => arg.text.startsWith('-')).every((arg) => /^-(?:Q[a-z]*|S[sig]+)$/.test(arg.text))
  return lists ? low('Lists packages (pacman).') : medium('Changes packages (pacman).')
}

export const PACKAGES: ProgramTable = [
  [Object.keys(MANAGERS).join(' '), manager],
  ['pip2 pip3 pipx', pip],
  ['pacman', pacman],
  ['make gmake ninja', make],
  ['gradle gradlew mvn mvnw bazel', jvm],
  ['ctest pytest jest vitest mocha tsc mypy', tests],
]
