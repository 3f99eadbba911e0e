import { useState } from 'react'
import { useTopic } from '../../stores/app-stores.tsx'
import { viewHash } from '../../stores/navigation.ts'
import { strings } from '../../strings/index.ts'
import { Button, ErrorNote, Rows, Select } from '../../ui/index.ts'
import { titleOf } from '../sessions/index.ts'
import { HistoryRow } from './HistoryRow.tsx'
import { useHistory } from './useHistory.ts'
import styles from './permissions.module.css'

const { permissions } = strings
const items = <K extends string>(labels: Readonly<Record<K, string>>) =>
  (Object.keys(labels) as K[]).map((value) => ({ value, label: labels[value] }))
const OUTCOMES = items(permissions.outcomes)
const BY = items(permissions.answeredBy)
const RISKS = items(permissions.risks)

/** Every question and its answer, of one session or of all. */
export function History({ sessionId }: { sessionId: string | null }) {
  const [outcome, setOutcome] = useState<keyof typeof permissions.outcomes>('all')
  const [by, setBy] = useState<keyof typeof permissions.answeredBy>('all')
  const [risk, setRisk] = useState<keyof typeof permissions.risks>('all')
  const session = useTopic('sessions', (state) => (sessionId === null ? undefined : state.value.get(sessionId)))
  const history = useHistory({
    ...(sessionId === null ? {} : { sessionId }),
    ...(outcome === 'all' ? {} : { outcome }),
    ...(by === 'all' ? {} : { by }),
    ...(risk === 'all' ? {} : { risk }),
  })
  const filtered = outcome !== 'all' || by !== 'all' || risk !== 'all'
  return (
    <section className={styles.section} aria-labelledby="permissions-history">
      <header className={styles.sectionHead}>
        <div>
          <h2 id="permissions-history">{permissions.history}</h2>
          <p className={styles.small}>{permissions.historyText}</p>
        </div>
        <div className={styles.filters}>
          <Select label={permissions.outcome} tone="quiet" value={outcome} items={OUTCOMES} onChange={setOutcome} />
          <Select label={permissions.by} tone="quiet" value={by} items={BY} onChange={setBy} />
          <Select label={permissions.risk} tone="quiet" value={risk} items={RISKS} onChange={setRisk} />
        </div>
      </header>
      {sessionId !== null && (
        <p className={styles.note}>
          {permissions.historyOf(titleOf({ title: session?.title ?? '' }))}{' '}
          <a href={viewHash({ kind: 'permissions' })}>{permissions.allSessions}</a>
        </p>
      )}
      {history.error !== null && <ErrorNote error={history.error} onRetry={history.again} />}
      {history.loaded && history.decisions.length === 0 && (
        <p className={styles.empty}>{filtered ? permissions.noneOfThese : permissions.noHistory}</p>
      )}
      {history.decisions.length > 0 && (
        <Rows aria-label={permissions.history}>
          {history.decisions.map((decision) => (
            <HistoryRow key={decision.decisionId} decision={decision} showSession={sessionId === null} />
          ))}
        </Rows>
      )}
      {history.more !== null && (
        <Button tone="quiet" pending={history.pending} onClick={history.more}>
          {permissions.more}
        </Button>
      )}
    </section>
  )
}
