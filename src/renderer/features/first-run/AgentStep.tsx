import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useId, useState } from 'react'
import type { AgentView } from '../../../shared/bridge/index.ts'
import type { AgentId } from '../../../shared/vocabulary.ts'
import { useBridge, useCall } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { CodeText } from '../../text/index.ts'
import { Button, ErrorNote, StateMark } from '../../ui/index.ts'
import { readinessOf } from '../health/index.ts'
import type { FirstRunState } from './useFirstRun.ts'
import styles from './first-run.module.css'

/** The agents found on this machine, each with what it lacks and what to do about it. */
export function AgentStep({ state, onNext }: { state: FirstRunState; onNext: () => void }) {
  const agents = useCall('agents.list', {})
  const { checking, check } = useChecks()
  const name = useId()
  const found = agents.data?.agents ?? null

  const checkUnchecked = useEffectEvent(() => {
    for (const agent of found ?? []) if (agent.unchecked) check(agent.id)
  })
  const loaded = found !== null
  useEffect(() => {
    if (loaded) checkUnchecked()
  }, [loaded])

  return (
    <>
      <p className={styles.text}>{strings.firstRun.agentsText}</p>
      {agents.error !== null && <ErrorNote error={agents.error} onRetry={() => void agents.refetch()} />}
      {found !== null && (
        <fieldset className={styles.options}>
          <legend className={styles.hidden}>{strings.firstRun.agentsTitle}</legend>
          {found.map((agent) => (
            <AgentOption
              key={agent.id}
              name={name}
              agent={agent}
              checking={checking.has(agent.id)}
              checked={agent.id === state.agentId}
              onChoose={() => state.setAgent(agent.id)}
              onCheck={() => check(agent.id)}
            />
          ))}
        </fieldset>
      )}
      <div className={styles.buttons}>
        <Button tone="primary" onClick={onNext}>
          {strings.firstRun.continue}
        </Button>
        <Button tone="quiet" onClick={onNext}>
          {strings.firstRun.skip}
        </Button>
      </div>
    </>
  )
}

/** Preflights under way, by agent; what they find is read from the list again. */
function useChecks() {
  const bridge = useBridge()
  const queries = useQueryClient()
  const [checking, setChecking] = useState<ReadonlySet<AgentId>>(new Set())
  const check = (agentId: AgentId): void => {
    setChecking((ids) => new Set(ids).add(agentId))
    void bridge
      .call('agents.preflight', { agentId })
      // What it lacks stands in the list; a check that failed to run leaves the agent unchecked there.
      .catch(() => undefined)
      .then(() => queries.invalidateQueries({ queryKey: ['agents.list'] }))
      .finally(() => setChecking((ids) => new Set([...ids].filter((id) => id !== agentId))))
  }
  return { checking, check }
}

interface AgentOptionProps {
  name: string
  agent: AgentView
  checking: boolean
  checked: boolean
  onChoose: () => void
  onCheck: () => void
}

function AgentOption({ name, agent, checking, checked, onChoose, onCheck }: AgentOptionProps) {
  const id = useId()
  const { firstRun } = strings
  const check = strings.agents.checkOf(agent.unchecked)
  const problem = agent.available ? undefined : agent.checks.find(({ status }) => status === 'fail')
  return (
    <div className={styles.option} data-checked={checked ? '' : undefined}>
      <input id={id} type="radio" name={name} checked={checked} aria-describedby={`${id}-state`} onChange={onChoose} />
      <label htmlFor={id}>{agent.label}</label>
      <span id={`${id}-state`} className={styles.state}>
        {checking ? (
          <StateMark showLabel state="starting" label={strings.agents.checking} />
        ) : agent.available ? (
          <StateMark
            showLabel
            state="completed"
            label={agent.version === null ? strings.agents.ready : `${strings.agents.ready}, ${agent.version}`}
          />
        ) : (
          <StateMark showLabel {...readinessOf(agent)} />
        )}
        {!checking && !agent.available && (
          <Button tone="quiet" aria-label={firstRun.named(check, agent.label)} onClick={onCheck}>
            {check}
          </Button>
        )}
      </span>
      {!checking && problem !== undefined && (
        <p className={styles.problem}>
          <CodeText text={[problem.message, problem.hint].filter(Boolean).join(' ')} />
        </p>
      )}
    </div>
  )
}
