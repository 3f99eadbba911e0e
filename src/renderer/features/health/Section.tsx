import { useId } from 'react'
import type { ReactNode } from 'react'
import styles from './health.module.css'

export interface SectionProps {
  title: string
  about: string
  action?: ReactNode
  children: ReactNode
}

export function Section({ title, about, action, children }: SectionProps) {
  const id = useId()
  return (
    <section className={styles.section} aria-labelledby={id}>
      <header className={styles.sectionHead}>
        <div>
          <h2 id={id}>{title}</h2>
          <p className={styles.small}>{about}</p>
        </div>
        {action}
      </header>
      {children}
    </section>
  )
}
