import { useCall } from '../../bridge/index.ts'
import type { AgentId } from '../../../shared/vocabulary.ts'

/** The agent's name for people; its id until that is known. */
export function useAgentLabel(agentId: AgentId): string {
  const agents = useCall('agents.list', {})
  return agents.data?.agents.find(({ id }) => id === agentId)?.label ?? agentId
}
