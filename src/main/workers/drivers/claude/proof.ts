/**
 * What every turn opens with has to be what was asked for: this conversation, its mode, its tools, its servers. The answer
 * to a request for another mode repeats whatever it was told and proves nothing, so the mode is set by flag alone.
 */
import { WorkerError } from '../../errors.ts'
import type { SessionConfig, SessionFacts } from '../../types.ts'
import type { Conversation } from '../shared/types.ts'
import { foreignTool } from './tools.ts'
import type { Init } from './wire.ts'

export interface ProofParts {
  conversation: Conversation
  cfg: Pick<SessionConfig, 'mcp' | 'mcpServers'>
  sessionId: string
  /** The program's word. */
  mode: string
  tools: readonly string[]
  facts: SessionFacts
}

export interface Proof {
  told(init: Init): void
  /** A mode that is mentioned at any other moment. */
  toldMode(mode: string): void
}

export function createProof(parts: ProofParts): Proof {
  const { conversation, cfg, sessionId, mode, tools, facts } = parts
  const { redactor } = conversation
  const given = new Set(cfg.mcpServers.map(({ name }) => name))

  function toldMode(told: string): void {
    if (told !== mode)
      conversation.unsafe('Claude Code is in another permission mode.', `it reports ${redactor.line(told)}`)
  }

  function differs(init: Init): WorkerError | null {
    if (init.session_id !== sessionId) {
      return new WorkerError('session_unverified', 'Claude Code opened another conversation than the one asked for.')
    }
    const states = new Map(init.mcp_servers.map(({ name, status }) => [name, status]))
    for (const name of given) {
      if (states.get(name) !== 'connected') return mismatch('A given MCP server is missing.', name)
    }
    if (cfg.mcp === 'with_users_own') return null
    for (const name of states.keys()) {
      if (!given.has(name)) return mismatch('An MCP server runs that was not given.', name)
    }
    return null
  }

  return {
    toldMode,
    told(init) {
      const wrong = differs(init)
      if (wrong !== null) return conversation.fail(wrong)
      toldMode(init.permissionMode)
      const foreign = foreignTool(init.tools, tools)
      if (foreign !== null) conversation.unsafe('Claude Code has a tool that it must not have.', redactor.line(foreign))
      if (conversation.closing) return
      facts.agentVersion = init.claude_code_version
      facts.model = init.model
      facts.modeVerified = true
      conversation.modeProven()
    },
  }
}

export function mismatch(message: string, name: string): WorkerError {
  return new WorkerError('mcp_mismatch', message, { detail: name })
}
