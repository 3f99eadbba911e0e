import type { ExecutionSink, ExecutionSpec } from '../runtime/index.ts'
import { WorkerError } from '../workers/index.ts'
import type { Session } from '../workers/index.ts'
import type { AgentDefinition } from './agents.ts'
import type { Parts } from './types.ts'

export interface Opening {
  cwd: string
  spec: ExecutionSpec
  sink: ExecutionSink
  /** Opens a worker on the agent's conversation of that id, or on a new one. */
  attempt(load: string | null): Promise<Session>
}

/** Goes on with the session's conversation where the agent still has it; else begins one, and says so. */
export async function openConversation(parts: Parts, agent: AgentDefinition, opening: Opening): Promise<Session> {
  const { agentSessions, store } = parts
  const { cwd, spec, attempt } = opening
  if (spec.aside === true) return attempt(null)
  const known = agentSessions.get(spec.sessionId)
  const session =
    known !== null && known.agentId === agent.id && known.cwd === cwd
      ? await loadOrBegin(parts, agent, known.agentSessionId, opening)
      : await attempt(null)
  if (session.id !== known?.agentSessionId) {
    await store.writeTx((tx) =>
      agentSessions.put(
        spec.sessionId,
        { agentId: agent.id, agentSessionId: session.id, cwd, home: null, origin: 'wheelhouse' },
        tx,
      ),
    )
  }
  return session
}

async function loadOrBegin(
  parts: Parts,
  agent: AgentDefinition,
  agentSessionId: string,
  { spec, sink, attempt }: Opening,
): Promise<Session> {
  try {
    return await attempt(agentSessionId)
  } catch (thrown) {
    const lost =
      thrown instanceof WorkerError && (thrown.code === 'agent_session_not_found' || thrown.code === 'load_unsupported')
    if (!lost || thrown.started === 'held') throw thrown
    parts.log.info('the agent no longer has the conversation', { runId: spec.runId, code: thrown.code })
    const session = await attempt(null)
    sink.push({
      kind: 'notice',
      code: 'conversation_begun_anew',
      message: `${agent.label} no longer has this conversation. It begins a new one and does not remember what was said before.`,
      level: 'warning',
    })
    return session
  }
}
