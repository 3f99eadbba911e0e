import styles from './StateMark.module.css'

export type MarkState = 'idle' | 'starting' | 'running' | 'waiting' | 'failed' | 'held' | 'recovering' | 'completed'

/** A state as a shape and a word: never as colour alone, and nothing pulses. `label` is said; the shape is shown. */
export function StateMark({
  state,
  label,
  showLabel = false,
}: {
  state: MarkState
  label: string
  showLabel?: boolean
}) {
  return (
    <span className={styles.mark} data-state={state} title={showLabel ? undefined : label}>
      <svg viewBox="0 0 12 12" aria-hidden="true" className={styles.shape}>
        {SHAPES[state]}
      </svg>
      <span className={styles.label} data-hidden={showLabel ? undefined : ''}>
        {label}
      </span>
    </span>
  )
}

const ring = <circle cx="6" cy="6" r="4" fill="none" stroke="currentColor" strokeWidth="1.5" />

const SHAPES: Readonly<Record<MarkState, React.ReactNode>> = {
  idle: ring,
  completed: <path d="M2.5 6.5 5 9l4.5-6" fill="none" stroke="currentColor" strokeWidth="1.75" />,
  starting: <path d="M6 2a4 4 0 1 1-4 4" fill="none" stroke="currentColor" strokeWidth="1.5" />,
  running: <circle cx="6" cy="6" r="4.5" fill="currentColor" />,
  waiting: (
    <>
      {ring}
      <circle cx="6" cy="6" r="1.75" fill="currentColor" />
    </>
  ),
  failed: <path d="m3 3 6 6M9 3 3 9" fill="none" stroke="currentColor" strokeWidth="1.75" />,
  held: <rect x="2" y="2" width="8" height="8" fill="currentColor" />,
  recovering: <path d="M6 2a4 4 0 1 1-4 4M2 2v4h4" fill="none" stroke="currentColor" strokeWidth="1.5" />,
}
