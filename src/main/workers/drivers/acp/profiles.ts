/** ACP agents as data: what is started, and what its modes are called. */
import { basename } from 'node:path'
import type { AgentProfile } from '../../types.ts'

const COMMON = {
  env: {},
  envNames: [],
  sessionMeta: {},
  authMethod: null,
  keyVariable: null,
  pin: null,
  reasonInAnswer: false,
  adapter: null,
  remark: null,
} as const satisfies Partial<AgentProfile>

/** The agent that comes with Wheelhouse. `command` runs Node: Electron's own program, told to be Node, or Node itself. */
export function builtinProfile(program: { command: string; script: string; home: string }): AgentProfile {
  return {
    ...COMMON,
    id: 'builtin',
    product: 'Wheelhouse agent',
    command: program.command,
    args: [program.script],
    env: { ELECTRON_RUN_AS_NODE: '1', WHEELHOUSE_AGENT_HOME: program.home },
    modes: { read_only: ['read_only'], ask: ['ask'], edits: [], anything: ['anything'] },
    keyVariable: 'WHEELHOUSE_MODEL_KEY_FD',
    loginHint: 'Choose a Provider and a model for this session.',
    reasonInAnswer: true,
  }
}

type Known = Partial<AgentProfile> & Pick<AgentProfile, 'modes' | 'loginHint'>

/** An agent that is known by its program, and how it is started where that is installed. */
export interface KnownAgent {
  label: string
  command: string
  args: readonly string[]
  /** What its program is called, also as a package. */
  programs: readonly string[]
  known: Known
}

const CODEX: Known = {
  envNames: ['CODEX_HOME'],
  // Never its own default, `agent`: there a model approves.
  modes: {
    read_only: ['read-only'],
    ask: ['read-only'],
    edits: ['workspace-write'],
    anything: ['agent-full-access'],
  },
  authMethod: 'api-key',
  adapter: 'codex',
  loginHint: 'Run codex login in a terminal, or choose a Provider for this session.',
  remark:
    'It asks before it edits and before it leaves its sandbox. Commands that stay inside, where all is read-only, run unasked.',
}

const CLAUDE: Known = {
  envNames: ['CLAUDE_CONFIG_DIR'],
  modes: {
    read_only: ['plan'],
    ask: ['default'],
    edits: ['acceptEdits'],
    anything: ['bypassPermissions'],
  },
  adapter: 'claude',
  loginHint: 'Run claude in a terminal and log in there, or choose a Provider for this session.',
  remark:
    'It does not ask about commands that it takes for read-only, such as ls or git status, nor what your own rules allow.',
}

const GEMINI: Known = {
  modes: { read_only: ['plan'], ask: ['default'], edits: ['autoEdit'], anything: ['yolo'] },
  authMethod: 'gemini-api-key',
  loginHint: 'Run gemini in a terminal and log in there.',
}

const OPENCODE: Known = {
  // What `build` asks is set beside it.
  modes: { read_only: ['plan'], ask: ['build'], edits: ['build'], anything: ['build'] },
  adapter: 'opencode',
  loginHint: 'Run opencode auth login in a terminal.',
}

/** A word of the command that names the program, also as a package with its version: `@scope/name@1.2.3`. */
const programOf = (word: string): string => basename(word).replace(/@[^@]*$|\.(?:exe|cmd|js|mjs)$/g, '')

export const KNOWN_AGENTS: readonly KnownAgent[] = [
  { label: 'codex-acp', command: 'codex-acp', args: [], programs: ['codex-acp'], known: CODEX },
  { label: 'claude-agent-acp', command: 'claude-agent-acp', args: [], programs: ['claude-agent-acp'], known: CLAUDE },
  { label: 'Gemini', command: 'gemini', args: ['--acp'], programs: ['gemini', 'gemini-cli'], known: GEMINI },
  { label: 'OpenCode', command: 'opencode', args: ['acp'], programs: ['opencode', 'opencode-ai'], known: OPENCODE },
]

/** Which of them a command starts, if any. */
export function knownAgent({ command, args }: Pick<AgentProfile, 'command' | 'args'>): KnownAgent | null {
  const names = new Set([command, ...args].slice(0, 4).map(programOf))
  return KNOWN_AGENTS.find(({ programs }) => programs.some((name) => names.has(name))) ?? null
}

/**
 * A command that a person added. One whose program is known gets what is known of it. The modes of another are taken by
 * names whose meaning is known; one that is not (such as Codex's `agent`, where a model approves) is never taken for a
 * mode that asks.
 */
export function customProfile(agent: {
  id: string
  product: string
  command: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
}): AgentProfile {
  return {
    ...COMMON,
    modes: {
      read_only: ['read_only', 'read-only', 'plan'],
      ask: ['ask', 'default'],
      edits: ['edits', 'acceptEdits', 'autoEdit', 'workspace-write'],
      anything: ['anything', 'bypassPermissions', 'yolo', 'agent-full-access'],
    },
    loginHint: `Run ${agent.command} in a terminal and log in there.`,
    ...knownAgent(agent)?.known,
    ...agent,
  }
}
