import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent } from 'react'
import type { AgentView } from '../../../shared/bridge/index.ts'
import { useCall, useChange } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { PathText } from '../../text/index.ts'
import { Button, ErrorNote, Row, RowActions, RowHead, Rows, StateMark } from '../../ui/index.ts'
import { AddAgentButton } from './AddAgentButton.tsx'
import { CheckList } from './CheckList.tsx'
import { RemoveAgent } from './RemoveAgent.tsx'
import { isMissing, readinessOf } from './readiness.ts'
import { Section } from './Section.tsx'
import styles from './health.module.css'

export function Agents() {
  const agents = useCall('agents.list', {})
  return (
    <Section title={strings.health.agents} about={strings.health.agentsText} action={<AddAgentButton />}>
      {agents.error !== null && <ErrorNote error={agents.error} onRetry={() => void agents.refetch()} />}
      <Rows>
        {(agents.data?.agents ?? []).map((agent) => (
          <AgentRow key={agent.id} agent={agent} />
        ))}
      </Rows>
    </Section>
  )
}

function AgentRow({ agent }: { agent: AgentView }) {
  const queries = useQueryClient()
  const preflight = useChange('agents.preflight')
  const { health } = strings
  const checkWords = strings.agents.checkOf(agent.unchecked)
  const check = (): void =>
    preflight.mutate(
      { agentId: agent.id },
      { onSettled: () => void queries.invalidateQueries({ queryKey: ['agents.list'] }) },
    )
  const checkUnchecked = useEffectEvent(() => {
    if (agent.unchecked) check()
  })
  useEffect(() => checkUnchecked(), [])
  return (
    <Row>
      <RowHead>
        <strong>{agent.label}</strong>
        {preflight.isPending ? (
          <StateMark showLabel state="running" label={strings.agents.checking} />
        ) : (
          <StateMark showLabel {...readinessOf(agent)} />
        )}
        {agent.version !== null && <span className={styles.small}>{agent.version}</span>}
        {agent.path !== null && <PathText path={agent.path} />}
        <RowActions>
          <Button pending={preflight.isPending} aria-label={health.named(checkWords, agent.label)} onClick={check}>
            {checkWords}
          </Button>
          {agent.commandLine !== undefined && <RemoveAgent agent={agent} />}
        </RowActions>
      </RowHead>
      {agent.commandLine !== undefined && <code className={styles.small}>{agent.commandLine}</code>}
      {agent.remark !== undefined && <p className={styles.small}>{agent.remark}</p>}
      {preflight.error !== null && <ErrorNote error={preflight.error} onRetry={check} />}
      {agent.checks.length > 0 && <CheckList checks={agent.checks} missing={isMissing(agent)} />}
    </Row>
  )
}
