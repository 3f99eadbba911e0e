/** Programs that start another one: their class is the class of what they start. */
import { assignedName, judgeAssignment } from './assignments.ts'
import type { Invocation, Judge, ProgramTable } from './program.ts'
import { high, low, medium, worse } from './verdict.ts'
import type { Verdict } from './verdict.ts'
import { isSensitivePath } from './sensitive.ts'
import { optionValues, takesNextWord } from './words.ts'
import type { Arg, OptionSyntax } from './words.ts'

interface WrapperSyntax extends OptionSyntax {
  /** Letters that stand alone. */
  flags?: string
  longFlags?: readonly string[]
  /** Words between the options and the command, such as `timeout`'s duration. */
  operands?: number
  /** `-5` is a level, not a cluster of letters. */
  numeric?: boolean
}

const SYNTAX: Record<string, WrapperSyntax> = {
  command: { flags: 'p' },
  builtin: {},
  nice: { short: 'n', long: ['--adjustment'], numeric: true },
  ionice: { short: 'cn', long: ['--class', '--classdata'], flags: 't', longFlags: ['--ignore'] },
  nohup: {},
  setsid: { flags: 'cfw', longFlags: ['--ctty', '--fork', '--wait'] },
  stdbuf: { short: 'ioe', long: ['--input', '--output', '--error'] },
  timeout: {
    short: 'ks',
    long: ['--kill-after', '--signal'],
    flags: 'fpv',
    longFlags: ['--foreground', '--preserve-status', '--verbose'],
    operands: 1,
  },
  time: {
    short: 'fo',
    long: ['--format', '--output'],
    flags: 'apqv',
    longFlags: ['--append', '--portability', '--quiet', '--verbose'],
  },
  busybox: {},
  toybox: {},
  caffeinate: { short: 'tw', flags: 'dimsu' },
  env: {
    short: 'uC',
    long: ['--unset', '--chdir'],
    flags: 'i0v',
    longFlags: ['--ignore-environment', '--null', '--debug', '--ignore-signal', '--default-signal', '--block-signal'],
  },
  xargs: {
    short: 'aEILnPsd',
    long: [
      '--arg-file',
      '--delimiter',
      '--max-lines',
      '--max-args',
      '--max-procs',
      '--max-chars',
      '--process-slot-var',
    ],
    flags: '0rtpxoeli',
    longFlags: [
      '--null',
      '--no-run-if-empty',
      '--verbose',
      '--interactive',
      '--exit',
      '--open-tty',
      '--replace',
      '--eof',
      '--show-limits',
    ],
  },
}

const NOTHING_STARTED = low('Starts nothing.')

/** The command's words behind the wrapper's own options, or a verdict where they cannot be told. */
function unwrap(call: Invocation, syntax: WrapperSyntax): readonly Arg[] | Verdict {
  const { args, name } = call
  let at = 0
  for (; at < args.length; at += 1) {
    const arg = args[at]
    if (arg === undefined || (!arg.literal && arg.splits) || arg.braces) return unreadable(name)
    if (arg.text === '--') {
      at += 1
      break
    }
    if (!/^-./.test(arg.text)) break
    if (syntax.numeric === true && /^-+\d+$/.test(arg.text)) continue
    if (!isKnownOption(arg.text, syntax))
      return high(`Starts ${name} with the option ${arg.text}, which can hide a command.`)
    if (takesNextWord(arg.text, syntax)) at += 1
  }
  return args.slice(at + (syntax.operands ?? 0))
}

function isKnownOption(option: string, syntax: WrapperSyntax): boolean {
  const [name = ''] = option.split('=', 1)
  if (option.startsWith('--')) return [...(syntax.long ?? []), ...(syntax.longFlags ?? [])].includes(name)
  for (const letter of option.slice(1)) {
    if ((syntax.short ?? '').includes(letter)) return true
    if (!(syntax.flags ?? '').includes(letter)) return false
  }
  return true
}

function unreadable(name: string): Verdict {
  return high(`The command that ${name} starts is computed.`)
}

