/** ACP agents as data: what is started, and what its modes are called. */
import type { AgentProfile } from '../../types.ts'

const COMMON = {
  env: {},
  envNames: [],
  sessionMeta: {},
  authMethod: null,
  keyVariable: null,
  pin: null,
  reasonInAnswer: false,
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
    loginHint: 'Choose a connection and a model for this session.',
    reasonInAnswer: true,
  }
}

/**
 * A command that a person added. Its modes are taken by names whose meaning is known; one that is not (such as Codex's
 * `agent`, where a model approves) is never taken for a mode that asks.
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
    ...agent,
    modes: {
      read_only: ['read_only', 'read-only', 'plan'],
      ask: ['ask', 'default'],
      edits: ['edits', 'acceptEdits', 'autoEdit', 'workspace-write'],
      anything: ['anything', 'bypassPermissions', 'yolo', 'agent-full-access'],
    },
    loginHint: `Run ${agent.command} in a terminal and log in there.`,
  }
}
