import { memo, useMemo } from 'react'
import { Revealed } from '../text/index.ts'
import { parseAnsi } from './ansi.ts'
import { Folded } from './Folded.tsx'
import styles from './content.module.css'

const FOLDED_LINES = 40

/** What a command printed: its colours as ours, its other escapes dropped, folded past 40 lines. */
export const CommandOutput = memo(function CommandOutput({ text }: { text: string }) {
  return (
    <Folded text={text.replace(/\n+$/, '')} lines={FOLDED_LINES} keep="end">
      {(shown) => <AnsiText text={shown} />}
    </Folded>
  )
})

function AnsiText({ text }: { text: string }) {
  const spans = useMemo(() => parseAnsi(text), [text])
  return (
    <pre className={styles.output} tabIndex={0}>
      {spans.map((span, index) => (
        <span
          // oxlint-disable-next-line react/no-array-index-key -- spans of one immutable text have no other identity
          key={index}
          data-color={span.color ?? undefined}
          data-bold={span.bold ? '' : undefined}
          data-dim={span.dim ? '' : undefined}
          data-underline={span.underline ? '' : undefined}
        >
          <Revealed text={span.text} />
        </span>
      ))}
    </pre>
  )
}
