import { exactTime } from '../../text/index.ts'
import styles from './card.module.css'

/** A time that is told relative to now; the exact one stands there while it has the pointer or the focus. */
export function Moment({ atMs, relative, exact }: { atMs: number; relative: string; exact: (time: string) => string }) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- the exact time is one focus away
    <time className={styles.moment} dateTime={new Date(atMs).toISOString()} tabIndex={0}>
      <span className={styles.relative}>{relative}</span>
      <span className={styles.exactTime}>{exact(exactTime(atMs))}</span>
    </time>
  )
}
