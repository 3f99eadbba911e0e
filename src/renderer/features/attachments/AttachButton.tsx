import { useRef } from 'react'
import { strings } from '../../strings/index.ts'
import { IconButton } from '../../ui/index.ts'
import styles from './attachments.module.css'

/** Opens the system's dialog for files to go along with the prompt. */
export function AttachButton({ onFiles }: { onFiles: (files: readonly File[]) => void }) {
  const field = useRef<HTMLInputElement>(null)
  return (
    <>
      <IconButton label={strings.attachments.attach} onClick={() => field.current?.click()}>
        <svg viewBox="0 0 16 16" width="16" height="16" fill="none" stroke="currentColor" aria-hidden="true">
          <path d="m13 7.5-5.2 5.2a3 3 0 0 1-4.3-4.3l5.6-5.5a2 2 0 0 1 2.9 2.8L6.6 11a1 1 0 0 1-1.4-1.4l4.6-4.6" />
        </svg>
      </IconButton>
      <input
        ref={field}
        type="file"
        multiple
        className={styles.hidden}
        tabIndex={-1}
        aria-hidden="true"
        data-attach=""
        onChange={(event) => {
          onFiles([...(event.target.files ?? [])])
          // The same file can be chosen again.
          event.target.value = ''
        }}
      />
    </>
  )
}
