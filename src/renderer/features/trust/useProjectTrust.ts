import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { ProjectFinding, ProjectView } from '../../../shared/bridge/index.ts'
import type { AgentId } from '../../../shared/vocabulary.ts'
import { useCall } from '../../bridge/index.ts'
import { useStores } from '../../stores/app-stores.tsx'

export interface ProjectTrust {
  /** `unasked`: there is something, and nobody answered for the folder yet. */
  state: 'unasked' | 'trusted' | 'left_out'
  project: ProjectView
  /** Of what this agent reads. */
  findings: readonly ProjectFinding[]
}

/** Whose form a project's settings have that this agent reads; null: it reads none. */
function useProjectForm(agentId: AgentId): ProjectFinding['agent'] | null {
  const agents = useCall('agents.list', {}, { enabled: agentId.startsWith('acp:') })
  if (agentId === 'claude' || agentId === 'codex') return agentId
  return agents.data?.agents.find(({ id }) => id === agentId)?.project ?? null
}

/**
 * What of the folder's own is for this agent, and what was said of it. Null: there is nothing to say. `beside`: a folder that
 * the session has besides its own, of which commands, agents and skills alone are taken.
 */
export function useProjectTrust(agentId: AgentId, folder: string, beside = false): ProjectTrust | null {
  const queries = useQueryClient()
  const { trust } = useStores()
  const form = useProjectForm(agentId)
  const asks = form !== null && !(beside && form !== 'claude')
  const { data } = useCall('trust.inspect', { folder }, { enabled: asks && folder.startsWith('/'), fresh: true })
  useEffect(
    () => trust.subscribe(() => void queries.invalidateQueries({ queryKey: ['trust.inspect'] })),
    [trust, queries],
  )
  if (!asks || data === undefined) return null
  const findings = data.findings.filter(({ agent, kind }) => agent === form && (!beside || kind === 'extras'))
  if (findings.length === 0) return null
  const state = data.answer === null ? 'unasked' : data.answer.trusted ? 'trusted' : 'left_out'
  return { state, project: data, findings }
}
