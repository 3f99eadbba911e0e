import { relative, resolve } from 'node:path'
import { assertNever } from '../../../shared/errors.ts'
import type { Mode } from '../../../shared/vocabulary.ts'
import { classifyCommand } from './command/classify.ts'
import { commandPaths } from './command/paths.ts'
import type { CommandPaths } from './command/paths.ts'
import { isSensitivePath, steersAgents } from './command/sensitive.ts'
import { isInside, isInsideAny, mayBeInside, mentions, pathBase, resolvePath } from './paths.ts'
import type { PathBase } from './paths.ts'
import { matchingRule } from './rules.ts'
import type { CommandRisk, PolicyCall, PolicyContext, PolicyInput, PolicyVerdict } from './types.ts'

type Effect = PolicyVerdict['effect']
type Column = 'read' | 'edit' | 'low' | 'runner' | 'medium' | 'high' | 'fetch' | 'unknown' | 'outside'

/** What a mode does with each kind of call. */
const TABLE: Record<Mode, Record<Column, Effect>> = {
  plan: {
    read: 'allow',
    edit: 'block',
    low: 'allow',
    runner: 'ask',
    medium: 'block',
    high: 'block',
    fetch: 'ask',
    unknown: 'block',
    outside: 'block',
  },
  agent: {
    read: 'allow',
    edit: 'ask',
    low: 'allow',
    runner: 'allow',
    medium: 'ask',
    high: 'ask',
    fetch: 'ask',
    unknown: 'ask',
    outside: 'ask',
  },
  yolo: everything('allow'),
  os: everything('allow'),
}

const STRICTNESS: Record<Effect, number> = { allow: 0, ask: 1, block: 2 }
const CUT = 'The agent showed only a part of this, so nobody can judge all of it.'

/**
 * What happens to one call, in this order: the guards (unattended and high risk; Wheelhouse's own folder), the mode's
 * block, a rule that rejects, a rule that allows, the mode's table. No mode, rule or setting lifts a guard. Pure.
 */
export function evaluate(policy: PolicyInput, call: PolicyCall, ctx: PolicyContext): PolicyVerdict {
  const command = call.action?.kind === 'command' ? call.action.command : null
  const cwd = call.action?.kind === 'command' && call.action.cwd !== '' ? call.action.cwd : policy.roots[0]
  const base = pathBase(cwd, ctx.home)
  const spelled = pathsIn(command, base)
  const judgement = withGit(judge(call, command), spelled.gitFolders, ctx.gitRuns)
  const risk = judgement?.risk ?? null
  const paths = namedPaths(call, base)
  const led = ledTo([...paths, ...spelled.candidates], ctx.follow)

  if (policy.unattended && risk === 'high') {
    const reason = `${judgement?.reason ?? CUT} Nobody is there to allow it.`
    return { effect: 'block', reason, risk, code: 'policy_high_risk_blocked' }
  }
  if (touchesOwnFolder(call, command, [...paths, ...spelled.candidates, ...led.all], ctx.dataDir)) {
    const reason = "Reaches into Wheelhouse's own folder, which no agent may read or change."
    return { effect: 'block', reason, risk, code: 'policy_protected_path' }
  }

  const roots = policy.roots.map((root) => resolvePath(root, pathBase('/', undefined)))
  const allRoots = [...roots, ...roots.flatMap((root) => ctx.follow?.(root) ?? [])]
  const isOutside = (path: string): boolean => !isInsideAny(allRoots, path)
  const outside =
    [...paths, ...spelled.named, ...led.from(roots)].find(isOutside) ??
    (readsAllBelow(call, command, [...paths, ...spelled.candidates], ctx.dataDir) ? ctx.dataDir : undefined)
  const decided = fromTable(policy, call, judgement, {
    outside,
    unseen: led.unseen ?? spelled.unseen ?? climbsOutOfLink(spelled, ctx.follow),
  })
  if (decided.effect === 'block') return { ...decided, risk, code: 'policy_blocked' }

  const startsOutside = command !== null && [base.cwd, ...(ctx.follow?.(base.cwd) ?? [])].some(isOutside)
  const below = (path: string): string => relative(allRoots.find((root) => isInside(root, path)) ?? '/', path)
  const outlives = [...paths, ...led.all].some((path) => isSensitivePath(path) || steersAgents(below(path)))
  const isRepeatable = !startsOutside && (command !== null || (outside === undefined && !outlives))
  const rule = matchingRule(ctx.rules, {
    call,
    command,
    folder: resolve(base.cwd),
    reachesOutside: outside !== undefined,
    isRisky: risk === 'high' || outlives,
    startsOutside,
  })
  if (rule === null) return isRepeatable ? { ...decided, risk } : { ...decided, risk, once: true }
  return rule.effect === 'reject'
    ? { effect: 'block', reason: 'A rule of yours rejects it.', risk, code: 'policy_blocked', ruleId: rule.id }
    : { effect: 'allow', reason: 'A rule of yours allows it.', risk, ruleId: rule.id }
}

