import { answerText } from '../../../shared/questions.ts'
import { Revealed } from '../../text/index.ts'
import { Outcome } from './Settled.tsx'
import type { SettledFacts } from './Settled.tsx'
import styles from './card.module.css'

export interface FoldedHeadProps {
  title: string
  settled: SettledFacts
  folded: boolean
  /** The argument: whether the whole card is to be shown. */
  onFold: (whole: boolean) => void
}

/** The head of a settled card, and all that is left of it while it is folded: what it was about, and what became of it. */
export function FoldedHead({ title, settled, folded, onFold }: FoldedHeadProps) {
  const words = wordsOf(settled)
  return (
    <div className={styles.line}>
      <h3 className={styles.lineTitle}>
        <button type="button" className={styles.toggle} aria-expanded={!folded} onClick={() => onFold(folded)}>
          <Revealed text={title} />
        </button>
      </h3>
      {folded && (
        <>
          {words !== null && (
            <span className={styles.words}>
              <Revealed text={words} />
            </span>
          )}
          <Outcome {...settled} />
        </>
      )}
    </div>
  )
}

/** What a person said with the answer, in one line. */
function wordsOf({ answer, form = null }: SettledFacts): string | null {
  if (answer === null) return null
  const words =
    'text' in answer ? answer.text : 'form' in answer ? answerText(answer.form, form) : (answer.reason ?? '')
  return words.trim() === '' ? null : words.replaceAll(/\s+/g, ' ')
}
