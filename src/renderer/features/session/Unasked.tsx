import type { AgentId } from '../../../shared/vocabulary.ts'
import { useCall } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { Revealed, revealText } from '../../text/index.ts'

const NAMED = 3

/** What this agent runs without asking, by rules that the person once left in it. Nothing of Wheelhouse's stands before it. */
export function Unasked({ agentId }: { agentId: AgentId }) {
  const agents = useCall('agents.list', {})
  const commands = agents.data?.agents.find(({ id }) => id === agentId)?.unasked ?? []
  if (commands.length === 0) return null
  const { session } = strings
  const named = commands.slice(0, NAMED)
  const rest = commands.length - named.length
  return (
    <li title={session.unaskedHint(commands.map(revealText))}>
      <Revealed text={session.unasked(named)} />
      {rest > 0 && ` ${session.unaskedMore(rest)}`}
    </li>
  )
}
