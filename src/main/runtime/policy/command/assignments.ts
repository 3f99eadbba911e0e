import { high, low, medium } from './verdict.ts'
import type { Verdict } from './verdict.ts'

/** They make other programs run foreign code. */
const HIGH = new Set(['LD_PRELOAD', 'LD_AUDIT', 'DYLD_INSERT_LIBRARIES', 'BASH_ENV', 'PROMPT_COMMAND'])
/** They change which program, library or start file another program takes. */
const MEDIUM = new Set([
  'PATH',
  'LD_LIBRARY_PATH',
  'NODE_OPTIONS',
  'PYTHONSTARTUP',
  'PERL5OPT',
  'RUBYOPT',
  'GIT_SSH_COMMAND',
  'GIT_EXTERNAL_DIFF',
  'PAGER',
  'EDITOR',
  'IFS',
  'ENV',
])
const NOTHING = low('Only sets variables.')

/** What setting this variable comes to, whatever the value. */
export function judgeAssignment(name: string): Verdict {
  if (HIGH.has(name)) return high(`Sets ${name}, which makes other programs load code.`)
  if (MEDIUM.has(name)) return medium(`Sets ${name}, which changes what other programs run.`)
  return NOTHING
}

/** The variable of `NAME=…`, `NAME+=…` or `NAME[…]=…`; null for any other word. */
export function assignedName(text: string): string | null {
  return /^([A-Za-z_][A-Za-z0-9_]*)(?:\[[^\]]*\])?\+?=/.exec(text)?.[1] ?? null
}
