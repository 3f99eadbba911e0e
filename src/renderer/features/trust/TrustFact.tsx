import type { AgentId } from '../../../shared/vocabulary.ts'
import { viewHash } from '../../stores/navigation.ts'
import { strings } from '../../strings/index.ts'
import { useProjectTrust } from './useProjectTrust.ts'

/** One fact of a session's header: whether what its folder brings with it counts. Leads to where that is changed. */
export function TrustFact({ agentId, folder }: { agentId: AgentId; folder: string }) {
  const found = useProjectTrust(agentId, folder)
  if (found === null) return null
  const trusted = found.state === 'trusted'
  const { trust } = strings
  return (
    <li>
      <a href={viewHash({ kind: 'permissions' })} title={trusted ? trust.trustedHint : trust.leftOutHint}>
        {trusted ? trust.trusted : trust.leftOut}
      </a>
    </li>
  )
}
