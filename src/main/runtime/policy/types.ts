/** The words of the policy: what it judges, by what, and what comes out. */
import type { Mode, PermissionAction, Risk, Source, ToolKind } from '../../../shared/vocabulary.ts'

export type Sandbox = 'read_only' | 'workspace' | 'none'

/** The part of a run's policy snapshot that a single call is judged by. */
export interface PolicyInput {
  mode: Mode
  unattended: boolean
  sandbox: Sandbox
  /** Absolute; `roots[0]` is the work directory. */
  roots: readonly string[]
}

/** One thing that an agent wants to do. */
export interface PolicyCall {
  kind: ToolKind
  toolName: string | null
  action: PermissionAction | null
  /** False: what the agent showed was cut, so nobody can judge all of it. */
  complete: boolean
  /** Paths that the call names, absolute or relative to the work directory. */
  locations: readonly string[]
}

export interface PermissionRule {
  id: string
  matchKind: 'command_exact' | 'tool'
  pattern: string
  /** The only folder that an allowed command may start in, absolute; null for every other rule. */
  folder: string | null
  effect: 'allow' | 'reject'
}

export interface PolicyContext {
  /** Wheelhouse's own folder, absolute: no agent reads or writes in it. */
  dataDir: string
  rules: readonly PermissionRule[]
  /** What `~` means to the agent; the user's home by default. */
  home?: string
  /** The places that an absolute path leads to by links, as far as they differ from it. Without it no link is seen. */
  follow?: (path: string) => readonly string[]
  /** Why Git may start a program when it only looks, in an absolute folder; null: it starts none. */
  gitRuns?: (folder: string) => string | null
}

export interface PolicyVerdict {
  effect: 'allow' | 'ask' | 'block'
  /** One plain sentence for the approval card or the log. */
  reason: string
  /** A command's class; `high` for whatever was cut; null for everything else. */
  risk: Risk | null
  /** Set on a block by a guard or by the mode. */
  code?: 'policy_high_risk_blocked' | 'policy_protected_path' | 'policy_blocked'
  /** No rule made of this call would allow the next one: it is answered once at a time. */
  once?: true
  /** The rule that decided, if one did. */
  ruleId?: string
}

export interface CommandRisk {
  risk: Risk
  /** One plain sentence for the approval card, naming the part of the command that decided. */
  reason: string
  /** It starts the project's own build or tests: low, but it runs code of the project. */
  runsProject: boolean
}

export interface SourceCandidates {
  /** Of a `session_bindings` row. */
  binding?: string | null | undefined
  /** `sessions.policy_source`. */
  header?: string | null | undefined
  /** What the live session object already runs under. */
  current?: string | null | undefined
  /** The entry that asks now. */
  requested?: string | null | undefined
}

export interface ResolvedSource {
  /** Whose policy holds. */
  source: Source
  /** Where it was asked for, for display. */
  entrySource: Source
}

export interface ModeCandidates {
  source: Source
  requested?: string | null | undefined
  sessionMode?: string | null | undefined
  /** The setting that offers mode `os` at all. */
  osEnabled: boolean
}

export interface ResolvedMode {
  mode: Mode
  /** The source dictates it: nothing that was asked for counted. */
  forced: boolean
}
