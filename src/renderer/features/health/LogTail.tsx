import { useLayoutEffect, useMemo, useRef } from 'react'
import { useCall } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { Revealed } from '../../text/index.ts'
import { Button, ErrorNote } from '../../ui/index.ts'
import { readLogLine } from './log-line.ts'
import { Section } from './Section.tsx'
import styles from './health.module.css'

/** The newest lines of the log, the newest in sight. */
export function LogTail() {
  const tail = useCall('system.logs.tail', { lines: 200 })
  const boxRef = useRef<HTMLDivElement>(null)
  const lines = useMemo(() => tail.data?.lines.map(readLogLine) ?? null, [tail.data])
  useLayoutEffect(() => {
    const box = boxRef.current
    if (box !== null && lines !== null) box.scrollTop = box.scrollHeight
  }, [lines])
  const again = (): void => void tail.refetch()
  const { health } = strings
  return (
    <Section
      title={health.log}
      about={health.logText}
      action={
        <Button pending={tail.isFetching} aria-label={health.named(health.logRefresh, health.log)} onClick={again}>
          {health.logRefresh}
        </Button>
      }
    >
      {tail.error !== null && <ErrorNote error={tail.error} onRetry={again} />}
      {lines?.length === 0 && <p className={styles.small}>{health.logEmpty}</p>}
      {lines !== null && lines.length > 0 && (
        <div ref={boxRef} className={styles.log} tabIndex={0} role="group" aria-label={health.log}>
          {lines.map((line, index) => (
            // oxlint-disable-next-line react/no-array-index-key -- lines of one answer have no other identity
            <p key={index} data-level={line.level}>
              <span className={styles.time}>{line.time}</span> <span className={styles.level}>{line.level}</span>{' '}
              <Revealed text={line.text} /> <span className={styles.rest}>{line.rest}</span>
            </p>
          ))}
        </div>
      )}
    </Section>
  )
}
