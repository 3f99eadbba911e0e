import { useId, useState } from 'react'
import type { DecisionView } from '../../../shared/bridge/index.ts'
import { viewHash } from '../../stores/navigation.ts'
import { strings } from '../../strings/index.ts'
import { exactTime, Revealed, shortTime, useNow } from '../../text/index.ts'
import { ActionView, RiskMark, Settled } from '../approvals/index.ts'
import { titleOf } from '../sessions/index.ts'
import { Facts, Row, RowHead } from '../../ui/index.ts'
import styles from './permissions.module.css'

/** One question: what it was about, and what became of it; the action itself is one click away. */
export function HistoryRow({ decision, showSession }: { decision: DecisionView; showSession: boolean }) {
  const [open, setOpen] = useState(false)
  const id = useId()
  const nowMs = Math.max(useNow(), decision.createdAt)
  const { status, title, risk, ruleId, createdAt, settledAt } = decision
  const asked = shortTime(createdAt, nowMs)
  // Most are answered within the minute: the answer's own time then says both.
  const answered = settledAt === null ? null : shortTime(settledAt, Math.max(nowMs, settledAt))
  return (
    <Row>
      <RowHead>
        <button
          type="button"
          className={styles.toggle}
          aria-expanded={open}
          aria-controls={open ? id : undefined}
          onClick={() => setOpen(!open)}
        >
          <Revealed text={title} />
        </button>
        <RiskMark risk={risk} />
        <span className={styles.answer}>
          {status === 'pending' ? (
            <a href={viewHash({ kind: 'approvals', decisionId: decision.decisionId })}>{strings.permissions.waiting}</a>
          ) : (
            <Settled
              status={status}
              answer={decision.answer}
              by={decision.by}
              settledAt={settledAt}
              ruleId={ruleId ?? null}
            />
          )}
        </span>
      </RowHead>
      <Facts>
        {showSession && (
          <a href={viewHash({ kind: 'session', sessionId: decision.sessionId, turnId: decision.runId })}>
            {titleOf({ title: decision.sessionTitle })}
          </a>
        )}
        <span>{strings.agents.name(decision.agentId)}</span>
        {asked !== answered && (
          <time dateTime={new Date(createdAt).toISOString()} title={exactTime(createdAt)}>
            {strings.permissions.askedAt(strings.approvals.ago(asked))}
          </time>
        )}
      </Facts>
      {open && (
        <div id={id} className={styles.action}>
          <ActionView action={decision.action} workDir={decision.workDir} />
        </div>
      )}
    </Row>
  )
}
