/** Programs that change files, and those that only do so with the wrong option. */
import type { Invocation, Judge, ProgramTable } from '../program.ts'
import { sedDoes, sedWords } from '../sed.ts'
import { isSensitivePath } from '../sensitive.ts'
import { high, low, medium, worse } from '../verdict.ts'
import type { Verdict } from '../verdict.ts'
import { hasLong, hasShort, operandsOf, optionsOf, optionValues } from '../words.ts'
import type { Arg, OptionSyntax } from '../words.ts'

const rm: Judge = ({ args, bulk }) => {
  const options = optionsOf(args)
  if (hasShort(options, 'rR') || hasLong(options, 'recursive')) {
    return high(
      `Deletes folders recursively (rm ${options.find((option) => /^--?r|^-[a-z]*r/i.test(option)) ?? '-r'}).`,
    )
  }
  if (bulk) return high('Deletes every file that another command lists (rm).')
  if (args.some((arg) => arg.braces && /^[-{]/.test(arg.text))) return high('Deletes with computed options (rm).')
  return medium('Deletes files (rm).')
}

/** The mode lets everybody write, or runs the file with its owner's rights. */
function isOpenMode(mode: string): boolean {
  const octal = /^[-+=]?([0-7]+)$/.exec(mode)?.[1]
  if (octal !== undefined) {
    const bits = Number.parseInt(octal.slice(-4), 8)
    return (bits & 0o777) === 0o777 || (bits & 0o6000) !== 0
  }
  return mode.split(',').some((clause) => {
    const [, who = '', rights = ''] = /^([ugoa]*)((?:[-+=][rwxXstugo]*)+)$/.exec(clause) ?? []
    const given = rights
      .split(/(?=[-+=])/)
      .filter((right) => !right.startsWith('-'))
      .join('')
    if (given.includes('s')) return true
    const everybody = who.includes('a') || (who.includes('u') && who.includes('g') && who.includes('o'))
    return everybody && ['r', 'w', 'x'].every((right) => given.includes(right))
  })
}

const chmod: Judge = ({ args }) => {
  const isMode = (arg: Arg): boolean => /^-[rwxXst]+$/.test(arg.text) || !/^-./.test(arg.text)
  const options = optionsOf(args.filter((arg) => !/^-[rwxXst]+$/.test(arg.text)))
  if (hasShort(options, 'R') || hasLong(options, 'recursive')) return high('Changes rights recursively (chmod -R).')
  if (args.some((arg) => arg.braces && /^[-{]/.test(arg.text)))
    return high('Changes rights with computed options (chmod).')
  const mode = args.find((arg) => arg.text !== '--' && isMode(arg))
  if (mode !== undefined && isOpenMode(mode.text))
    return high(`Opens a file to everybody or to its owner's rights (chmod ${mode.text}).`)
  return medium('Changes the rights of files (chmod).')
}

const chown: Judge = ({ name, args }) => {
  const options = optionsOf(args)
  if (hasShort(options, 'R') || hasLong(options, 'recursive')) return high(`Changes owners recursively (${name} -R).`)
  if (args.some((arg) => arg.braces && /^[-{]/.test(arg.text)))
    return high(`Changes owners with computed options (${name}).`)
  return medium(`Changes the owner of files (${name}).`)
}

/** A program that writes where its words say: high if one of them is a protected place. */
const writer =
  (doing: string, targets: (args: readonly Arg[]) => readonly string[]): Judge =>
  ({ name, args }) => {
    const place = targets(args).find(isSensitivePath)
    return place === undefined ? medium(`${doing} (${name}).`) : high(`Writes to a protected place (${name} ${place}).`)
  }

const every = (syntax: OptionSyntax) => (args: readonly Arg[]) => operandsOf(args, syntax).map((arg) => arg.text)

const COPY: OptionSyntax = { short: 'tSgmo', long: ['--target-directory', '--suffix', '--group', '--mode', '--owner'] }

function destination(args: readonly Arg[]): string[] {
  const folders = optionValues(args, { short: 't', long: ['--target-directory'] })
  const operands = operandsOf(args, COPY)
  return folders.length > 0 ? folders : operands.slice(-1).map((arg) => arg.text)
}

const moved = (args: readonly Arg[]): string[] => [...destination(args), ...every(COPY)(args)]

const downloaded = (short: string, long: readonly string[]) => (args: readonly Arg[]) =>
  optionValues(args, { short, long })

const FIND_WRITES = new Set(['-fprint', '-fprint0', '-fprintf', '-fls'])
const FIND_RUNS = new Set(['-exec', '-execdir', '-ok', '-okdir'])

const find: Judge = (call) => {
  const { args } = call
  let verdict: Verdict = low('Looks for files (find).')
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at]
    if (arg === undefined) break
    if (arg.text === '-delete') return high('Deletes every file that it finds (find -delete).')
    if (arg.braces && /^[-{].*,/.test(arg.text)) return high('Looks for files with computed options (find).')
    if (FIND_WRITES.has(arg.text)) {
      const target = args[at + 1]?.text ?? ''
      verdict = worse(
        verdict,
        isSensitivePath(target)
          ? high(`Writes to a protected place (${target}).`)
          : medium('Writes a list to a file (find).'),
      )
    }
    if (!FIND_RUNS.has(arg.text)) continue
    const from = at + 1
    while (
      at + 1 < args.length &&
      args[at + 1]?.text !== ';' &&
      !(args[at + 1]?.text === '+' && args[at]?.text === '{}')
    )
      at += 1
    const words = args.slice(from, at + 1)
    if (words[0]?.text.includes('{}') === true) return high('Runs the files that it finds (find -exec).')
    verdict = worse(verdict, call.judgeWords(words, { fed: 'unclear', bulk: true }))
  }
  return verdict
}

/** `fd -x command` and `fd -X command`. */
const fd: Judge = (call) => {
  const at = call.args.findIndex((arg) => /^(?:-[a-zA-Z]*[xX]|--exec(?:-batch)?)$/.test(arg.text))
  if (at === -1) {
    const glued = call.args.some((arg) => /^(?:-[a-zA-Z]*[xX].|--exec(?:-batch)?=)/.test(arg.text))
    return glued ? medium('Runs a command for each file that it finds (fd).') : low('Looks for files (fd).')
  }
  const words = call.args.slice(at + 1)
  if (words[0]?.text.includes('{') === true) return high('Runs the files that it finds (fd).')
  return call.judgeWords(words, { fed: 'unclear', bulk: true, appended: true })
}

const sed: Judge = ({ args }) => {
  const options = optionsOf(args)
  const { scripts, files } = sedWords(args)
  // Whatever letters stand before it, but for those with a value; `I` is another sed's.
  if (options.some((option) => /^-[^-efl]*[iI]/.test(option)) || hasLong(options, 'in-place')) {
    const place = files.find(isSensitivePath)
    return place === undefined
      ? medium('Changes files in place (sed -i).')
      : high(`Writes to a protected place (sed -i ${place}).`)
  }
  if (hasShort(options, 'f') || hasLong(options, 'file')) return medium('Runs a sed script from a file.')
  return scripts.some((script) => sedDoes(script).acts)
    ? medium('Writes a file or runs a command from a sed script.')
    : low('Prints changed text (sed).')
}

const AWK_SYNTAX: OptionSyntax = {
  short: 'FvfeEil',
  long: ['--file', '--source', '--exec', '--include', '--load', '--assign', '--field-separator'],
}

/** They change how text is read, or hold the program or a variable. All others may name files of programs, or write some. */
const AWK_OPTION =
  /^(?:-[bckMNnOPrSst]*(?:[Fve].*)?|--(?:source|assign|field-sep[a-z]*|posix|traditional|re-interval|csv|sandbox|version|help)(?:=.*)?)$/s

const awk: Judge = ({ args }) => {
  const options = optionsOf(args)
  if (
    hasShort(
      options.filter((option) => !/^-[Fv]/.test(option)),
      'fEil',
    ) ||
    options.some((option) => /^--(?:fi|ex|i|lo)/.test(option))
  ) {
    return medium('Runs an awk program from a file.')
  }
  const odd = options.find((option) => !AWK_OPTION.test(option))
  if (odd !== undefined) return medium(`Runs awk with an option that can do more than print (${odd}).`)
  const sources = optionValues(args, { short: 'e', long: ['--source'] })
  const programs =
    sources.length > 0
      ? sources
      : operandsOf(args, AWK_SYNTAX)
          .slice(0, 1)
          .map((arg) => arg.text)
  const acts = programs.some((text) => /\bsystem\b|(?<!\|)\|(?!\|)|@\w/.test(text) || printsToFile(text))
  return acts ? medium('Runs a command or writes a file from an awk program.') : low('Prints text (awk).')
}

/** Whatever stands between `print` and `>`: a string in there may hold any mark that ends a statement. */
function printsToFile(program: string): boolean {
  const at = program.search(/printf?\b/)
  return at !== -1 && program.includes('>', at)
}

const sort: Judge = ({ args }) => {
  const outputs = optionValues(args, { short: 'o', long: ['--output'] })
  if (outputs.some(isSensitivePath))
    return high(`Writes to a protected place (sort -o ${outputs.find(isSensitivePath) ?? ''}).`)
  if (outputs.length > 0) return medium('Writes a file (sort -o).')
  return hasLong(optionsOf(args), 'compress-program') && optionsOf(args).some((option) => option.startsWith('--co'))
    ? medium('Runs a program of its own choice (sort).')
    : low('Sorts text.')
}

/** Readers that write or run something with one of their options, or with a second file name. */
const readsUnless =
  (acts: (call: Invocation) => boolean): Judge =>
  (call) =>
    acts(call) ? medium(`Writes a file or changes something (${call.name}).`) : low(`Only reads (${call.name}).`)

const withOption = (pattern: RegExp) => readsUnless(({ args }) => args.some((arg) => pattern.test(arg.text)))
const withOutputOperand = (syntax: OptionSyntax) => readsUnless(({ args }) => operandsOf(args, syntax).length > 1)

/** Its options are words behind one dash, so that `-ps` is no cluster. */
const XXD_VALUE = /^-(?:c|cols|g|groupsize|l|len|n|name|o|R|s|seek|skip)$/

function xxdNamesOutput(args: readonly Arg[]): boolean {
  const words = args.filter((arg, at) => !/^-./.test(arg.text) && !XXD_VALUE.test(args[at - 1]?.text ?? ''))
  return words.length > 1
}

export const FILES: ProgramTable = [
  ['rm', rm],
  ['chmod', chmod],
  ['chown chgrp', chown],
  ['tee', writer('Writes files', every({}))],
  ['cp ln install', writer('Copies or links files', destination)],
  ['mv', writer('Moves files', moved)],
  ['truncate', writer('Cuts files', every({ short: 'sr', long: ['--size', '--reference'] }))],
  ['curl', writer('Talks to the network', downloaded('o', ['--output', '--output-dir']))],
  ['wget', writer('Talks to the network', downloaded('OP', ['--output-document', '--directory-prefix']))],
  ['find', find],
  ['fd', fd],
  ['sed', sed],
  ['awk gawk mawk nawk', awk],
  ['sort', sort],
  ['uniq', withOutputOperand({ short: 'fsw', long: ['--skip-fields', '--skip-chars', '--check-chars'] })],
  ['xxd', readsUnless(({ args }) => xxdNamesOutput(args))],
  ['tree', withOption(/^(?:-[a-zA-Z]*[oR]|--o)/)],
  // Without a dash `e` is the environment of each process.
  ['ps', readsUnless(({ args }) => /^[A-Za-z]*e/.test(args[0]?.text ?? ''))],
  ['date', withOption(/^(?:-[a-zA-Z]*s|--s|\d)/)],
  ['file', withOption(/^(?:-[a-zA-Z]*C|--co)/)],
  ['less', withOption(/^(?:-[a-zA-Z]*[oOkK]|--l|--LO|\++(?![GgFf\d]*$|\/[^\n\r]*$))/)],
  ['yq', withOption(/^(?:-[a-zA-Z]*[iw]|--in|--split-exp|-s)/)],
  ['rg', withOption(/^--(?:pre|hostname-bin)(?:=|$)/)],
]
