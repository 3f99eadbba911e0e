import { useCall } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { Button, ErrorNote } from '../../ui/index.ts'
import { CheckList } from './CheckList.tsx'
import { Section } from './Section.tsx'
import styles from './health.module.css'

export function Checks() {
  const checks = useCall('system.health', { agents: false })
  const again = (): void => void checks.refetch()
  const { health } = strings
  return (
    <Section
      title={health.checks}
      about={health.checksText}
      action={
        <Button pending={checks.isFetching} aria-label={health.named(health.checkAgain, health.checks)} onClick={again}>
          {health.checkAgain}
        </Button>
      }
    >
      {checks.data === undefined && checks.error === null && <p className={styles.small}>{health.checking}</p>}
      {checks.error !== null && <ErrorNote error={checks.error} onRetry={again} />}
      {checks.data !== undefined && <CheckList checks={checks.data.checks} />}
    </Section>
  )
}
