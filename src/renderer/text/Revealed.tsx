import { memo } from 'react'
import { revealParts } from '../../shared/reveal.ts'
import styles from './Revealed.module.css'

/** Text of an agent in which nothing hides: what changes direction or has no width is shown by its name. */
export const Revealed = memo(function Revealed({ text }: { text: string }) {
  return (
    <bdi dir="ltr">
      {revealParts(text).map((part, index) =>
        part.hidden ? (
          // oxlint-disable-next-line react/no-array-index-key -- parts of one immutable text have no other identity
          <mark key={index} className={styles.hidden}>
            {part.text}
          </mark>
        ) : (
          part.text
        ),
      )}
    </bdi>
  )
})
