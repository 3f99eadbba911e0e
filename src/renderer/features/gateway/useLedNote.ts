import type { AgentId } from '../../../shared/vocabulary.ts'
import { useTopic } from '../../stores/app-stores.tsx'
import { strings } from '../../strings/index.ts'

/**
 * Where the agent's own login really leads: an agent whose own config file leads to the gateway goes there when we start it, too.
 * Null: to nobody of ours.
 */
export function useLedNote(agentId: AgentId): string | null {
  const gateway = useTopic('gateway', (state) => state.value)
  const catalog = useTopic('providers', (state) => state.value)
  const takeover = gateway?.takeovers.find(({ client, state }) => client === agentId && state === 'active')
  if (gateway === null || takeover === undefined) return null
  const upstream = gateway.upstreams[takeover.client]
  return strings.gateway.led(catalog?.connections.find(({ id }) => id === upstream)?.name ?? null)
}
