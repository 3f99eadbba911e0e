import { useEffect, useState } from 'react'
import type { BridgeStatus } from '../../shared/bridge/client.ts'
import { assertNever } from '../../shared/errors.ts'
import { strings } from '../strings/index.ts'
import { timeOfDay, useNow } from '../text/index.ts'
import { Button, ErrorNote } from '../ui/index.ts'
import styles from './ConnectionBanner.module.css'

const CONNECTING_SAID_AFTER_MS = 1_000

/** Says that the host is away and since when, or why it lets nobody in. Nothing while all is well. */
export function ConnectionBanner({ status }: { status: BridgeStatus }) {
  switch (status.kind) {
    case 'open':
      return null
    case 'connecting':
      return <Connecting />
    case 'lost':
      return <Lost sinceMs={status.sinceMs} />
    case 'refused':
      return (
        <div className={styles.banner} data-kind="refused">
          <p>{strings.app.refused}</p>
          <ErrorNote error={status.error} />
          <Button onClick={() => window.location.reload()}>{strings.app.reload}</Button>
        </div>
      )
    default:
      return assertNever(status)
  }
}

function Lost({ sinceMs }: { sinceMs: number }) {
  const nowMs = useNow()
  return (
    <p className={styles.banner} role="status">
      {strings.app.lost(timeOfDay(sinceMs, nowMs))}
    </p>
  )
}

function Connecting() {
  const [said, setSaid] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setSaid(true), CONNECTING_SAID_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
  return (
    said && (
      <p className={styles.banner} role="status">
        {strings.app.connecting}
      </p>
    )
  )
}
