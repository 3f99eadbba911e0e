import type { ReactNode, Ref } from 'react'
import styles from './ViewHead.module.css'

export interface ViewHeadProps {
  /** The heading's, by which the view is named. */
  id: string
  title: string
  /** What the view is for, in a sentence. */
  about?: string
  /** What is done here, at the end of the title's line. */
  action?: ReactNode
  /** Beside the title. */
  children?: ReactNode
  /** Given where the heading takes the focus. */
  headingRef?: Ref<HTMLHeadingElement>
}

/** The head of a view: all views begin alike. */
export function ViewHead({ id, title, about, action, children, headingRef }: ViewHeadProps) {
  return (
    <header className={styles.head}>
      <div className={styles.line}>
        <h1 id={id} ref={headingRef} tabIndex={headingRef === undefined ? undefined : -1} className={styles.title}>
          {title}
        </h1>
        {children}
        {action !== undefined && action !== false && <div className={styles.action}>{action}</div>}
      </div>
      {about !== undefined && <p className={styles.about}>{about}</p>}
    </header>
  )
}
