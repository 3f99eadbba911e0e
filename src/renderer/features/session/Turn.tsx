import { memo, useState } from 'react'
import type { RunView } from '../../../shared/projection/index.ts'
import { isTerminal } from '../../../shared/vocabulary.ts'
import { Folded } from '../../content/index.ts'
import { strings } from '../../strings/index.ts'
import { exactTime, Revealed, shortTime, useNow } from '../../text/index.ts'
import { PromptInputs, PublishedFiles } from '../attachments/index.ts'
import { PlanList } from './PlanList.tsx'
import { RetryNote } from './RetryNote.tsx'
import { RunEnd } from './RunEnd.tsx'
import { TurnItems } from './TurnItems.tsx'
import { TurnMenu } from './TurnMenu.tsx'
import { useDeferred } from './useDeferred.ts'
import styles from './Turn.module.css'

/** More steps than this of one turn are folded, the earliest first. */
const SHOWN_ITEMS = 200
const FOLDED_PROMPT_LINES = 20
const LABEL_CHARS = 80
const GUESS_TURN_PX = 400

export interface TurnProps {
  sessionId: string
  run: RunView
  workDir: string
  newest: boolean
}

/** One prompt, and everything that came of it. Far from sight only its place is kept. */
export const Turn = memo(function Turn({ sessionId, run, workDir, newest }: TurnProps) {
  const waits = run.items.some((item) => item.kind === 'decision' && item.decision.status === 'pending')
  const { ref, drawn, blockSize } = useDeferred<HTMLElement>({
    initially: newest,
    keep: waits || !isTerminal(run.state),
    guessPx: GUESS_TURN_PX,
  })
  return (
    <article
      ref={ref}
      className={styles.turn}
      data-turn={run.runId}
      tabIndex={-1}
      aria-label={strings.session.turn(run.prompt.slice(0, LABEL_CHARS))}
      aria-busy={!isTerminal(run.state)}
      style={{ blockSize }}
    >
      {drawn && <TurnBody sessionId={sessionId} run={run} workDir={workDir} newest={newest} />}
    </article>
  )
})

function TurnBody({ sessionId, run, workDir, newest }: TurnProps) {
  const [from, setFrom] = useState(Math.max(0, run.items.length - SHOWN_ITEMS))
  const hidden = Math.min(from, Math.max(0, run.items.length - SHOWN_ITEMS))
  return (
    <>
      <div className={styles.prompt}>
        <div className={styles.promptLine}>
          <PromptHead run={run} />
          <TurnMenu sessionId={sessionId} run={run} />
        </div>
        <Folded text={run.prompt} lines={FOLDED_PROMPT_LINES} keep="start">
          {(shown) => (
            <p className={styles.promptText}>
              <Revealed text={shown} />
            </p>
          )}
        </Folded>
        <PromptInputs inputs={run.inputs} />
      </div>
      {run.plan.length > 0 && <PlanList entries={run.plan} />}
      {hidden > 0 && (
        <button type="button" className={styles.fold} onClick={() => setFrom(Math.max(0, hidden - SHOWN_ITEMS))}>
          {strings.session.earlierSteps(hidden)}
        </button>
      )}
      <TurnItems run={run} from={hidden} workDir={workDir} />
      <PublishedFiles sessionId={sessionId} files={run.artifacts} />
      {run.retry !== null && <RetryNote retry={run.retry} />}
      <RunEnd run={run} newest={newest} />
    </>
  )
}

function PromptHead({ run }: { run: RunView }) {
  const nowMs = useNow()
  return (
    <h2 className={styles.promptHead}>
      {/* Nobody typed the prompt of a further attempt. */}
      {run.retryOf === null ? strings.session.you : strings.session.sentAgain}
      {run.attempt > 1 && <span>{strings.session.attempt(run.attempt)}</span>}
      {run.createdAt > 0 && (
        <time dateTime={new Date(run.createdAt).toISOString()} title={exactTime(run.createdAt)}>
          {shortTime(run.createdAt, nowMs)}
        </time>
      )}
    </h2>
  )
}
