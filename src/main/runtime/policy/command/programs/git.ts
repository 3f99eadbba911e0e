/** Git: what only looks, what changes, and what cannot be undone or runs a program. */
import type { Invocation, Judge, ProgramTable } from '../program.ts'
import { atLeastMedium, high, low, medium, worse } from '../verdict.ts'
import type { Verdict } from '../verdict.ts'
import { hasLong, hasShort, operandsOf, optionsOf, optionValues, takesNextWord } from '../words.ts'
import type { Arg } from '../words.ts'

const GLOBAL = {
  short: 'Cc',
  long: ['--git-dir', '--work-tree', '--namespace', '--super-prefix', '--config-env', '--attr-source'],
}
const LOOKS = new Set(
  'status log diff show blame rev-parse describe ls-files ls-tree cat-file shortlog grep merge-base rev-list'.split(
    ' ',
  ),
)

/** Settings whose value is a program or a folder of programs. */
const PROGRAM_SETTING =
  /^(?:alias\..*|pager\..*|core\.(?:pager|editor|sshcommand|fsmonitor|hookspath|gitproxy|askpass)|sequence\.editor|diff\.(?:external|.*\.(?:command|textconv))|(?:difftool|mergetool|browser|man)\..*\.(?:cmd|path)|merge\..*\.driver|filter\..*\.(?:clean|smudge|process)|credential\.(?:.*\.)?helper|gpg\.(?:.*\.)?program|interactive\.difffilter|include(?:if\..*)?\.path|init\.templatedir|remote\..*\.(?:uploadpack|receivepack|vcs)|trailer\..*\.(?:command|cmd)|protocol\..*allow)$/i

function judgeSetting(setting: string, value: string): Verdict {
  if (PROGRAM_SETTING.test(setting) || value.startsWith('!'))
    return high(`Makes Git run another program (-c ${setting}).`)
  return medium(`Runs Git with another setting (-c ${setting}).`)
}

/** `-c name=value` and `--config-env=name=VARIABLE`, in front of the subcommand. */
function judgeGlobals(args: readonly Arg[]): Verdict | null {
  let worst: Verdict | null = null
  const add = (verdict: Verdict): void => {
    worst = worst === null ? verdict : worse(worst, verdict)
  }
  for (const [at, arg] of args.entries()) {
    const next = args[at + 1]?.text ?? ''
    if (/^-c./.test(arg.text) && !arg.text.startsWith('--')) addSetting(arg.text.slice(2))
    else if (arg.text === '-c' || arg.text === '--config-env') addSetting(next)
    else if (arg.text.startsWith('--config-env=')) addSetting(arg.text.slice('--config-env='.length))
    else if (/^--(?:git-dir|work-tree)(?:=|$)|^--bare$/.test(arg.text))
      add(medium(`Takes another folder for the repository, with its settings (git ${arg.text.split('=', 1)[0]}).`))
    else if (arg.text.startsWith('--exec-path=')) add(high('Makes Git take its programs from another folder.'))
    if (arg.splits || arg.braces) add(high('Runs Git with computed options.'))
  }
  return worst

  function addSetting(text: string): void {
    const equals = text.indexOf('=')
    const setting = equals === -1 ? text : text.slice(0, equals)
    add(judgeSetting(setting, equals === -1 ? '' : text.slice(equals + 1)))
  }
}

/** Options by which a looking subcommand writes a file or starts a program. */
function judgeLook(name: string, args: readonly Arg[]): Verdict {
  const options = optionsOf(args)
  if (name === 'grep' && (hasShort(options, 'O') || options.some((option) => option.startsWith('--op')))) {
    return high('Starts a program of its own choice (git grep -O).')
  }
  // Git takes the beginning of an option for all of it.
  if (options.some((option) => /^--ou(?!tput-indicator)/.test(option)))
    return medium(`Writes a file (git ${name} --output).`)
  if (options.some((option) => /^--subm[a-z]*(?:=(?!log$|short$)|$)/.test(option)))
    return medium(`Looks into other repositories with their settings (git ${name} --submodule).`)
  return low(`Only looks at the repository (git ${name}).`)
}

/** What tells a listing how to look; nothing else is known to leave everything as it is, and a beginning stands for several. */
const BRANCH_OPTION =
  /^(?:-[arvqli]+|--(?:all|remotes|verbose|quiet|list|show-current|contains|no-contains|merged|no-merged|points-at|sort|format|color|no-color|column|no-column|abbrev|no-abbrev|ignore-case|omit-empty)(?:=.*)?)$/s
