import type { ReactNode } from 'react'
import type { Risk } from '../../../shared/vocabulary.ts'
import { strings } from '../../strings/index.ts'
import styles from './card.module.css'

/** The risk class as a shape and a word. What is no command has none: its reason says enough. */
export function RiskMark({ risk }: { risk: Risk | null }) {
  if (risk === null) return null
  return (
    <span className={styles.risk} data-risk={risk}>
      <svg viewBox="0 0 12 12" aria-hidden="true" className={styles.shape}>
        {SHAPES[risk]}
      </svg>
      {strings.approvals.risk(risk)}
    </span>
  )
}

const stroke = { fill: 'none', stroke: 'currentColor', strokeWidth: 1.5 } as const

const SHAPES: Readonly<Record<Risk, ReactNode>> = {
  low: <circle cx="6" cy="6" r="4" {...stroke} />,
  medium: <path d="M6 1.5 10.5 6 6 10.5 1.5 6z" {...stroke} />,
  high: <path d="M6 1 11.5 11H.5z" fill="currentColor" />,
}
