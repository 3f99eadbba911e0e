import type { SessionView } from '../../../shared/bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { navigate } from '../../stores/navigation.ts'
import { useSeen } from '../../stores/seen.ts'
import { Button, EmptyState } from '../../ui/index.ts'
import { TrustQuestion } from '../trust/index.ts'
import { Composer } from './Composer.tsx'
import { SessionHeader } from './SessionHeader.tsx'
import { TranscriptView } from './TranscriptView.tsx'
import { useSession } from './useSession.ts'
import { useSessionKeys } from './useSessionKeys.ts'
import { useStopRun } from './useStopRun.ts'
import { useTranscript } from './useTranscript.ts'
import { useTurnInAddress } from './useTurnInAddress.ts'
import styles from './SessionPane.module.css'

/** One conversation with an agent: what it is, what happened, and what to say next. */
export function SessionPane({ sessionId, turnId = null }: { sessionId: string; turnId?: string | null }) {
  const found = useSession(sessionId)
  if (found.kind === 'loading') return null
  if (found.kind === 'gone') {
    return (
      <EmptyState
        title={strings.session.gone}
        action={<Button onClick={() => navigate({ kind: 'home' })}>{strings.app.views.home}</Button>}
      >
        {strings.session.goneHint}
      </EmptyState>
    )
  }
  return <OpenSession session={found.session} turnId={turnId} />
}

function OpenSession({ session, turnId }: { session: SessionView; turnId: string | null }) {
  useSeen(session)
  const { state, loadEarlier, loadAll } = useTranscript(session.id)
  useTurnInAddress(turnId, state, loadAll)
  const stopRun = useStopRun(session)
  const { escapePressed } = useSessionKeys(session, stopRun.stop, loadAll)
  return (
    <div className={styles.pane}>
      <SessionHeader session={session} />
      <TranscriptView session={session} state={state} onEarlier={loadEarlier} />
      <div className={styles.dock}>
        {session.archivedAt === null && (
          <div className={styles.asks}>
            <TrustQuestion agentId={session.agentId} folder={session.workDir} />
            {session.extraDirs.map((dir) => (
              <TrustQuestion key={dir} agentId={session.agentId} folder={dir} beside />
            ))}
          </div>
        )}
        <Composer
          session={session}
          newestRun={state.runs.at(-1) ?? null}
          stopRun={stopRun}
          escapePressed={escapePressed}
        />
      </div>
    </div>
  )
}