const TAG_OPTION =
  /^(?:-[li]+|-n\d*|--(?:list|contains|no-contains|merged|no-merged|points-at|sort|format|color|no-color|column|no-column|ignore-case|omit-empty)(?:=.*)?)$/s
const CONFIG_OPTION =
  /^(?:-[lz]+|-f.*|--(?:list|get|get-all|get-regexp|get-urlmatch|get-color|get-colorbool|global|system|local|worktree|file|blob|type|no-type|bool|int|bool-or-int|bool-or-str|path|expiry-date|null|name-only|show-origin|show-scope|show-names|no-show-names|includes|no-includes|default|all|regexp|value|fixed-value|url)(?:=.*)?)$/s
const SELECTS = /^(?:-[a-z]*l|-n|--(?:list|contains|no-contains|merged|no-merged|points-at))/

const lists = (args: readonly Arg[], operands: readonly string[], known: RegExp): boolean => {
  const options = optionsOf(args)
  return (
    options.every((option) => known.test(option)) &&
    (operands.length === 0 || options.some((option) => SELECTS.test(option)))
  )
}

const LISTING: Record<string, (args: readonly Arg[], operands: readonly string[]) => boolean> = {
  branch: (args, operands) => lists(args, operands, BRANCH_OPTION),
  tag: (args, operands) => lists(args, operands, TAG_OPTION),
  // `show` asks the remote itself, unless told not to.
  remote: (args, operands) =>
    operands.length === 0 ||
    operands[0] === 'get-url' ||
    (operands[0] === 'show' && (operands.length === 1 || optionsOf(args).includes('-n'))),
  config: (args, operands) => {
    const options = optionsOf(args)
    if (!options.every((option) => CONFIG_OPTION.test(option))) return false
    if (options.some((option) => /^(?:-l|--list|--get)/.test(option))) return true
    // A key has a dot; a word without one may be a subcommand such as `edit`.
    return operands[0] === 'list' || operands[0] === 'get' || (operands.length === 1 && /\./.test(operands[0] ?? ''))
  },
  // Behind `--` stand files to be put away.
  stash: ([first]) => first?.text === 'list' || first?.text === 'show',
  worktree: ([first]) => first?.text === 'list',
  reflog: (_args, operands) => !['expire', 'delete', 'drop', 'write'].includes(operands[0] ?? ''),
}

function judgePush(args: readonly Arg[]): Verdict {
  const options = optionsOf(args)
  const names = ['force', 'force-with-lease', 'force-if-includes', 'mirror', 'delete', 'prune']
  const hard =
    names.find((name) => hasLong(options, name)) ??
    (hasShort(options, 'f') ? 'force' : hasShort(options, 'd') ? 'delete' : null)
  if (hard !== null) return high(`Overwrites or deletes what others may have (git push --${hard}).`)
  if (namesProgram(options, ['receive-pack', 'exec'])) return high('Names a program for the other side (git push).')
  const ref = operandsOf(args, { short: 'o', long: ['--push-option', '--repo', '--receive-pack', '--exec'] }).find(
    (arg) => /^[+:]./.test(arg.text),
  )
  return ref === undefined
    ? medium('Sends commits to a remote (git push).')
    : high(`Overwrites or deletes a branch of the remote (git push ${ref.text}).`)
}

function namesProgram(options: readonly string[], long: readonly string[]): boolean {
  return options.some((option) =>
    long.some((name) => option.length > 4 && `--${name}`.startsWith(option.split('=', 1)[0] ?? '')),
  )
}

/** A text that Git hands to a shell: at least medium, and what the text comes to. */
function judgeHandedText(call: Invocation, rest: readonly Arg[], text: string | undefined, reason: string): Verdict {
  const arg = rest.find((candidate) => text !== undefined && candidate.text.endsWith(text))
  return arg === undefined || text === undefined
    ? medium(reason)
    : atLeastMedium(call.judgeText({ ...arg, text }), reason)
}

