import { useState } from 'react'
import type { WorkerView } from '../../../shared/bridge/index.ts'
import { useTopic } from '../../stores/app-stores.tsx'
import { viewHash } from '../../stores/navigation.ts'
import { strings } from '../../strings/index.ts'
import { shortTime, useNow } from '../../text/index.ts'
import { Button, Row, RowActions, RowHead, Rows, StateMark } from '../../ui/index.ts'
import type { MarkState } from '../../ui/index.ts'
import { Section } from './Section.tsx'
import { WorkerDialog, workerName } from './WorkerDialog.tsx'
import type { WorkerAction } from './WorkerDialog.tsx'
import styles from './health.module.css'

const MARKS: Readonly<Record<WorkerView['state'], MarkState>> = {
  starting: 'starting',
  live: 'running',
  idle: 'idle',
  releasing: 'starting',
  held: 'held',
}

/** The agents' processes; what is held comes first, since it waits for a person. */
export function Workers() {
  const loaded = useTopic('workers', (state) => state.loaded)
  const workers = useTopic('workers', (state) => state.value)
  const [asking, setAsking] = useState<{ worker: WorkerView; action: WorkerAction } | null>(null)
  const { health } = strings
  const sorted = [...workers].sort(
    (a, b) => Number(b.state === 'held') - Number(a.state === 'held') || b.sinceMs - a.sinceMs,
  )
  return (
    <Section title={health.workers} about={health.workersText}>
      {loaded && workers.length === 0 && <p className={styles.small}>{health.noWorkers}</p>}
      {sorted.length > 0 && (
        <Rows>
          {sorted.map((worker) => (
            <WorkerRow key={worker.workerId} worker={worker} onAsk={(action) => setAsking({ worker, action })} />
          ))}
        </Rows>
      )}
      {asking !== null && <WorkerDialog {...asking} onClose={() => setAsking(null)} />}
    </Section>
  )
}

function WorkerRow({ worker, onAsk }: { worker: WorkerView; onAsk: (action: WorkerAction) => void }) {
  const nowMs = useNow()
  const { health } = strings
  const { product, state, pid, sessionId, sessionTitle, heldReason, sinceMs } = worker
  const name = workerName(worker)
  return (
    <Row data-state={state}>
      <RowHead>
        <StateMark showLabel state={MARKS[state]} label={health.state(state)} />
        <strong>{product}</strong>
        {sessionId === null ? (
          <span className={styles.small}>{health.noSession}</span>
        ) : (
          <a href={viewHash({ kind: 'session', sessionId })}>{sessionTitle ?? sessionId}</a>
        )}
        <span className={styles.small}>{pid === null ? health.noPid : health.pid(pid)}</span>
        <span className={styles.small}>{health.since(shortTime(sinceMs, nowMs))}</span>
        <RowActions>
          {state !== 'releasing' && (
            <Button aria-label={health.named(health.terminate, name)} onClick={() => onAsk('terminate')}>
              {health.terminate}
            </Button>
          )}
          {state === 'held' && (
            <Button aria-label={health.named(health.settle, name)} onClick={() => onAsk('settle')}>
              {health.settle}
            </Button>
          )}
        </RowActions>
      </RowHead>
      {heldReason !== null && <p className={styles.held}>{health.heldReason(heldReason)}</p>}
    </Row>
  )
}
