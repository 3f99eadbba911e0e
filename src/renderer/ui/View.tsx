import { useId } from 'react'
import type { ReactNode, Ref } from 'react'
import styles from './View.module.css'

export interface ViewProps {
  title: string
  /** What the view is for, in a sentence. */
  about?: string
  /** Beside the title. */
  beside?: ReactNode
  /** What is done here, at the end of the title's line. */
  action?: ReactNode
  /** Given where the heading takes the focus. */
  headingRef?: Ref<HTMLHeadingElement>
  children: ReactNode
}

/** What fills the window beside the list of sessions. All views begin alike, are as wide, and scroll as a whole. */
export function View({ title, about, beside, action, headingRef, children }: ViewProps) {
  const id = useId()
  return (
    <section className={styles.view} aria-labelledby={id}>
      <header className={styles.head}>
        <div className={styles.line}>
          <h1 id={id} ref={headingRef} tabIndex={headingRef === undefined ? undefined : -1} className={styles.title}>
            {title}
          </h1>
          {beside}
          {action !== undefined && action !== false && <div className={styles.action}>{action}</div>}
        </div>
        {about !== undefined && <p className={styles.about}>{about}</p>}
      </header>
      {children}
    </section>
  )
}
