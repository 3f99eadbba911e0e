import { useId, useState } from 'react'
import type { AnswerOption } from '../../../shared/vocabulary.ts'
import { strings } from '../../strings/index.ts'
import { revealText } from '../../text/index.ts'
import { Button, Menu } from '../../ui/index.ts'
import type { Unseen } from './ActionBox.tsx'
import type { CardDecision } from './card.ts'
import { DenyReason } from './DenyReason.tsx'
import type { Resolve } from './useResolve.ts'
import styles from './card.module.css'

export interface AnswersProps {
  decision: CardDecision
  unseen: Unseen
  resolve: Resolve
}

/** The answers that policy offers. What allows stays off until all of the action could be seen, and says why. */
export function Answers({ decision, unseen, resolve }: AnswersProps) {
  const [reasoning, setReasoning] = useState(false)
  const whyId = useId()
  const title = revealText(decision.title)
  const { approvals } = strings
  const offers = (option: AnswerOption): boolean => decision.options.includes(option)
  const send = (option: AnswerOption): void => resolve.send({ option })
  const blocked = unseen === null ? {} : { disabled: true, 'aria-describedby': whyId }

  if (reasoning) {
    return (
      <DenyReason
        reaches={decision.context?.refusalReason ?? null}
        pending={resolve.pending}
        onDeny={(reason) => resolve.send({ option: 'reject_once', reason })}
        onBack={() => setReasoning(false)}
      />
    )
  }
  return (
    <>
      <div className={styles.buttons}>
        <Button
          tone="primary"
          shortcut="A"
          pending={resolve.pending}
          aria-label={approvals.named(approvals.allowOnce, title)}
          {...blocked}
          onClick={() => send('allow_once')}
        >
          {approvals.allowOnce}
        </Button>
        <Button
          shortcut="D"
          pending={resolve.pending}
          aria-label={approvals.named(approvals.deny, title)}
          onClick={() => send('reject_once')}
        >
          {approvals.deny}
        </Button>
        <Button
          pending={resolve.pending}
          aria-label={approvals.named(approvals.denyWithReason, title)}
          onClick={() => setReasoning(true)}
        >
          {approvals.denyWithReason}
        </Button>
        {offers('allow_session') && (
          <Button
            pending={resolve.pending}
            aria-label={approvals.named(approvals.allowSession, title)}
            {...blocked}
            onClick={() => send('allow_session')}
          >
            {approvals.allowSession}
          </Button>
        )}
        {(offers('allow_project') || offers('reject_session')) && (
          <Menu
            label={approvals.named(approvals.moreAnswers, title)}
            trigger="⋯"
            actions={[
              ...(offers('allow_project')
                ? [
                    {
                      label: approvals.allowProject,
                      disabled: unseen !== null || resolve.pending,
                      onSelect: () => send('allow_project'),
                    },
                  ]
                : []),
              ...(offers('reject_session')
                ? [{ label: approvals.denySession, disabled: resolve.pending, onSelect: () => send('reject_session') }]
                : []),
            ]}
          />
        )}
      </div>
      {unseen !== null && unseen !== 'looking' && (
        <p id={whyId} className={styles.small}>
          {unseen === 'scroll'
            ? approvals.scrollFirst
            : unseen === 'loading'
              ? approvals.loadFirst
              : approvals.loadFailed}
        </p>
      )}
    </>
  )
}
