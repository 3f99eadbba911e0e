import { useState } from 'react'
import { Markdown } from '../../content/index.ts'
import { strings } from '../../strings/index.ts'
import { Revealed } from '../../text/index.ts'
import { Button, Dialog, ErrorNote, TextArea } from '../../ui/index.ts'
import { useAside } from './useAside.ts'
import styles from './AsideDialog.module.css'

/** A question beside the conversation: answered by an agent of its own that changes nothing, and kept nowhere. */
export function AsideDialog({ sessionId, onClose }: { sessionId: string; onClose: () => void }) {
  const [question, setQuestion] = useState('')
  const aside = useAside(sessionId)
  const { aside: words, cancel } = strings.session
  const close = (): void => {
    aside.cancel()
    onClose()
  }
  const ask = (): void => {
    if (question.trim() !== '' && !aside.pending) aside.ask(question)
  }
  return (
    <Dialog
      open
      size="wide"
      title={words.title}
      description={words.about}
      onClose={close}
      actions={
        <>
          <Button onClick={close}>{words.close}</Button>
          {aside.pending ? (
            <Button onClick={aside.cancel}>{cancel}</Button>
          ) : (
            <Button tone="primary" disabled={question.trim() === ''} onClick={ask}>
              {words.ask}
            </Button>
          )}
        </>
      }
    >
      <TextArea
        label={words.question}
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- the dialog was opened to ask
        autoFocus
        value={question}
        onChange={setQuestion}
        onEnter={ask}
      />
      {aside.pending && (
        <p className={styles.note} role="status">
          {words.asking}
        </p>
      )}
      {aside.answer !== null && (
        <section className={styles.answer} aria-label={words.answer} tabIndex={0}>
          <Markdown text={aside.answer.text} />
          {aside.answer.outcome !== 'completed' && (
            <p className={styles.note} data-failed="">
              {words.outcomes[aside.answer.outcome]}
              {aside.answer.error !== null && (
                <>
                  {' '}
                  <Revealed text={aside.answer.error.message} /> <code>{aside.answer.error.code}</code>
                </>
              )}
            </p>
          )}
        </section>
      )}
      {aside.error !== null && <ErrorNote error={aside.error} onRetry={ask} />}
    </Dialog>
  )
}
