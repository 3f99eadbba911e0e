import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { ProjectFinding } from '../../shared/bridge/index.ts'
import { EXIT } from './exit-codes.ts'
import type { Command } from './index.ts'
import { inLine, printJson, say, tell } from './print.ts'
import { UsageError } from './usage.ts'

/** Says yes for a folder, after it was shown what that lets in; or lists the answers. */
export const trust: Command = (args) => {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { list: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
    allowPositionals: true,
    strict: true,
  })
  if (values.list) {
    if (positionals.length > 0) throw new UsageError('trust --list takes no folder.')
    return list(values.json)
  }
  const folder = folderIn(positionals)
  return async ({ bridge }) => {
    const before = await bridge.call('trust.inspect', { folder })
    const answered = await bridge.call('trust.answer', { folder, trusted: true })
    if (values.json) {
      printJson({ ...before, answer: answered })
      return EXIT.ok
    }
    say(`${inLine(answered.folder)} is trusted. From the next run on, agents read what it brings with it`)
    say(before.findings.length === 0 ? ', which is nothing yet.\n' : ':\n')
    for (const finding of before.findings) say(lineOf(finding))
    if (before.more) say('  … and more\n')
    return EXIT.ok
  }
}

/** Says no for a folder, whatever was said before. */
export const untrust: Command = (args) => {
  const folder = folderIn(args)
  return async ({ bridge }) => {
    const answered = await bridge.call('trust.answer', { folder, trusted: false })
    say(`${inLine(answered.folder)} is not trusted. Agents leave out what it brings with it.\n`)
    return EXIT.ok
  }
}

function list(json: boolean): ReturnType<Command> {
  return async ({ bridge }) => {
    const listed = await bridge.call('trust.list', {})
    if (json) {
      printJson(listed)
      return EXIT.ok
    }
    for (const { folder, trusted } of listed.folders) {
      say(`${trusted ? 'trusted    ' : 'not trusted'}  ${inLine(folder)}\n`)
    }
    if (listed.folders.length === 0) tell('Nothing was said of any folder yet.\n')
    return EXIT.ok
  }
}

function lineOf({ path, effects, unread }: ProjectFinding): string {
  const more = effects
    .map(({ what, names, more: others = 0 }) => {
      const rest = others > 0 ? ` and ${others} more` : ''
      return `    ${what}: ${names.join(', ')}${rest}\n`
    })
    .join('')
  return `  ${path}${unread === null ? '' : ` (${unread.replaceAll('_', ' ')})`}\n${more}`
}

function folderIn(positionals: readonly string[]): string {
  const [folder = '', ...others] = positionals
  if (folder === '' || folder.startsWith('-') || others.length > 0) throw new UsageError('Name one folder.')
  return resolve(folder)
}
