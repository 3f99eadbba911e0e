import { useId } from 'react'
import type { RunView } from '../../../shared/projection/index.ts'
import { strings } from '../../strings/index.ts'
import { Revealed } from '../../text/index.ts'
import styles from './Turn.module.css'

const SIGNS = { pending: '○', in_progress: '◐', completed: '✓' } as const

export function PlanList({ entries }: { entries: RunView['plan'] }) {
  const id = useId()
  return (
    <section className={styles.plan} aria-labelledby={id}>
      <h3 id={id}>{strings.session.plan}</h3>
      <ol>
        {entries.map((entry, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- a plan is replaced whole, and its entries have no id
          <li key={index} data-status={entry.status}>
            <span aria-hidden="true">{SIGNS[entry.status]}</span>
            <Revealed text={entry.content} />
            <span>{strings.session.planStates[entry.status]}</span>
          </li>
        ))}
      </ol>
    </section>
  )
}
