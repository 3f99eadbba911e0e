import { useEffect } from 'react'
import { strings } from '../../strings/index.ts'
import { amount } from '../../text/index.ts'
import { Button, ErrorNote } from '../../ui/index.ts'
import { ActionView, Exact } from './ActionView.tsx'
import { mayBeShortened } from './card.ts'
import type { CardDecision } from './card.ts'
import { useSeenWhole } from './useSeenWhole.ts'
import { useWholeAction } from './useWholeAction.ts'
import styles from './card.module.css'

/** Why the action may not be allowed yet; null: all of it could be seen. */
export type Unseen = 'looking' | 'scroll' | 'loading' | 'failed' | null

export interface ActionBoxProps {
  decision: CardDecision
  onUnseen: (unseen: Unseen) => void
}

/** The whole action in a box of its own, which says when its end was in sight. */
export function ActionBox({ decision, onUnseen }: ActionBoxProps) {
  const whole = useWholeAction(decision)
  const { boxRef, onScroll, seen, looked } = useSeenWhole(whole.complete, () => whole.error === null && whole.readOn())
  const missing: Unseen = whole.error === null ? 'loading' : 'failed'
  const unseen: Unseen = seen ? null : !whole.complete ? missing : looked ? 'scroll' : 'looking'
  useEffect(() => onUnseen(unseen), [unseen, onUnseen])
  const { action } = decision
  return (
    <>
      <div
        ref={boxRef}
        className={styles.box}
        role="group"
        tabIndex={0}
        aria-label={action.kind === 'command' ? strings.approvals.command : strings.approvals.action}
        data-kind={action.kind}
        onScroll={onScroll}
      >
        {whole.shown.kind === 'action' ? (
          <ActionView action={whole.shown.action} workDir={decision.workDir} />
        ) : (
          <Exact text={whole.shown.text} />
        )}
        {whole.progress !== null && !whole.complete && whole.error === null && (
          <div className={styles.next}>
            <Button tone="quiet" pending={whole.loading} onClick={whole.readOn}>
              {strings.approvals.nextPart(amount(whole.progress.shown), amount(whole.progress.bytes))}
            </Button>
          </div>
        )}
      </div>
      {whole.error !== null && <ErrorNote error={whole.error} onRetry={whole.readOn} />}
      {decision.status !== 'pending' && mayBeShortened(action) && (
        <p className={styles.small}>{strings.approvals.shortened}</p>
      )}
    </>
  )
}
