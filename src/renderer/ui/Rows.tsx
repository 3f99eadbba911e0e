import type { ComponentProps, ReactNode } from 'react'
import styles from './Rows.module.css'

/** A list of things that a person can do something about, a row each. */
export function Rows(props: ComponentProps<'ul'>) {
  return <ul {...props} className={styles.rows} />
}

export function Row(props: ComponentProps<'li'>) {
  return <li {...props} className={styles.row} />
}

/** The line that names the thing, with its `RowActions` last. */
export function RowHead({ children }: { children: ReactNode }) {
  return <div className={styles.head}>{children}</div>
}

export function RowActions({ children }: { children: ReactNode }) {
  return <span className={styles.actions}>{children}</span>
}

/** What else is to be known of it, in small print. */
export function Facts({ children }: { children: ReactNode }) {
  return <p className={styles.facts}>{children}</p>
}
