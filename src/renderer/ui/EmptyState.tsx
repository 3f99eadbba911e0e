import type { ReactNode } from 'react'
import styles from './EmptyState.module.css'

/** Says what this place is for and offers the one next step. */
export function EmptyState({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className={styles.empty}>
      <h2 className={styles.title}>{title}</h2>
      {children !== undefined && <p className={styles.text}>{children}</p>}
      {action}
    </div>
  )
}
