import { useEffect, useRef } from 'react'
import type { ReactNode } from 'react'
import type { AppError } from '../../../shared/errors.ts'
import { strings } from '../../strings/index.ts'
import { ErrorNote } from '../../ui/index.ts'
import styles from './settings.module.css'

export interface RowProps {
  label: string
  about: string
  setting: { error: AppError | null; frail: boolean }
  /** An address leads here. Then, if it is this one: it is brought into sight and gets the focus. */
  wanted?: boolean
  children: ReactNode
}

/** One setting: its name, what it is for, its control, and what went wrong with it. */
export function Row({ label, about, setting, wanted, children }: RowProps) {
  const ref = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (wanted !== true) return
    ref.current?.focus()
    ref.current?.scrollIntoView({ block: 'start' })
  }, [wanted])
  return (
    <div
      ref={ref}
      className={styles.row}
      {...(wanted === undefined ? {} : { role: 'group', 'aria-label': label, tabIndex: -1 })}
    >
      <div>
        <span aria-hidden="true">{label}</span>
        <p className={styles.about}>{about}</p>
      </div>
      <div className={styles.control}>{children}</div>
      <Trouble setting={setting} />
    </div>
  )
}

/** A setting that is on or off: its name, about and control are one. */
export function SwitchRow({ setting, children }: Pick<RowProps, 'setting' | 'children'>) {
  return (
    <div className={styles.row}>
      <div className={styles.whole}>{children}</div>
      <Trouble setting={setting} />
    </div>
  )
}

function Trouble({ setting }: Pick<RowProps, 'setting'>) {
  return (
    <>
      {setting.error !== null && (
        <div className={styles.whole}>
          <ErrorNote error={setting.error} />
        </div>
      )}
      {setting.frail && (
        <p className={styles.whole} role="status">
          {strings.settings.notDurable}
        </p>
      )}
    </>
  )
}
