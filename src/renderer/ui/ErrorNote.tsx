import { useState } from 'react'
import type { AppError } from '../../shared/errors.ts'
import { strings } from '../strings/index.ts'
import { Button } from './Button.tsx'
import styles from './ErrorNote.module.css'

export interface ErrorNoteProps {
  error: AppError
  /** Offered only where the same call may succeed later. */
  onRetry?: () => void
}

/** Stands where the action was: what happened, what to do, the code in small print. */
export function ErrorNote({ error, onRetry }: ErrorNoteProps) {
  const [copied, setCopied] = useState(false)
  const details = [error.code, error.detail].filter((part) => part !== undefined).join(': ')
  return (
    <div className={styles.note} role="alert">
      <p>{error.message}</p>
      <div className={styles.small}>
        <code>{details}</code>
        <Button
          tone="quiet"
          onClick={() => {
            void navigator.clipboard.writeText(`${error.message}\n${details}`).then(() => setCopied(true))
          }}
        >
          {copied ? strings.errors.copied : strings.errors.copyDetails}
        </Button>
        {error.retryable && onRetry !== undefined && <Button onClick={onRetry}>{strings.errors.retry}</Button>}
      </div>
    </div>
  )
}
