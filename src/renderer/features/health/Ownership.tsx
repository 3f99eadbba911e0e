import type { OwnershipView } from '../../../shared/bridge/index.ts'
import { useCall } from '../../bridge/index.ts'
import { viewHash } from '../../stores/navigation.ts'
import { strings } from '../../strings/index.ts'
import { exactTime, timeOfDay, shortTime, useNow } from '../../text/index.ts'
import { Button, ErrorNote, Row, RowHead, Rows, StateMark } from '../../ui/index.ts'
import type { MarkState } from '../../ui/index.ts'
import { titleOf } from '../sessions/index.ts'
import { Recovered } from './Recovered.tsx'
import { Section } from './Section.tsx'
import styles from './health.module.css'

const MARKS: Readonly<Record<OwnershipView['state'], MarkState>> = {
  local: 'running',
  external: 'running',
  detached_remote: 'running',
  reserved: 'recovering',
  orphaned: 'recovering',
  recovery_failed: 'failed',
  inconsistent: 'failed',
  unknown: 'failed',
  idle: 'idle',
}

/** Which process executes each run, until when nobody else may, and what became of those whose owner was lost. */
export function Ownership() {
  const owners = useCall('sessions.ownership', {})
  const again = (): void => void owners.refetch()
  const { health } = strings
  const found = owners.data?.owners ?? []
  return (
    <Section
      title={health.ownership}
      about={health.ownershipText}
      action={
        <Button
          pending={owners.isFetching}
          aria-label={health.named(health.logRefresh, health.ownership)}
          onClick={again}
        >
          {health.logRefresh}
        </Button>
      }
    >
      {owners.error !== null && <ErrorNote error={owners.error} onRetry={again} />}
      {owners.data !== undefined && found.length === 0 && <p className={styles.small}>{health.nothingRuns}</p>}
      {found.length > 0 && (
        <Rows aria-label={health.ownership}>
          {found.map((owner) => (
            <OwnerRow key={owner.sessionId} owner={owner} />
          ))}
        </Rows>
      )}
      <Recovered />
    </Section>
  )
}

function OwnerRow({ owner }: { owner: OwnershipView }) {
  const nowMs = useNow()
  const { health } = strings
  const { run, lease, recovery, ownerPid } = owner
  return (
    <Row data-state={owner.state}>
      <RowHead>
        <StateMark showLabel state={MARKS[owner.state]} label={health.owner(owner.state)} />
        <a href={viewHash({ kind: 'session', sessionId: owner.sessionId })}>{titleOf({ title: owner.sessionTitle })}</a>
        {run !== null && <span className={styles.small}>{strings.session.runStates[run.state]}</span>}
        {run?.startedAt != null && (
          <span className={styles.small}>{health.since(shortTime(run.startedAt, Math.max(nowMs, run.startedAt)))}</span>
        )}
        {ownerPid !== null && <span className={styles.small}>{health.hostPid(ownerPid)}</span>}
        {lease !== null && (
          <span className={styles.small} title={exactTime(lease.expiresAt)}>
            {health.lease(health.purpose(lease.purpose), timeOfDay(lease.expiresAt, nowMs))}
          </span>
        )}
      </RowHead>
      {recovery !== null && (
        <p className={styles.small}>
          {health.recoveryTry(recovery.attempt)}
          {recovery.nextAt !== null && ` ${health.nextTry(timeOfDay(recovery.nextAt, nowMs))}`}
          {recovery.lastError !== null && ` ${recovery.lastError}`}
        </p>
      )}
      {owner.error !== null && <code className={styles.small}>{owner.error}</code>}
    </Row>
  )
}
