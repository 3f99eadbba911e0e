import { memo } from 'react'
import type { SearchHit } from '../../../shared/bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { viewHash } from '../../stores/navigation.ts'
import { exactTime, Revealed, shortTime, useNow } from '../../text/index.ts'
import { titleOf } from './state.ts'
import styles from './SessionList.module.css'

/** One line that was said somewhere, with the words that were looked for; it leads to its turn. */
export const HitRow = memo(function HitRow({ hit, rowKey }: { hit: SearchHit; rowKey: string }) {
  const nowMs = useNow()
  const turnId = hit.turnId ?? hit.runId
  return (
    <a
      className={styles.hit}
      href={viewHash({ kind: 'session', sessionId: hit.sessionId, ...(turnId === null ? {} : { turnId }) })}
      data-session={rowKey}
    >
      <span className={styles.hitHead}>
        <span className={styles.title}>{titleOf({ title: hit.sessionTitle })}</span>
        <span className={styles.word}>{strings.sessions.said[hit.kind]}</span>
        <time className={styles.time} dateTime={new Date(hit.at).toISOString()} title={exactTime(hit.at)}>
          {shortTime(hit.at, nowMs)}
        </time>
      </span>
      <span className={styles.snippet}>
        <Marked {...hit.snippet} />
      </span>
    </a>
  )
})

function Marked({ text, marks }: SearchHit['snippet']) {
  const parts: { text: string; found: boolean }[] = []
  let at = 0
  for (const [from, to] of marks) {
    parts.push({ text: text.slice(at, from), found: false }, { text: text.slice(from, to), found: true })
    at = to
  }
  parts.push({ text: text.slice(at), found: false })
  return parts.map((part, index) =>
    part.text === '' ? null : part.found ? (
      // oxlint-disable-next-line react/no-array-index-key -- parts of one immutable text have no other identity
      <mark key={index}>
        <Revealed text={part.text} />
      </mark>
    ) : (
      // oxlint-disable-next-line react/no-array-index-key -- as above
      <Revealed key={index} text={part.text} />
    ),
  )
}
