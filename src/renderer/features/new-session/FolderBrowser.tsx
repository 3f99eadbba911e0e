import { useState } from 'react'
import type { FormEvent } from 'react'
import { useCall, useChange } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { PathText, Revealed } from '../../text/index.ts'
import { Button, Dialog, ErrorNote, Switch, TextField } from '../../ui/index.ts'
import { useFolderPages } from './useFolderPages.ts'
import styles from './NewSession.module.css'

export interface FolderBrowserProps {
  /** Null: the home folder. */
  start: string | null
  onChoose: (path: string) => void
  onClose: () => void
}

/** Folders of the host's machine, for a window that cannot show its system's dialog. */
export function FolderBrowser({ start, onChoose, onClose }: FolderBrowserProps) {
  const [path, setPath] = useState(start)
  const [hidden, setHidden] = useState(false)
  const { page, folders, error, next, more, loading, refresh } = useFolderPages(path, hidden)
  return (
    <Dialog
      open
      title={strings.newSession.choose}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{strings.newSession.cancel}</Button>
          <Button tone="primary" disabled={page === null} onClick={() => page !== null && onChoose(page.path)}>
            {strings.newSession.chooseThis}
          </Button>
        </>
      }
    >
      <div className={styles.here} aria-label={strings.newSession.currentFolder} role="group">
        <Button
          disabled={page === null || page.parent === null}
          onClick={() => page !== null && page.parent !== null && setPath(page.parent)}
        >
          {strings.newSession.up}
        </Button>
        {page !== null && <PathText path={page.path} max={52} />}
      </div>
      {error !== null && (
        <>
          <ErrorNote error={error} onRetry={refresh} />
          <Button onClick={() => setPath(null)}>~</Button>
        </>
      )}
      <ul className={styles.folders} aria-busy={loading}>
        {folders.map((folder) => (
          <li key={folder.path}>
            <button type="button" className={styles.folderRow} onClick={() => setPath(folder.path)}>
              <Revealed text={folder.name} />
            </button>
          </li>
        ))}
        {!loading && folders.length === 0 && error === null && (
          <li className={styles.why}>{strings.newSession.emptyFolder}</li>
        )}
        {next !== null && (
          <li>
            <Button tone="quiet" pending={loading} onClick={more}>
              {strings.newSession.moreFolders}
            </Button>
          </li>
        )}
      </ul>
      <Switch label={strings.newSession.hidden} checked={hidden} onChange={setHidden} />
      {page !== null && <NewFolder within={page.path} onMade={setPath} />}
    </Dialog>
  )
}

function NewFolder({ within, onMade }: { within: string; onMade: (path: string) => void }) {
  const info = useCall('system.info', {})
  const create = useChange('fs.createFolder')
  const [name, setName] = useState('')
  const separator = info.data?.platform === 'win32' ? '\\' : '/'
  const onSubmit = (event: FormEvent): void => {
    // Not the form behind the dialog.
    event.preventDefault()
    event.stopPropagation()
    if (name.trim() === '') return
    const path = `${within.endsWith(separator) ? within : within + separator}${name.trim()}`
    create.mutate(
      { path },
      {
        onSuccess: (made) => {
          setName('')
          onMade(made.path)
        },
      },
    )
  }
  return (
    <form className={styles.folder} onSubmit={onSubmit}>
      <TextField label={strings.newSession.newFolder} value={name} onChange={setName} />
      <Button type="submit" pending={create.isPending} disabled={name.trim() === ''}>
        {strings.newSession.createFolder}
      </Button>
      {create.error !== null && <ErrorNote error={create.error} />}
    </form>
  )
}
