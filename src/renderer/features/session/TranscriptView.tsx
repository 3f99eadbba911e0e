import type { SessionView } from '../../../shared/bridge/index.ts'
import { strings } from '../../strings/index.ts'
import type { TranscriptState } from '../../stores/transcript.ts'
import { Button, EmptyState, ErrorNote } from '../../ui/index.ts'
import { Turn } from './Turn.tsx'
import { useFollow } from './useFollow.ts'
import { useLate } from './useLate.ts'
import styles from './TranscriptView.module.css'

export interface TranscriptViewProps {
  session: SessionView
  state: TranscriptState
  onEarlier: () => void
}

/** What happened, oldest first. It follows the end only for whoever is at the end. */
export function TranscriptView({ session, state, onEarlier }: TranscriptViewProps) {
  const { scroller, content, following, toLatest } = useFollow(state.runs[0]?.runId ?? null)
  const slow = useLate(state.status === 'loading')
  const newest = state.runs.at(-1)
  return (
    <div className={styles.frame}>
      <div
        ref={scroller}
        className={styles.scroller}
        data-transcript=""
        tabIndex={0}
        role="region"
        aria-label={strings.session.transcript}
      >
        <div ref={content} className={styles.turns} aria-busy={state.status === 'loading'}>
          {slow && <p className={styles.note}>{strings.session.loading}</p>}
          {state.status === 'failed' && state.error !== null && <ErrorNote error={state.error} />}
          {state.hasEarlier && (
            <Button tone="quiet" pending={state.loadingEarlier} onClick={onEarlier}>
              {state.loadingEarlier ? strings.session.loadingEarlier : strings.session.earlier}
            </Button>
          )}
          {state.status === 'ready' && newest === undefined && (
            <EmptyState title={strings.session.empty}>{strings.session.emptyHint}</EmptyState>
          )}
          {state.runs.map((run) => (
            <Turn key={run.runId} sessionId={session.id} run={run} workDir={session.workDir} newest={run === newest} />
          ))}
        </div>
      </div>
      {!following && (
        <div className={styles.latest}>
          <Button onClick={toLatest}>{strings.session.latest}</Button>
        </div>
      )}
    </div>
  )
}
