import type { Check } from '../../../shared/bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { CodeText } from '../../text/index.ts'
import { StateMark } from '../../ui/index.ts'
import type { MarkState } from '../../ui/index.ts'
import styles from './health.module.css'

const MARKS: Readonly<Record<Check['status'], MarkState>> = { pass: 'completed', warn: 'waiting', fail: 'failed' }

/** Checks with what to do about each that did not pass. Of what is `missing` as a whole, none has failed: there is nothing. */
export function CheckList({ checks, missing = false }: { checks: readonly Check[]; missing?: boolean }) {
  return (
    <ul className={styles.checks}>
      {checks.map((check) => (
        <li key={check.id} className={styles.check} data-status={missing ? undefined : check.status}>
          {missing && check.status === 'fail' ? (
            <StateMark showLabel state="idle" label={strings.health.missing} />
          ) : (
            <StateMark showLabel state={MARKS[check.status]} label={strings.health.status[check.status]} />
          )}
          <span>{check.label}</span>
          <span className={styles.message}>{check.message}</span>
          {check.hint !== null && (
            <span className={styles.hint}>
              <CodeText text={check.hint} />
            </span>
          )}
        </li>
      ))}
    </ul>
  )
}
