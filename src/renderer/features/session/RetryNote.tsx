import type { RetryProgress } from '../../../shared/projection/index.ts'
import { strings } from '../../strings/index.ts'
import { Revealed, timeOfDay, useNow } from '../../text/index.ts'
import styles from './Turn.module.css'

/** The agent or the runtime tries again: which attempt, when, and why. */
export function RetryNote({ retry }: { retry: RetryProgress }) {
  const nowMs = useNow()
  return (
    <p className={styles.retry}>
      {strings.session.retrying(retry.attempt, retry.maxAttempts)}
      {retry.retryAfterMs > 0 &&
        ` ${strings.session.retryAt(timeOfDay(retry.at + retry.retryAfterMs, Math.max(nowMs, retry.at)))}`}
      {': '}
      <Revealed text={retry.message} /> <code>{retry.reasonCode}</code>
    </p>
  )
}
