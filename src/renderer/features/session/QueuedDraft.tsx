import { strings } from '../../strings/index.ts'
import { Revealed } from '../../text/index.ts'
import { Button } from '../../ui/index.ts'
import { DraftInputs } from '../attachments/index.ts'
import styles from './Composer.module.css'

export interface QueuedDraftProps {
  sessionId: string
  text: string
  inputIds: readonly string[]
  active: boolean
  pending: boolean
  onEdit: () => void
  onDiscard: () => void
  onSend: () => void
}

/** The follow-up that goes out when the run has completed; after any other end it stays, and a person decides. */
export function QueuedDraft({
  sessionId,
  text,
  inputIds,
  active,
  pending,
  onEdit,
  onDiscard,
  onSend,
}: QueuedDraftProps) {
  const { session } = strings
  return (
    <section className={styles.queued} aria-label={session.queued}>
      <p className={styles.hint}>{active ? session.queued : session.queuedStays}</p>
      <p className={styles.queuedText}>
        <Revealed text={text} />
      </p>
      <DraftInputs sessionId={sessionId} inputIds={inputIds} />
      <div className={styles.bar}>
        {!active && (
          <Button tone="primary" pending={pending} onClick={onSend}>
            {session.sendNow}
          </Button>
        )}
        <Button disabled={pending} onClick={onEdit}>
          {session.editQueued}
        </Button>
        <Button tone="quiet" disabled={pending} onClick={onDiscard}>
          {session.dropQueued}
        </Button>
      </div>
    </section>
  )
}
