import { useEffect, useRef, useState } from 'react'
import type { DecisionView } from '../../../shared/bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { Button, TextField } from '../../ui/index.ts'
import styles from './card.module.css'

export interface DenyReasonProps {
  /** Null: how the reason reaches the agent is not known. */
  reaches: DecisionView['refusalReason'] | null
  pending: boolean
  onDeny: (reason: string) => void
  onBack: () => void
}

/** The field for the reason of a refusal; it says how the words reach this agent. */
export function DenyReason({ reaches, pending, onDeny, onBack }: DenyReasonProps) {
  const [reason, setReason] = useState('')
  const inputRef = useRef<HTMLInputElement>(null)
  useEffect(() => inputRef.current?.focus(), [])
  const said = reason.trim()
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- Escape goes one step back from any of its controls
    <form
      className={styles.reason}
      onSubmit={(event) => {
        event.preventDefault()
        if (said !== '') onDeny(said)
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        event.stopPropagation()
        onBack()
      }}
    >
      <TextField
        label={strings.approvals.reason}
        value={reason}
        inputRef={inputRef}
        {...(reaches === null ? {} : { description: strings.approvals.reasonReaches[reaches] })}
        onChange={(text) => setReason(text.slice(0, 2_000))}
      />
      <div className={styles.buttons}>
        <Button type="submit" pending={pending} disabled={said === ''}>
          {strings.approvals.sendDenial}
        </Button>
        <Button tone="quiet" onClick={onBack}>
          {strings.approvals.back}
        </Button>
      </div>
    </form>
  )
}