/** A wrapper with nothing behind it starts nothing, unless `xargs` adds the command unseen. */
function start(call: Invocation, words: readonly Arg[]): Verdict {
  if (words.length > 0) return call.judgeWords(words)
  return call.appended ? unreadable(call.name) : NOTHING_STARTED
}

const wrapper: Judge = (call) => {
  const words = unwrap(call, SYNTAX[call.name] ?? {})
  return 'risk' in words ? words : start(call, words)
}

/** The program, not the shell's word: it writes what it found where its option says, in the form that another one says. */
const time: Judge = (call) => {
  const words = unwrap(call, SYNTAX['time'] ?? {})
  if ('risk' in words) return words
  const own = call.args.slice(0, call.args.length - words.length)
  const outputs = optionValues(own, { short: 'o', long: ['--output'] })
  const started = start(call, words)
  if (outputs.some(isSensitivePath)) return high('Writes to a protected place (time -o).')
  return outputs.length === 0 ? started : worse(medium('Writes a file (time -o).'), started)
}

const command: Judge = (call) =>
  /^-p*[vV]/.test(call.args[0]?.text ?? '') ? low('Only looks up a command.') : wrapper(call)

const ionice: Judge = (call) =>
  call.args.some((arg) => /^(?:-[ct]*[pPu]|--pid|--pgid|--uid)/.test(arg.text))
    ? medium('Changes the priority of a running process.')
    : wrapper(call)

const env: Judge = (call) => {
  const words = unwrap(call, SYNTAX['env'] ?? {})
  if ('risk' in words) return words
  let verdict: Verdict = low('Prints the environment.')
  let at = 0
  for (; at < words.length; at += 1) {
    const word = words[at]
    const name = word === undefined ? null : assignedName(word.text)
    if (name === null) break
    verdict = worse(verdict, judgeAssignment(name))
  }
  const rest = words.slice(at)
  if (rest.length === 0 && !call.appended) return verdict
  const started = start(call, rest)
  return verdict.risk === 'low' ? started : worse(verdict, started)
}

const xargs: Judge = (call) => {
  const words = unwrap(call, SYNTAX['xargs'] ?? {})
  if ('risk' in words) return words
  const [head] = words
  if (head === undefined) return low('Prints its input.')
  const placeholder = replacement(call.args)
  if (placeholder !== null && head.text.includes(placeholder))
    return high('Runs commands whose names come from its input.')
  return call.judgeWords(words, { fed: 'unclear', appended: true, bulk: true })
}

/** The text that `xargs -I` replaces, null where it appends. */
function replacement(args: readonly Arg[]): string | null {
  for (const [at, { text }] of args.entries()) {
    if (!text.startsWith('-')) return null
    if (/^(?:-i|--replace)$/.test(text)) return '{}'
    const glued = /^(?:-[0rtpxo]*[iI]|--replace=)(.+)$/.exec(text)?.[1]
    if (glued !== undefined) return glued
    if (/^-[0rtpxo]*I$/.test(text)) return args[at + 1]?.text ?? null
  }
  return null
}

/** A command is told in its first words or not at all. */
const MAX_LED = 16

/**
 * They start a command, here or elsewhere, behind options that are not known one by one: high if any of their words could
 * begin a high one, or holds its text.
 */
const starter: Judge = (call) => {
  if (call.led) return high(`Starts a command behind another starter (${call.name}).`)
  let verdict = medium(`Starts a command (${call.name}).`)
  for (const [at, arg] of call.args.slice(0, MAX_LED).entries()) {
    if (verdict.risk === 'high') break
    if (!arg.literal || arg.text.startsWith('-')) continue
    verdict = worse(verdict, call.judgeWords(call.args.slice(at), { led: true }))
    if (/\s/.test(arg.text)) verdict = worse(verdict, call.judgeText(arg))
  }
  return verdict
}

export const WRAPPERS: ProgramTable = [
  ['builtin nice nohup stdbuf setsid timeout busybox toybox caffeinate', wrapper],
  [
    'watch flock strace ltrace taskset chrt setpriv unbuffer unshare nsenter chroot parallel systemd-run runuser script ssh',
    starter,
  ],
  ['time', time],
  ['command', command],
  ['ionice', ionice],
  ['env', env],
  ['xargs', xargs],
]
