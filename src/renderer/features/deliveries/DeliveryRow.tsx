import { useQueryClient } from '@tanstack/react-query'
import type { DeliveryView } from '../../../shared/bridge/index.ts'
import { useChange } from '../../bridge/index.ts'
import { viewHash } from '../../stores/navigation.ts'
import { strings } from '../../strings/index.ts'
import { exactTime, Revealed, shortTime, timeOfDay, useNow } from '../../text/index.ts'
import { Button, ErrorNote, Facts, Row, RowActions, RowHead, StateMark } from '../../ui/index.ts'
import type { MarkState } from '../../ui/index.ts'
import { titleOf } from '../sessions/index.ts'
import styles from './deliveries.module.css'

type Operation = DeliveryView['operations'][number]

const MARKS: Readonly<Record<DeliveryView['status'], MarkState>> = {
  pending: 'running',
  delivered: 'completed',
  failed: 'failed',
  uncertain: 'waiting',
  cancelled: 'idle',
}
const REOPENED: ReadonlySet<Operation['status']> = new Set(['failed', 'uncertain'])

/** One run's answer on its way to one place, and what can be done about it. */
export function DeliveryRow({ delivery }: { delivery: DeliveryView }) {
  const { deliveries } = strings
  const nowMs = Math.max(useNow(), delivery.updatedAt)
  const { status, operations, pending } = delivery
  const trouble = operations.filter(({ failureCode }) => failureCode !== '')
  const broken = operations.find((operation) => REOPENED.has(operation.status))
  const attempts = Math.max(0, ...operations.map((operation) => operation.attempts))
  const nextAt = Math.min(...operations.flatMap(({ nextAttemptAt }) => nextAttemptAt ?? []))
  return (
    <Row>
      <RowHead>
        <StateMark showLabel state={MARKS[status]} label={deliveries.state(status)} />
        <strong>
          <Revealed text={deliveries.to(delivery.targetName, delivery.transport)} />
        </strong>
        <a href={viewHash({ kind: 'session', sessionId: delivery.sessionId, turnId: delivery.runId })}>
          {titleOf({ title: delivery.sessionTitle })}
        </a>
        <RowActions>
          {broken !== undefined && <Retry operation={broken} name={titleOf({ title: delivery.sessionTitle })} />}
        </RowActions>
      </RowHead>
      <Facts>
        <time dateTime={new Date(delivery.updatedAt).toISOString()} title={exactTime(delivery.updatedAt)}>
          {shortTime(delivery.updatedAt, nowMs)}
        </time>
        {attempts > 0 && <span>{deliveries.attempts(attempts)}</span>}
        {status === 'pending' && pending > 0 && <span>{deliveries.pieces(pending)}</span>}
        {status === 'pending' && Number.isFinite(nextAt) && <span>{deliveries.nextAt(timeOfDay(nextAt, nowMs))}</span>}
        {[...new Set(trouble.map(({ failureCode }) => failureCode))].map((code) => (
          <span key={code} className={status === 'delivered' ? undefined : styles.warn} title={code}>
            {deliveries.reason(code)}
          </span>
        ))}
      </Facts>
    </Row>
  )
}

function Retry({ operation, name }: { operation: Operation; name: string }) {
  const queries = useQueryClient()
  const retry = useChange('deliveries.retry')
  const { deliveries } = strings
  return (
    <>
      {operation.status === 'uncertain' && <span className={styles.small}>{deliveries.retryHint}</span>}
      <Button
        pending={retry.isPending}
        aria-label={deliveries.named(deliveries.retry, name)}
        onClick={() =>
          retry.mutate(
            { operationId: operation.id },
            { onSettled: () => void queries.invalidateQueries({ queryKey: ['deliveries.list'] }) },
          )
        }
      >
        {deliveries.retry}
      </Button>
      {retry.error !== null && <ErrorNote error={retry.error} />}
    </>
  )
}
