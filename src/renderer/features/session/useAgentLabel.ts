import { useCall } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import type { AgentId } from '../../../shared/vocabulary.ts'

/** The agent's name for people; the catalogue's own until the host told it. */
export function useAgentLabel(agentId: AgentId): string {
  const agents = useCall('agents.list', {})
  return agents.data?.agents.find(({ id }) => id === agentId)?.label ?? strings.agents.name(agentId)
}
