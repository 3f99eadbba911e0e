import type { RetryProgress } from '../../../shared/projection/index.ts'
import { strings } from '../../strings/index.ts'
import { duration, Revealed } from '../../text/index.ts'
import styles from './Turn.module.css'

/** The agent or the runtime tries again: which attempt, when, and why. */
export function RetryNote({ retry }: { retry: RetryProgress }) {
  return (
    <p className={styles.retry}>
      {strings.session.retrying(retry.attempt, retry.maxAttempts)}
      {retry.retryAfterMs > 0 && ` ${strings.session.retryIn(duration(retry.retryAfterMs))}`}
      {': '}
      <Revealed text={retry.message} /> <code>{retry.reasonCode}</code>
    </p>
  )
}
