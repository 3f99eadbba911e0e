import type { RunView } from '../../../shared/projection/index.ts'
import type { RunState } from '../../../shared/vocabulary.ts'
import { strings } from '../../strings/index.ts'
import { duration } from '../../text/index.ts'
import { StateMark } from '../../ui/index.ts'
import type { MarkState } from '../../ui/index.ts'
import { RunError } from './RunError.tsx'
import { UsageFacts } from './UsageFacts.tsx'
import styles from './Turn.module.css'

const MARKS: Readonly<Record<RunState, MarkState>> = {
  created: 'starting',
  queued: 'starting',
  running: 'running',
  waiting_for_approval: 'waiting',
  waiting_for_question: 'waiting',
  cancelling: 'starting',
  terminalizing: 'running',
  completed: 'completed',
  incomplete: 'failed',
  failed: 'failed',
  cancelled: 'idle',
  timed_out: 'failed',
}

/** How the turn stands: its state, what it took, and what went wrong. */
export function RunEnd({ run, newest }: { run: RunView; newest: boolean }) {
  const from = run.startedAt ?? run.createdAt
  return (
    <>
      {run.error !== null && <RunError run={run} error={run.error} newest={newest} />}
      <footer className={styles.end}>
        <StateMark state={MARKS[run.state]} label={strings.session.runStates[run.state]} showLabel />
        {run.finishedAt !== null && from > 0 && <span>{duration(run.finishedAt - from)}</span>}
        {run.recovered && <span>{strings.session.recovered}</span>}
        {run.model !== null && <span>{run.model}</span>}
        {run.usage !== null && <UsageFacts usage={run.usage} />}
      </footer>
    </>
  )
}
