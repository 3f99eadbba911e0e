import { useState } from 'react'
import type { SessionView } from '../../../shared/bridge/index.ts'
import { useChange } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { Revealed } from '../../text/index.ts'
import { Button, ErrorNote, IconButton, TextField } from '../../ui/index.ts'
import { titleOf } from '../sessions/index.ts'
import styles from './SessionHeader.module.css'

export interface SessionTitleProps {
  session: SessionView
  renaming: boolean
  onRenaming: (renaming: boolean) => void
}

/** The session's name, changed where it stands. */
export function SessionTitle({ session, renaming, onRenaming }: SessionTitleProps) {
  if (renaming) return <TitleField session={session} onDone={() => onRenaming(false)} />
  return (
    <>
      <h1 className={styles.title}>
        <Revealed text={titleOf(session)} />
      </h1>
      <IconButton label={strings.session.rename} onClick={() => onRenaming(true)}>
        <svg viewBox="0 0 16 16" width="14" height="14" fill="none" stroke="currentColor" aria-hidden="true">
          <path d="m3 13 .7-3 7-7 2.3 2.3-7 7z" strokeLinejoin="round" />
        </svg>
      </IconButton>
    </>
  )
}

function TitleField({ session, onDone }: { session: SessionView; onDone: () => void }) {
  const [title, setTitle] = useState(session.title)
  const rename = useChange('sessions.rename')
  const given = title.trim()
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- Esc is for the field and both buttons
    <form
      className={styles.edit}
      onSubmit={(event) => {
        event.preventDefault()
        if (given === '' || given === session.title) return onDone()
        rename.mutate({ sessionId: session.id, title: given }, { onSuccess: onDone })
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        event.preventDefault()
        onDone()
      }}
    >
      <TextField
        label={strings.session.renameTitle}
        labelHidden
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- renaming was asked for
        autoFocus
        value={title}
        onChange={setTitle}
      />
      <Button type="submit" tone="primary" pending={rename.isPending}>
        {strings.session.save}
      </Button>
      <Button onClick={onDone}>{strings.session.cancel}</Button>
      {rename.error !== null && <ErrorNote error={rename.error} />}
    </form>
  )
}
