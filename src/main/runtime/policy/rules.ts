import { assertNever } from '../../../shared/errors.ts'
import { isSingleCommand, startsOfCommands } from './command/shape.ts'
import { isInside, resolvePath } from './paths.ts'
import type { PathBase } from './paths.ts'
import type { PermissionRule, PolicyCall } from './types.ts'

export interface Judged {
  call: PolicyCall
  /** The inner script, null where the call is no command. */
  command: string | null
  highRisk: boolean
  /** It reaches a place outside of the session's folders by a path that it names. */
  reachesOutside: boolean
  /** It is a command that is to run there. */
  startsOutside: boolean
  /** Absolute paths that the call names, outside of a command's text. */
  paths: readonly string[]
  /** Absolute paths that the command's text spells out. */
  commandPaths: readonly string[]
  base: PathBase
}

/** The rule that decides: a reject before an allow, in the order given. */
export function matchingRule(rules: readonly PermissionRule[], judged: Judged): PermissionRule | null {
  return (
    rules.find((rule) => rule.effect === 'reject' && rejects(rule, judged)) ??
    rules.find((rule) => rule.effect === 'allow' && allows(rule, judged)) ??
    null
  )
}

function rejects(rule: PermissionRule, judged: Judged): boolean {
  const { command, call } = judged
  switch (rule.matchKind) {
    case 'command_exact':
      return command !== null && command.trim() === rule.pattern.trim()
    case 'command_prefix':
      return command !== null && [command, ...startsOfCommands(command)].some((text) => hasPrefix(text, rule.pattern))
    case 'tool':
      return call.toolName === rule.pattern
    case 'path_prefix': {
      const folder = resolvePath(rule.pattern, judged.base)
      return [...judged.paths, ...judged.commandPaths].some((path) => isInside(folder, path))
    }
    default:
      return assertNever(rule.matchKind)
  }
}

/**
 * What was cut is never allowed by a rule, and a high-risk command by nothing but its exact text. A command's text says
 * everything but where it runs, and a tool's name says nothing of where it reaches: outside of the session's folders
 * neither is what the person saw when they said "always".
 */
function allows(rule: PermissionRule, judged: Judged): boolean {
  const { command, call } = judged
  if (!call.complete || judged.startsOutside) return false
  if (rule.matchKind === 'command_exact') return command !== null && command.trim() === rule.pattern.trim()
  if (judged.highRisk) return false
  switch (rule.matchKind) {
    case 'command_prefix':
      return command !== null && hasPrefix(command, rule.pattern) && isSingleCommand(command)
    case 'tool':
      return call.toolName === rule.pattern && !judged.reachesOutside
    case 'path_prefix': {
      const folder = resolvePath(rule.pattern, judged.base)
      return command === null && judged.paths.length > 0 && judged.paths.every((path) => isInside(folder, path))
    }
    default:
      return assertNever(rule.matchKind)
  }
}

/** Whole words: `npm run` covers `npm run build`, not `npm runaway`. */
function hasPrefix(command: string, prefix: string): boolean {
  const text = command.trim()
  const wanted = prefix.trim()
  return (
    wanted !== '' && text.startsWith(wanted) && (text.length === wanted.length || /\s/.test(text[wanted.length] ?? ''))
  )
}
