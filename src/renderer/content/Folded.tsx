import { useState } from 'react'
import type { ReactNode } from 'react'
import { strings } from '../strings/index.ts'
import styles from './content.module.css'

/** However long a line is, no more of it than this is drawn. */
const MAX_CHARS = 200_000

export interface FoldedProps {
  text: string
  /** More lines than this are folded. */
  lines: number
  /** Which end stays in sight. */
  keep: 'start' | 'end'
  children: (shown: string) => ReactNode
}

/** Long text, folded to its first or last lines until it is asked for. */
export function Folded({ text, lines, keep, children }: FoldedProps) {
  const [open, setOpen] = useState(false)
  const { shown, hiddenLines } = fold(text, lines, keep)
  const whole = bound(text, keep)
  const button = (hiddenLines > 0 || open) && (
    <button type="button" className={styles.more} aria-expanded={open} onClick={() => setOpen(!open)}>
      {open ? strings.content.fold : strings.content.moreLines(hiddenLines)}
    </button>
  )
  return (
    <>
      {keep === 'end' && button}
      {children(open ? whole.text : shown)}
      {open && whole.cut > 0 && <p className={styles.cut}>{strings.content.cut(whole.cut)}</p>}
      {keep === 'start' && button}
    </>
  )
}

function fold(text: string, max: number, keep: 'start' | 'end'): { shown: string; hiddenLines: number } {
  const lines = text.split('\n')
  const hiddenLines = Math.max(0, lines.length - max)
  const kept = hiddenLines === 0 ? text : (keep === 'end' ? lines.slice(-max) : lines.slice(0, max)).join('\n')
  return { shown: bound(kept, keep).text, hiddenLines }
}

function bound(text: string, keep: 'start' | 'end'): { text: string; cut: number } {
  const cut = Math.max(0, text.length - MAX_CHARS)
  if (cut === 0) return { text, cut }
  return { text: keep === 'end' ? text.slice(cut) : text.slice(0, MAX_CHARS), cut }
}
