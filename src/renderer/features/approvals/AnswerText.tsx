import { useState } from 'react'
import { strings } from '../../strings/index.ts'
import { Button, TextField } from '../../ui/index.ts'
import styles from './card.module.css'

/** The answer to a question that is answered in words. */
export function AnswerText({ pending, onAnswer }: { pending: boolean; onAnswer: (text: string) => void }) {
  const [text, setText] = useState('')
  return (
    <form
      className={styles.reason}
      onSubmit={(event) => {
        event.preventDefault()
        if (text.trim() !== '') onAnswer(text.trim())
      }}
    >
      <TextField label={strings.approvals.answer} value={text} onChange={setText} />
      <div className={styles.buttons}>
        <Button tone="primary" type="submit" pending={pending} disabled={text.trim() === ''}>
          {strings.approvals.sendAnswer}
        </Button>
      </div>
    </form>
  )
}
