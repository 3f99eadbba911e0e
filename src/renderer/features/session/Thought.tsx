import { memo, useState } from 'react'
import { Markdown } from '../../content/index.ts'
import { strings } from '../../strings/index.ts'
import { Revealed } from '../../text/index.ts'
import styles from './Turn.module.css'

const GIST_CHARS = 100

/** What the agent thought, folded: a line of it, the whole on request. */
export const Thought = memo(function Thought({ text }: { text: string }) {
  const [open, setOpen] = useState(false)
  return (
    <details className={styles.thought} open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span className={styles.kind}>{strings.session.thought}</span>
        {!open && (
          <span className={styles.gist}>
            <Revealed text={gistOf(text)} />
          </span>
        )}
      </summary>
      {open && <Markdown text={text} />}
    </details>
  )
})

function gistOf(text: string): string {
  const line =
    text
      .slice(0, 2_000)
      .split('\n')
      .find((line) => line.trim() !== '') ?? ''
  return line
    .replace(/[*_`#]/g, '')
    .trim()
    .slice(0, GIST_CHARS)
}
