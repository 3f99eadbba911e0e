import type { AgentView } from '../../../shared/bridge/index.ts'
import { strings } from '../../strings/index.ts'
import type { MarkState } from '../../ui/index.ts'

/** The mark and the words of how ready an agent is. One that is not on this machine is not broken. */
export function readinessOf(agent: AgentView): { state: MarkState; label: string } {
  const { ready, unchecked, notInstalled, notReady } = strings.agents
  if (agent.available) return { state: 'completed', label: ready }
  if (agent.unchecked) return { state: 'idle', label: unchecked }
  return isMissing(agent) ? { state: 'idle', label: notInstalled } : { state: 'failed', label: notReady }
}

/** Whether the check for its program found none. */
export function isMissing({ path, checks }: AgentView): boolean {
  return path === null && checks.some(({ id, status }) => id === 'starts' && status === 'fail')
}
