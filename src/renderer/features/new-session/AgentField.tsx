import type { UseQueryResult } from '@tanstack/react-query'
import { useQueryClient } from '@tanstack/react-query'
import { useId } from 'react'
import type { AgentView } from '../../../shared/bridge/index.ts'
import type { AppError } from '../../../shared/errors.ts'
import type { AgentId } from '../../../shared/vocabulary.ts'
import { useChange } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { CodeText } from '../../text/index.ts'
import { Button, ErrorNote } from '../../ui/index.ts'
import { AddAgentButton, readinessOf } from '../health/index.ts'
import styles from './NewSession.module.css'

export interface AgentFieldProps {
  agents: UseQueryResult<{ agents: AgentView[] }, AppError>
  value: AgentId
  onChange: (agentId: AgentId) => void
}

/** The agents of this machine. One that is not ready says why, and can be checked again. */
export function AgentField({ agents, value, onChange }: AgentFieldProps) {
  const name = useId()
  if (agents.error !== null) return <ErrorNote error={agents.error} onRetry={() => void agents.refetch()} />
  return (
    <fieldset className={styles.field}>
      <legend className={styles.label}>{strings.newSession.agent}</legend>
      <div className={styles.agents}>
        {(agents.data?.agents ?? []).map((agent) => (
          <AgentOption
            key={agent.id}
            name={name}
            agent={agent}
            checked={agent.id === value}
            onChoose={() => onChange(agent.id)}
          />
        ))}
      </div>
      <span>
        <AddAgentButton />
      </span>
    </fieldset>
  )
}

interface AgentOptionProps {
  name: string
  agent: AgentView
  checked: boolean
  onChoose: () => void
}

function AgentOption({ name, agent, checked, onChoose }: AgentOptionProps) {
  const queries = useQueryClient()
  const preflight = useChange('agents.preflight')
  const id = useId()
  const check = strings.agents.checkOf(agent.unchecked)
  const failed = agent.checks.find((check) => check.status === 'fail')
  const state = agent.available ? (agent.version ?? '') : readinessOf(agent).label
  const lacks = agent.available || failed === undefined ? null : [failed.message, failed.hint].filter(Boolean).join(' ')
  return (
    <div className={styles.agent} data-checked={checked ? '' : undefined}>
      <input
        id={id}
        type="radio"
        name={name}
        checked={checked}
        aria-describedby={`${id}-${lacks === null ? 'state' : 'lacks'}`}
        onChange={onChoose}
      />
      <label htmlFor={id}>{agent.label}</label>
      <span id={`${id}-state`} className={styles.state}>
        {state}
      </span>
      {!agent.available && (
        <Button
          tone="quiet"
          pending={preflight.isPending}
          aria-label={`${check}: ${agent.label}`}
          onClick={() =>
            preflight.mutate(
              { agentId: agent.id },
              { onSettled: () => void queries.invalidateQueries({ queryKey: ['agents.list'] }) },
            )
          }
        >
          {check}
        </Button>
      )}
      {lacks !== null && (
        <p id={`${id}-lacks`} className={styles.lacks}>
          <CodeText text={lacks} />
        </p>
      )}
      {preflight.error !== null && <ErrorNote error={preflight.error} />}
    </div>
  )
}
