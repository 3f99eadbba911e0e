import { memo } from 'react'
import type { SessionView } from '../../../shared/bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { useUnread } from '../../stores/seen.ts'
import { viewHash } from '../../stores/navigation.ts'
import { exactTime, shortTime, useNow } from '../../text/index.ts'
import { StateMark } from '../../ui/index.ts'
import { markOf, titleOf } from './state.ts'
import styles from './SessionList.module.css'

export const SessionRow = memo(function SessionRow({ session, current }: { session: SessionView; current: boolean }) {
  const nowMs = useNow()
  const mark = markOf(session)
  const busy = session.state !== 'idle'
  const unread = useUnread(session) && !current
  return (
    <a
      className={styles.row}
      href={viewHash({ kind: 'session', sessionId: session.id })}
      aria-current={current ? 'page' : undefined}
      data-session={session.id}
      data-state={session.state}
      data-unread={unread ? '' : undefined}
    >
      <StateMark state={mark.state} label={mark.label} />
      <span className={styles.title}>{titleOf(session)}</span>
      {unread && (
        <span className={styles.unread} title={strings.sessions.unread}>
          <span className={styles.said}>{strings.sessions.unread}</span>
        </span>
      )}
      {session.rehearsal && (
        <span className={styles.badge} title={strings.sessions.rehearsal}>
          <span aria-hidden="true">R</span>
          <span className={styles.said}>{strings.sessions.rehearsal}</span>
        </span>
      )}
      {session.pendingDecisions > 0 && (
        <span className={styles.pending} title={strings.sessions.pending(session.pendingDecisions)}>
          <span aria-hidden="true">{session.pendingDecisions}</span>
          <span className={styles.said}>{strings.sessions.pending(session.pendingDecisions)}</span>
        </span>
      )}
      {busy ? (
        <span className={styles.word} data-state={session.state} aria-hidden="true">
          {mark.label}
        </span>
      ) : (
        <time
          className={styles.time}
          dateTime={new Date(session.updatedAt).toISOString()}
          title={exactTime(session.updatedAt)}
        >
          {shortTime(session.updatedAt, nowMs)}
        </time>
      )}
    </a>
  )
})
