import { z } from 'zod'
import { AgentId } from '../../shared/vocabulary.ts'
import type { Clock, Store, Tx } from '../platform/index.ts'

/** The conversation that a session goes on with, in its agent's own words. */
export interface AgentSession {
  agentId: AgentId
  agentSessionId: string
  cwd: string
  /** The agent's own home where it is not the usual one. */
  home: string | null
  origin: 'wheelhouse' | 'native'
}

const Row = z.object({
  agent_id: AgentId,
  agent_session_id: z.string(),
  cwd: z.string(),
  home: z.string().nullable(),
  origin: z.enum(['wheelhouse', 'native']),
})

export type AgentSessions = ReturnType<typeof createAgentSessions>

/** Which of its agent's conversations each session owns. One row per session; it outlives every worker. */
export function createAgentSessions(deps: { store: Store; clock: Clock }) {
  const { store, clock } = deps
  const getSql = store.db.prepare(
    `SELECT agent_id, agent_session_id, cwd, home, origin FROM agent_sessions WHERE session_id = ?`,
  )
  const putSql = store.db.prepare(`
    INSERT INTO agent_sessions (session_id, agent_id, agent_session_id, cwd, home, origin, updated_at)
    VALUES (@sessionId, @agentId, @agentSessionId, @cwd, @home, @origin, @now)
    ON CONFLICT (session_id) DO UPDATE SET agent_id = excluded.agent_id, agent_session_id = excluded.agent_session_id,
      cwd = excluded.cwd, home = excluded.home, origin = excluded.origin, updated_at = excluded.updated_at`)
  const deleteSql = store.db.prepare(`DELETE FROM agent_sessions WHERE session_id = ?`)
  const idsSql = store.db.prepare(`SELECT agent_session_id FROM agent_sessions WHERE agent_id = ?`).pluck()

  return {
    get(sessionId: string): AgentSession | null {
      const raw = getSql.get(sessionId)
      if (raw === undefined) return null
      const row = Row.parse(raw)
      return {
        agentId: row.agent_id,
        agentSessionId: row.agent_session_id,
        cwd: row.cwd,
        home: row.home,
        origin: row.origin,
      }
    },
    put(sessionId: string, session: AgentSession, _tx: Tx): void {
      putSql.run({ sessionId, ...session, now: clock.nowMs() })
    },
    forget(sessionId: string, _tx: Tx): void {
      deleteSql.run(sessionId)
    },
    /** The agent's conversations that are ours: no discovery offers them a second time. */
    nativeIds(agentId: AgentId): ReadonlySet<string> {
      return new Set(z.array(z.string()).parse(idsSql.all(agentId)))
    },
  }
}
