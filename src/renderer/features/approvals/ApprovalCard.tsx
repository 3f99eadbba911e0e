import { useLayoutEffect, useRef, useState } from 'react'
import type { DecisionOutcome, DecisionView } from '../../../shared/bridge/index.ts'
import type { DecisionItem } from '../../../shared/projection/index.ts'
import { strings } from '../../strings/index.ts'
import { useTopic } from '../../stores/app-stores.tsx'
import { Revealed, revealText, shortTime, useNow } from '../../text/index.ts'
import { ErrorNote } from '../../ui/index.ts'
import { ActionBox } from './ActionBox.tsx'
import type { Unseen } from './ActionBox.tsx'
import { Answers } from './Answers.tsx'
import { AnswerText } from './AnswerText.tsx'
import { mergeDecision } from './card.ts'
import type { CardDecision } from './card.ts'
import { Facts } from './Facts.tsx'
import { FoldedHead } from './FoldedHead.tsx'
import { Moment } from './Moment.tsx'
import { QuestionFields } from './QuestionFields.tsx'
import { RiskMark } from './RiskMark.tsx'
import { Settled } from './Settled.tsx'
import { pendingCards, useCardKeys } from './useCardKeys.ts'
import { useResolve } from './useResolve.ts'
import styles from './card.module.css'

export interface ApprovalCardProps {
  /** The transcript's item, or the topic's view. */
  decision: DecisionItem | DecisionView
  /** The session's folder, where nobody else says it. */
  workDir?: string | null
  /** Names the session and links to it. */
  showSession?: boolean
  /** One line is left of it once it is settled; the whole of it is one click away. */
  folds?: boolean
  /** This card's own answer was settled by the host, one way or another. */
  onAnswered?: (outcome: DecisionOutcome) => void
}

/** One question of an agent, in a transcript or in a list of them: all that a person needs to answer it, or who did. */
export function ApprovalCard(props: ApprovalCardProps) {
  const { decision: item, workDir = null, showSession = false, folds = false, onAnswered } = props
  const { decisionId } = item
  const live = useTopic(
    'decisions',
    ({ value }) => value.settled.get(decisionId) ?? value.pending.find((each) => each.decisionId === decisionId),
  )
  const decision = mergeDecision(item, live, workDir)
  const cardRef = useRef<HTMLElement>(null)
  const [unseen, setUnseen] = useState<Unseen>('looking')
  const resolve = useResolve(decisionId, (outcome) => onAnswered?.(outcome))
  const outcome = resolve.outcome
  const pending = decision.status === 'pending'
  const open = pending && (outcome === null || outcome.kind === 'resolved')
  const asks = open && decision.kind === 'approval'
  const form = decision.action.kind === 'question' ? decision.action.form : null
  const late = outcome !== null && outcome.kind !== 'resolved' ? outcome : null
  const settled =
    decision.status === 'pending'
      ? null
      : { ...decision, status: decision.status, ruleId: decision.ruleId ?? null, form }
  const [chosen, setChosen] = useState<boolean | null>(null)
  // An answer that changed nothing is not put out of sight by itself.
  const folded = folds && settled !== null && !(chosen ?? (late !== null || decision.told === 'lost'))

  useCardKeys(cardRef, asks, {
    allow: () => {
      if (unseen === null) resolve.send({ option: 'allow_once' })
      // The way to allow it is to look at it.
      else cardRef.current?.querySelector<HTMLElement>('[data-kind]')?.focus()
    },
    deny: () => resolve.send({ option: 'reject_once' }),
  })
  useFocusAfterAnswer(cardRef, open)

  const title = revealText(decision.title)
  return (
    <article
      ref={cardRef}
      className={styles.card}
      tabIndex={-1}
      aria-label={strings.approvals.cardName(title, decision.context?.sessionTitle ?? null)}
      data-decision-status={open ? 'pending' : 'settled'}
      data-decision-id={decisionId}
      data-folded={folded ? '' : undefined}
      data-risk={decision.risk ?? 'unknown'}
    >
      {folds && settled !== null ? (
        <FoldedHead title={decision.title} settled={settled} folded={folded} onFold={setChosen} />
      ) : (
        <h3 className={styles.title}>
          <Revealed text={decision.title} />
        </h3>
      )}
      {!folded && (
        <>
          <Judgement decision={decision} open={open} />
          {(form === null || !open) && <ActionBox decision={decision} onUnseen={setUnseen} />}
          <Facts decision={decision} showSession={showSession} />
          {!decision.complete && <p className={styles.warning}>{strings.approvals.incomplete}</p>}
          {resolve.error !== null && <ErrorNote error={resolve.error} />}
          {asks && <Answers decision={decision} unseen={unseen} resolve={resolve} />}
          {open && form !== null && <QuestionFields form={form} title={title} resolve={resolve} />}
          {open && decision.kind === 'question' && form === null && (
            <AnswerText pending={resolve.pending} onAnswer={(text) => resolve.send({ text })} />
          )}
          {settled !== null && <Settled {...settled} />}
          {late !== null && (
            <>
              {pending && <Settled {...settledBy(late)} form={form} />}
              <p className={styles.small}>{strings.approvals.tooLate}</p>
            </>
          )}
        </>
      )}
    </article>
  )
}

function Judgement({ decision, open }: { decision: CardDecision; open: boolean }) {
  const nowMs = Math.max(useNow(), decision.createdAt)
  const { risk, riskReason, createdAt, expiresAt } = decision
  const { approvals } = strings
  return (
    <div className={styles.judgement}>
      <RiskMark risk={risk} />
      {riskReason !== '' && (
        <span className={styles.why}>
          <Revealed text={riskReason} />
        </span>
      )}
      {open && (
        <span className={styles.times}>
          <Moment
            atMs={createdAt}
            relative={approvals.waits(shortTime(createdAt, nowMs))}
            exact={approvals.waitsSince}
          />
          {expiresAt !== null && (
            <Moment
              atMs={expiresAt}
              relative={
                expiresAt - nowMs < 60_000 ? approvals.expired : approvals.expiresIn(shortTime(nowMs, expiresAt))
              }
              exact={approvals.expiresAt}
            />
          )}
        </span>
      )}
    </div>
  )
}

/** The answer's buttons go with the answer: the focus they had goes to the next pending card, else to this one. */
function useFocusAfterAnswer(cardRef: React.RefObject<HTMLElement | null>, open: boolean): void {
  const wasOpen = useRef(open)
  useLayoutEffect(() => {
    const settledNow = wasOpen.current && !open
    wasOpen.current = open
    const card = cardRef.current
    if (!settledNow || card === null) return
    const focused = document.activeElement
    if (focused !== null && focused !== document.body && !card.contains(focused)) return
    const next = pendingCards().find((other) => card.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING)
    ;(next ?? pendingCards()[0] ?? card).focus()
  }, [cardRef, open])
}

function settledBy(outcome: Exclude<DecisionOutcome, { kind: 'resolved' }>) {
  return outcome.kind === 'closed'
    ? { status: outcome.status, answer: null, by: null, settledAt: outcome.atMs }
    : { status: 'resolved' as const, answer: outcome.answer, by: outcome.by, settledAt: outcome.atMs }
}
