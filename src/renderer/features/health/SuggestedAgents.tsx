import { useCall } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { Button, Row, RowActions, RowHead, Rows } from '../../ui/index.ts'
import type { AddAgentState } from './useAddAgent.ts'
import styles from './health.module.css'

/** Known agents that are installed and not added yet, each one click away. Nothing where there is none. */
export function SuggestedAgents({ pending, onTake }: { pending: boolean; onTake: AddAgentState['take'] }) {
  const { ownAgents } = strings
  const suggested = useCall('agents.suggested', {}, { fresh: true }).data?.agents ?? []
  if (suggested.length === 0) return null
  return (
    <>
      <h3 className={styles.subhead}>{ownAgents.suggested}</h3>
      <Rows>
        {suggested.map((agent) => (
          <Row key={agent.label}>
            <RowHead>
              <strong>{agent.label}</strong>
              <code className={styles.small}>{agent.commandLine}</code>
              <RowActions>
                <Button disabled={pending} onClick={() => onTake(agent)}>
                  {ownAgents.suggest(agent.label)}
                </Button>
              </RowActions>
            </RowHead>
          </Row>
        ))}
      </Rows>
      <h3 className={styles.subhead}>{ownAgents.orElse}</h3>
    </>
  )
}
