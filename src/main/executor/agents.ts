import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../shared/errors.ts'
import type { AgentId, ClientId, Mode } from '../../shared/vocabulary.ts'
import type { LaunchRequest } from '../providers/index.ts'
import { builtinProfile } from '../workers/index.ts'
import type { AgentProfile, DriverName, PermissionMode } from '../workers/index.ts'
import type { OwnAgents } from './own-agents.ts'

/** What follows from an agent's id: driver, client and form derive from it in this one table. */
export interface AgentDefinition {
  id: AgentId
  label: string
  driver: DriverName
  /** Whose connections it takes; null: it runs on its own login alone. */
  client: ClientId | null
  form: LaunchRequest['form']
  /** It has a login of its own, so a session may do without a connection. */
  ownLogin: boolean
  profile: AgentProfile | null
  /**
   * How the session's option `sandbox` is met: by a sandbox of the agent's own, or by a launcher, for which its own folders
   * are named. Absent: it cannot be.
   */
  confine?: 'own' | OwnFolders
  /** Whose form a project's own settings have that it reads once the folder is trusted. Absent: trust changes nothing. */
  project?: 'claude' | 'codex'
  /** What it is for one session: it keeps what is said there in a folder of that session alone. Absent: the same for all. */
  inSession?(sessionId: string): AgentDefinition
  /** A person took it away: its sessions can be read, and start no more. */
  removed?: true
}

/** What a confined agent needs of its own, besides the session's folders. */
export interface OwnFolders {
  writable: readonly string[]
  /** Also where a root of the session lies above. */
  readOnly?: readonly string[]
  /** Seen empty, and gone with the worker. */
  scratch?: readonly string[]
  /** Its own login is kept where it may not write. */
  routedOnly?: true
}

export interface Agents {
  list(): readonly AgentDefinition[]
  /** One that was removed, too. @throws AppError `agent_unknown`. */
  get(id: AgentId): AgentDefinition
  /** Removes what an agent of ours keeps of a session. */
  forget(sessionId: string): Promise<void>
}

/** `builtin`: how the built-in agent is started (this very program, as plain Node) and where it keeps its conversations. */
export function createAgents(deps: {
  builtin: { command: string; script: string; home: string }
  /** Where Claude Code keeps what is its own. */
  claudeHome: string
  /** Those that a person added. */
  own: Pick<OwnAgents, 'list' | 'get'>
}): Agents {
  const builtin = (home: string): AgentDefinition => ({
    id: 'builtin',
    label: 'Built-in agent',
    driver: 'acp',
    client: 'builtin',
    form: 'builtin',
    ownLogin: false,
    profile: builtinProfile({ ...deps.builtin, home }),
    confine: { writable: [home] },
  })
  const agents: readonly AgentDefinition[] = [
    { ...builtin(deps.builtin.home), inSession: (sessionId) => builtin(join(deps.builtin.home, sessionId)) },
    {
      id: 'codex',
      label: 'Codex',
      driver: 'codex',
      client: 'codex',
      form: 'app_server',
      ownLogin: true,
      profile: null,
      confine: 'own',
      project: 'codex',
    },
    {
      id: 'claude',
      label: 'Claude Code',
      driver: 'claude',
      client: 'claude',
      form: 'cli',
      ownLogin: true,
      profile: null,
      confine: claudeFolders(deps.claudeHome),
      project: 'claude',
    },
  ]
  return {
    list: () => [...agents, ...deps.own.list()],
    forget: (sessionId) => rm(join(deps.builtin.home, sessionId), { recursive: true, force: true }),
    get(id) {
      const found = agents.find((agent) => agent.id === id) ?? deps.own.get(id)
      if (found !== null) return found
      const known = [...agents, ...deps.own.list()].map((agent) => agent.id).join(', ')
      throw new AppError('agent_unknown', `There is no agent "${id}" on this machine. Choose one of: ${known}.`, {
        detail: id,
      })
    },
  }
}

/**
 * Claude Code writes its transcripts and what belongs to them. Its settings, and what else of it another session would run or
 * obey, stay as they are; what it makes for this process alone, and runs, no other process sees.
 */
function claudeFolders(home: string): OwnFolders {
  const inHome = (...names: string[]): string[] => names.map((name) => join(home, name))
  return {
    writable: inHome('projects', 'file-history', 'tasks', 'todos', 'plans'),
    readOnly: [home, `${home}.json`],
    scratch: inHome('sessions', 'session-env', 'shell-snapshots'),
    routedOnly: true,
  }
}

/**
 * What the agent is told of the person's mode. In yolo it still asks, and policy answers at once: the guards hold and
 * each permission is on record.
 */
export const PERMISSION_MODE: Readonly<Record<Mode, PermissionMode>> = {
  plan: 'read_only',
  agent: 'ask',
  yolo: 'ask',
  os: 'anything',
}
