import type { RefObject } from 'react'
import { strings } from '../../strings/index.ts'
import { duration } from '../../text/index.ts'
import { ErrorNote, PassingButton, StateMark } from '../../ui/index.ts'
import type { Testing } from './useConnectionForm.ts'
import styles from './providers.module.css'

/** How a test goes, or went. An error that already stands at a field of its form is not said again. */
export function TestLine({
  asking,
  asker,
  saidInField = false,
}: {
  asking: Testing
  /** What asks: it has the focus again when the button that cancels goes. */
  asker: RefObject<HTMLElement | null>
  saidInField?: boolean
}) {
  const { providers } = strings
  if (asking.pending) {
    return (
      <p className={styles.line} role="status">
        <StateMark showLabel state="starting" label={`${providers.testing} ${asking.seconds} s`} />
        <PassingButton heir={asker} onClick={asking.cancel}>
          {providers.cancel}
        </PassingButton>
      </p>
    )
  }
  if (asking.output !== null) {
    const { modelCount, latencyMs } = asking.output
    return (
      <p className={styles.line} role="status">
        <StateMark showLabel state="completed" label={providers.tested(modelCount, duration(latencyMs))} />
      </p>
    )
  }
  return asking.error === null || saidInField ? null : <ErrorNote error={asking.error} />
}
