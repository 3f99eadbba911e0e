import { strings } from '../../strings/index.ts'
import { duration } from '../../text/index.ts'
import { Button, ErrorNote, StateMark } from '../../ui/index.ts'
import { fieldOf } from './form.ts'
import type { Testing } from './useConnectionForm.ts'
import styles from './providers.module.css'

/** How a test goes, or went. An error that belongs to a field stands there too, so it is named here in short. */
export function TestLine({ asking, onCancel }: { asking: Testing; onCancel: () => void }) {
  const { providers } = strings
  if (asking.pending) {
    return (
      <p className={styles.line} role="status">
        <StateMark showLabel state="starting" label={`${providers.testing} ${asking.seconds} s`} />
        <Button tone="quiet" onClick={onCancel}>
          {providers.cancel}
        </Button>
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
  if (asking.error === null) return null
  return fieldOf(asking.error) === null || !asking.error.code.startsWith('model_profile_invalid') ? (
    <ErrorNote error={asking.error} />
  ) : null
}