function judgeSubcommand(call: Invocation, name: string, rest: readonly Arg[]): Verdict {
  const options = optionsOf(rest)
  const operands = operandsOf(rest).map((arg) => arg.text)
  if (rest.some((arg) => arg.braces && /^[-{].*,/.test(arg.text)))
    return high(`Runs git ${name} with computed options.`)
  if (LOOKS.has(name)) return judgeLook(name, rest)
  if (LISTING[name]?.(rest, operands) === true) return worse(low(`Only lists (git ${name}).`), judgeLook(name, rest))
  switch (name) {
    case 'reset':
      if (hasLong(options, 'hard')) return high('Throws away uncommitted changes (git reset --hard).')
      break
    case 'clean':
      if (hasShort(options, 'f') || hasLong(options, 'force'))
        return high('Deletes files that Git does not know (git clean -f).')
      break
    case 'push':
      return judgePush(rest)
    case 'filter-branch':
    case 'filter-repo':
      return high(`Rewrites the history (git ${name}).`)
    case 'update-ref':
      if (hasShort(options, 'd') || options.some((option) => option.startsWith('--d')))
        return high('Deletes a reference (git update-ref -d).')
      break
    case 'reflog':
      if (operands[0] === 'expire' || operands[0] === 'delete')
        return high(`Deletes the way back to lost commits (git reflog ${operands[0]}).`)
      break
    case 'gc':
      if (options.some((option) => /^--prune?(?:=|$)/.test(option)))
        return high('Deletes unreachable commits (git gc --prune).')
      break
    case 'rebase': {
      const [text] = optionValues(rest, { short: 'x', long: ['--exec'] })
      return judgeHandedText(call, rest, text, 'Rewrites commits (git rebase).')
    }
    case 'bisect':
      if (operands[0] !== 'run') break
      return atLeastMedium(
        call.judgeWords(rest.slice(rest.findIndex((arg) => arg.text === 'run') + 1)),
        'Runs a command for many commits (git bisect run).',
      )
    case 'submodule':
      return judgeSubmodule(call, rest, operands)
    case 'difftool': {
      const [text] = optionValues(rest, { short: 'x', long: ['--extcmd'] })
      return judgeHandedText(call, rest, text, 'Starts another program (git difftool).')
    }
    case 'clone':
    case 'fetch':
    case 'pull':
    case 'ls-remote':
    case 'fetch-pack':
    case 'archive':
      return judgeTransfer(name, rest, options)
    default:
  }
  return medium(`Changes the repository (git ${name}).`)
}

function judgeTransfer(name: string, rest: readonly Arg[], options: readonly string[]): Verdict {
  if (namesProgram(options, ['upload-pack', 'exec']) || (name === 'clone' && hasShort(options, 'u'))) {
    return high(`Names a program for the other side (git ${name}).`)
  }
  let verdict: Verdict = medium(`Fetches from a remote (git ${name}).`)
  if (name !== 'clone') return verdict
  for (const setting of optionValues(rest, { short: 'c', long: ['--config'] })) {
    const [key = '', value = ''] = setting.split(/=(.*)/s)
    verdict = worse(verdict, judgeSetting(key, value))
  }
  return verdict
}

function judgeSubmodule(call: Invocation, rest: readonly Arg[], operands: readonly string[]): Verdict {
  if (operands[0] !== 'foreach') return medium('Changes submodules (git submodule).')
  const reason = 'Runs a command in every submodule (git submodule foreach).'
  const words = rest
    .slice(rest.findIndex((arg) => arg.text === 'foreach') + 1)
    .filter((arg) => !/^(?:--recursive|-q|--quiet)$/.test(arg.text))
  const [first] = words
  if (first === undefined) return medium(reason)
  return atLeastMedium(words.length === 1 ? call.judgeText(first) : call.judgeWords(words), reason)
}

const git: Judge = (call) => {
  let at = 0
  for (; at < call.args.length; at += 1) {
    const text = call.args[at]?.text ?? ''
    if (!text.startsWith('-')) break
    if (takesNextWord(text, GLOBAL)) at += 1
  }
  const globals = judgeGlobals(call.args.slice(0, at))
  const name = call.args[at]
  if (name !== undefined && (!name.literal || name.braces)) return high('Runs a computed Git command.')
  const own =
    name === undefined
      ? /^(?:--version|-v|--help|-h)?$/.test(call.args[0]?.text ?? '')
        ? low('Asks Git for its version.')
        : medium('Runs git.')
      : judgeSubcommand(call, name.text, call.args.slice(at + 1))
  return globals === null ? own : worse(own, globals)
}

export const GIT: ProgramTable = [['git', git]]
