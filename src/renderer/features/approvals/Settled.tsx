import { answerText } from '../../../shared/questions.ts'
import type { QuestionForm } from '../../../shared/questions.ts'
import type { Actor, Answer } from '../../../shared/vocabulary.ts'
import { useBridgeStatus } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { viewHash } from '../../stores/navigation.ts'
import { Revealed, shortTime, useNow } from '../../text/index.ts'
import { StateMark } from '../../ui/index.ts'
import type { MarkState } from '../../ui/index.ts'
import { actorName } from './card.ts'
import type { CardDecision } from './card.ts'
import { Moment } from './Moment.tsx'
import styles from './card.module.css'

export interface SettledFacts {
  status: Exclude<CardDecision['status'], 'pending'>
  answer: Answer | null
  by: Actor | null
  settledAt: number | null
  /** Undefined: nothing is said about it. */
  told?: CardDecision['told']
  /** The person's rule that answered it. */
  ruleId?: string | null
  /** What an answer in fields is an answer to. */
  form?: QuestionForm | null
}

/** What became of it: the answer, who gave it and when, and whether it reached the agent. */
export function Settled(facts: SettledFacts) {
  const { status, answer, told, form = null } = facts
  const { approvals } = strings
  return (
    <div className={styles.settled}>
      <Outcome {...facts} />
      {answer !== null && 'reason' in answer && answer.reason !== undefined && (
        <p>
          <Revealed text={approvals.reasonGiven(answer.reason)} />
        </p>
      )}
      {answer !== null && !('option' in answer) && (
        <p className={styles.said}>
          <Revealed text={'text' in answer ? answer.text : answerText(answer.form, form)} />
        </p>
      )}
      {told !== undefined && status === 'resolved' && (
        <p className={styles.small}>{told === null ? approvals.notToldYet : approvals.told(told)}</p>
      )}
    </div>
  )
}

/** In one line: the answer, who gave it and when. */
export function Outcome({ status, answer, by, settledAt, ruleId = null, form = null }: SettledFacts) {
  const nowMs = useNow()
  const bridge = useBridgeStatus()
  const generation = bridge.kind === 'open' ? bridge.hello.generation : null
  const { approvals } = strings
  const relative = settledAt === null ? null : approvals.ago(shortTime(settledAt, Math.max(nowMs, settledAt)))
  const said = relative === null || by === null ? null : approvals.answeredBy(actorName(by, generation), relative)
  return (
    <p className={styles.outcome}>
      <StateMark showLabel state={markOf(status, answer)} label={labelOf(status, answer, form !== null)} />
      {settledAt !== null && relative !== null && (
        <Moment
          atMs={settledAt}
          relative={status === 'resolved' && said !== null ? said : relative}
          exact={(time) => time}
        />
      )}
      {ruleId !== null && <a href={viewHash({ kind: 'permissions', ruleId })}>{strings.permissions.byRule}</a>}
    </p>
  )
}

export function isAllowed(answer: Answer | null): boolean {
  return answer !== null && (!('option' in answer) || answer.option.startsWith('allow'))
}

function markOf(status: SettledFacts['status'], answer: Answer | null): MarkState {
  if (status !== 'resolved') return 'idle'
  return isAllowed(answer) ? 'completed' : 'failed'
}

function labelOf(status: SettledFacts['status'], answer: Answer | null, asked: boolean): string {
  if (status !== 'resolved') return strings.approvals.closedAs(status)
  if (asked && answer !== null && 'option' in answer) return strings.approvals.leftUnanswered
  return answer !== null && 'option' in answer
    ? strings.approvals.answeredAs(answer.option)
    : strings.approvals.answeredText
}
