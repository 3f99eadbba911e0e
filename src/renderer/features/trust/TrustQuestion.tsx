import { useId } from 'react'
import type { AgentId } from '../../../shared/vocabulary.ts'
import { useChange } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { PathText } from '../../text/index.ts'
import { Button, ErrorNote } from '../../ui/index.ts'
import { Findings } from './Findings.tsx'
import { useProjectTrust } from './useProjectTrust.ts'
import styles from './trust.module.css'

export interface TrustQuestionProps {
  agentId: AgentId
  folder: string
  /** It is a folder that the session has besides its own. */
  beside?: boolean
}

/** Asks once whether what a folder brings with it may count. Nothing waits for the answer; it counts from the next run on. */
export function TrustQuestion({ agentId, folder, beside = false }: TrustQuestionProps) {
  const found = useProjectTrust(agentId, folder, beside)
  const answer = useChange('trust.answer')
  const titleId = useId()
  if (found?.state !== 'unasked') return null
  const { project, findings } = found
  const { trust } = strings
  const say = (trusted: boolean): void => answer.mutate({ folder: project.folder, trusted, expectedRev: 0 })
  // Of two answers the first counts; the topic brings it, and takes this question away.
  const error = answer.error?.code === 'config_conflict' ? null : answer.error
  return (
    <section className={styles.question} aria-labelledby={titleId}>
      <h2 id={titleId} className={styles.title}>
        {trust.title}
      </h2>
      <p>{trust.text(strings.agents.name(agentId))}</p>
      <Findings findings={findings} more={project.more} />
      <p className={styles.small}>
        {trust.covers} <PathText path={project.folder} max={64} />
      </p>
      {error !== null && <ErrorNote error={error} />}
      <div className={styles.actions}>
        <Button pending={answer.isPending} onClick={() => say(true)}>
          {trust.trust}
        </Button>
        <Button tone="quiet" pending={answer.isPending} onClick={() => say(false)}>
          {trust.leaveOut}
        </Button>
      </div>
    </section>
  )
}
