import type { PermissionRule, PolicyCall } from './types.ts'

export interface Judged {
  call: PolicyCall
  /** The inner script, null where the call is no command. */
  command: string | null
  /** Where it is to run, absolute. */
  folder: string
  /** It reaches a place outside of the session's folders by a path that it names. */
  reachesOutside: boolean
  /** It is of high risk, or changes what outlives it (keys, start files, hooks). */
  isRisky: boolean
  /** It is a command that is to run outside of them. */
  startsOutside: boolean
}

/** The rule that decides: a reject before an allow, in the order given. */
export function matchingRule(rules: readonly PermissionRule[], judged: Judged): PermissionRule | null {
  return (
    rules.find((rule) => rule.effect === 'reject' && fits(rule, judged)) ??
    rules.find((rule) => rule.effect === 'allow' && fits(rule, judged) && allows(rule, judged)) ??
    null
  )
}

function fits({ matchKind, pattern }: PermissionRule, { command, call }: Judged): boolean {
  return matchKind === 'tool' ? call.toolName === pattern : command !== null && command.trim() === pattern.trim()
}

/**
 * What was cut is never allowed by a rule, and a high-risk command by nothing but its exact text, in the folder that it
 * was allowed in: what a command comes to depends on where it runs. A tool's name says nothing of where it reaches:
 * outside of the session's folders it is not what the person saw when they said "always".
 */
function allows(rule: PermissionRule, { call, folder, reachesOutside, isRisky, startsOutside }: Judged): boolean {
  if (!call.complete || startsOutside) return false
  return rule.matchKind === 'tool' ? !isRisky && !reachesOutside : rule.folder === folder
}
