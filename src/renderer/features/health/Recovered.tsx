import { useMemo } from 'react'
import { useTopic } from '../../stores/app-stores.tsx'
import { viewHash } from '../../stores/navigation.ts'
import { strings } from '../../strings/index.ts'
import { exactTime, shortTime, useNow } from '../../text/index.ts'
import { Row, RowHead, Rows, StateMark } from '../../ui/index.ts'
import { titleOf } from '../sessions/index.ts'
import styles from './health.module.css'

const LOST: ReadonlySet<string> = new Set(['owner_lost', 'cancelled_by_user_after_owner_loss'])
const SHOWN = 10

/** Sessions whose last run lost its owner, and was given its end by the recovery. */
export function Recovered() {
  const nowMs = useNow()
  const sessions = useTopic('sessions', (state) => state.value)
  const lost = useMemo(
    () =>
      [...sessions.values()]
        .flatMap(({ id, title, lastRun }) =>
          lastRun !== null && LOST.has(lastRun.errorCode ?? '') ? [{ id, title, lastRun }] : [],
        )
        .sort((a, b) => b.lastRun.finishedAt - a.lastRun.finishedAt)
        .slice(0, SHOWN),
    [sessions],
  )
  const { health } = strings
  if (lost.length === 0) return null
  return (
    <>
      <h3 className={styles.subhead}>{health.recovered}</h3>
      <Rows aria-label={health.recovered}>
        {lost.map(({ id, title, lastRun }) => (
          <Row key={id}>
            <RowHead>
              <StateMark
                showLabel
                state={lastRun.state === 'cancelled' ? 'idle' : 'failed'}
                label={strings.session.runStates[lastRun.state]}
              />
              <a href={viewHash({ kind: 'session', sessionId: id, turnId: lastRun.runId })}>{titleOf({ title })}</a>
              <time
                className={styles.small}
                dateTime={new Date(lastRun.finishedAt).toISOString()}
                title={exactTime(lastRun.finishedAt)}
              >
                {shortTime(lastRun.finishedAt, Math.max(nowMs, lastRun.finishedAt))}
              </time>
            </RowHead>
          </Row>
        ))}
      </Rows>
    </>
  )
}