/** A command of more words, or of more patterns, each of which is looked up on the disk, is looked at by nobody. */
const MAX_FOLLOWED = 512
const MAX_PATTERNS = 64

/** Where links on this disk lead to from these paths: all of them, and those whose text lies in one of some folders. */
function ledTo(paths: readonly string[], follow: PolicyContext['follow']) {
  const unique = follow === undefined ? [] : [...new Set(paths)]
  const followed = fewOf(unique)
  const isTooMany = followed.length < unique.length
  const places = followed.map((path) => ({ path, to: follow?.(path) ?? [] }))
  return {
    all: places.flatMap(({ to }) => to),
    from: (folders: readonly string[]) => places.flatMap(({ path, to }) => (isInsideAny(folders, path) ? to : [])),
    unseen: isTooMany ? TOO_MANY : null,
  }
}

function fewOf(paths: readonly string[]): string[] {
  let patterns = 0
  return paths.slice(0, MAX_FOLLOWED).filter((path) => !/[*?[{]/.test(path) || (patterns += 1) <= MAX_PATTERNS)
}

function climbsOutOfLink({ climbed }: CommandPaths, follow: PolicyContext['follow']): string | null {
  if (follow === undefined) return null
  const unique = [...new Set(climbed)]
  const followed = fewOf(unique)
  const from = followed.find((path) => follow(path).length > 0)
  if (from !== undefined) return `It climbs out of a folder behind a link (${from}).`
  return followed.length < unique.length ? TOO_MANY : null
}

const TOO_MANY = 'It names too many paths to look at each.'

/** The class of a command, or of what was cut; null for any other call. */
function judge(call: PolicyCall, command: string | null): CommandRisk | null {
  if (!call.complete) return { risk: 'high', reason: CUT, runsProject: false }
  if (command !== null) return classifyCommand(command)
  if (call.kind !== 'execute') return null
  return { risk: 'high', reason: 'The agent does not say which command it runs.', runsProject: false }
}

/** A look at a repository that may start a program is no mere look. */
function withGit(
  judgement: CommandRisk | null,
  folders: CommandPaths['gitFolders'],
  gitRuns: PolicyContext['gitRuns'],
): CommandRisk | null {
  if (judgement?.risk !== 'low' || gitRuns === undefined) return judgement
  const why = folders === null ? 'It is not said in which folder.' : firstOf([...new Set(folders)], gitRuns)
  if (why === null) return judgement
  return { risk: 'medium', reason: `Git may start a program here. ${why}`, runsProject: false }
}

function firstOf(folders: readonly string[], gitRuns: (folder: string) => string | null): string | null {
  for (const folder of folders) {
    const why = gitRuns(folder)
    if (why !== null) return why
  }
  return null
}

function fromTable(
  policy: PolicyInput,
  call: PolicyCall,
  judgement: CommandRisk | null,
  { outside, unseen }: { outside: string | undefined; unseen: string | null },
): { effect: Effect; reason: string } {
  const table = TABLE[policy.mode]
  const column = columnOf(call, judgement)
  const effect = table[column]
  const isStricter = STRICTNESS[table.outside] > STRICTNESS[effect]
  if (outside === undefined && unseen !== null && isStricter) {
    return { effect: table.outside, reason: `May reach outside the folders of this session. ${unseen}` }
  }
  if (outside !== undefined && isStricter) {
    return { effect: table.outside, reason: `Reaches outside the folders of this session (${outside}).` }
  }
  const reason = judgement?.reason ?? REASONS[column]
  return { effect, reason: effect === 'block' ? `${reason} Mode ${policy.mode} does not allow it.` : reason }
}

const REASONS: Record<Column, string> = {
  read: 'Only reads.',
  edit: 'Changes files.',
  low: 'Runs a command.',
  runner: 'Runs a command.',
  medium: 'Runs a command.',
  high: 'Runs a command.',
  fetch: 'Talks to the network.',
  unknown: 'Uses a tool that Wheelhouse knows nothing about.',
  outside: 'Reaches outside the folders of this session.',
}

function columnOf(call: PolicyCall, judgement: CommandRisk | null): Column {
  if (judgement !== null) return judgement.runsProject && judgement.risk === 'low' ? 'runner' : judgement.risk
  // What a foreign server's tool does is that server's own claim, whatever kind it names.
  if (call.action?.kind === 'mcp') return 'unknown'
  if (call.action?.kind === 'edit') return 'edit'
  switch (call.kind) {
    case 'read':
    case 'search':
    case 'think':
      return 'read'
    case 'edit':
    case 'move':
    case 'delete':
      return 'edit'
    case 'fetch':
      return 'fetch'
    case 'execute':
      return 'high'
    case 'switch_mode':
    case 'other':
      return 'unknown'
    default:
      return assertNever(call.kind)
  }
}

/** What the call names as paths: its locations, the files of an edit, the folder of a command. */
function namedPaths(call: PolicyCall, base: PathBase): string[] {
  const { action } = call
  const edits = action?.kind === 'edit' ? action.changes.map((change) => change.path) : []
  const folder = action?.kind === 'command' && action.cwd !== '' ? [action.cwd] : []
  return [...call.locations, ...edits, ...folder].map((path) => resolvePath(path, base))
}

const NO_PATHS: CommandPaths = { candidates: [], named: [], climbed: [], unseen: null, gitFolders: [] }

function pathsIn(command: string | null, base: PathBase): CommandPaths {
  if (command === null) return NO_PATHS
  try {
    return commandPaths(command, base)
  } catch {
    // Unreadable text is high already; the guard still looks for the folder's name in it.
    return NO_PATHS
  }
}

/** By a path, or by name in a text that some program will read. */
function touchesOwnFolder(
  call: PolicyCall,
  command: string | null,
  paths: readonly string[],
  dataDir: string,
): boolean {
  if (paths.some((path) => mayBeInside(dataDir, path))) return true
  const { action } = call
  if (command !== null) return mentions(command, dataDir)
  if (action?.kind === 'mcp') return mentions(action.input, dataDir)
  return action?.kind === 'other' && mentions(action.text, dataDir)
}

const DEEP = /\b(?:[ef]?grep|rg|ag|ack|find|fd|du|tree|diff)\b/

function looksBelow(command: string): boolean {
  return DEEP.test(command) || (/\bls\s/.test(command) && /\s-\w*R/.test(command))
}

/** A folder of the session that holds Wheelhouse's own (a whole home, say) is not read through without a question. */
function readsAllBelow(call: PolicyCall, command: string | null, paths: readonly string[], dataDir: string): boolean {
  if (command === null ? call.kind !== 'search' : !looksBelow(command)) return false
  return paths.some((path) => isInside(path, dataDir))
}

function everything(effect: Effect): Record<Column, Effect> {
  return {
    read: effect,
    edit: effect,
    low: effect,
    runner: effect,
    medium: effect,
    high: effect,
    fetch: effect,
    unknown: effect,
    outside: effect,
  }
}
