import { useId } from 'react'
import type { Ref } from 'react'
import { strings } from '../../strings/index.ts'
import { SlashCommands } from './SlashCommands.tsx'
import { useSlashCommands } from './useSlashCommands.ts'
import styles from './Composer.module.css'

const MAX_PROMPT_CHARS = 262_144

export interface PromptFieldProps {
  sessionId: string
  text: string
  placeholder: string
  describedBy: string | undefined
  fieldRef: Ref<HTMLTextAreaElement>
  onType: (text: string) => void
  onSend: () => void
  onFiles: (files: readonly File[]) => void
}

/** Where the prompt is written: Enter sends, Shift+Enter begins a line, a slash at the start offers the agent's commands. */
export function PromptField({ sessionId, text, placeholder, describedBy, fieldRef, ...on }: PromptFieldProps) {
  const listId = useId()
  const slash = useSlashCommands(sessionId, text, on.onType)
  const open = slash.shown.length > 0
  return (
    <div className={styles.promptBox}>
      {open && <SlashCommands id={listId} slash={slash} />}
      <textarea
        ref={fieldRef}
        className={styles.field}
        data-prompt=""
        aria-label={strings.session.prompt}
        aria-describedby={describedBy}
        aria-keyshortcuts="I"
        aria-controls={open ? listId : undefined}
        aria-activedescendant={open ? `${listId}-${slash.active}` : undefined}
        placeholder={placeholder}
        maxLength={MAX_PROMPT_CHARS}
        rows={2}
        value={text}
        onChange={(event) => on.onType(event.target.value)}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return
          if (slash.onKey(event.key)) return event.preventDefault()
          if (event.key !== 'Enter' || event.shiftKey) return
          event.preventDefault()
          on.onSend()
        }}
        onPaste={(event) => {
          const files = [...event.clipboardData.files]
          if (files.length === 0) return
          event.preventDefault()
          on.onFiles(files)
        }}
      />
    </div>
  )
}
