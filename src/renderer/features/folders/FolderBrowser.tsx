import { useState } from 'react'
import { strings } from '../../strings/index.ts'
import { PathText, Revealed, revealText } from '../../text/index.ts'
import { Button, Dialog, ErrorNote, IconButton, Switch } from '../../ui/index.ts'
import { NewFolder } from './NewFolder.tsx'
import { useFolders } from './useFolders.ts'
import styles from './folders.module.css'

export interface FolderBrowserProps {
  /** Where to begin; null: the home folder. */
  from: string | null
  onChoose: (path: string) => void
  onClose: () => void
}

/** Looks round the folders of the host's machine, where no dialog of the system can be shown. */
export function FolderBrowser({ from, onChoose, onClose }: FolderBrowserProps) {
  const [at, setAt] = useState(from)
  const [hidden, setHidden] = useState(false)
  const here = useFolders(at, hidden)
  const { path, parent } = here
  const { folders } = strings

  // What stands in the field may not exist yet: the first place that does, above it, is where the look round begins.
  const [arrived, setArrived] = useState(false)
  const searching = !arrived && at !== null && here.error?.code === 'folder_unreadable'
  if (searching) setAt(above(at))
  if (!arrived && path !== null) setArrived(true)

  return (
    <Dialog
      open
      title={folders.browserTitle}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{folders.cancel}</Button>
          <Button tone="primary" disabled={path === null} onClick={() => path !== null && onChoose(path)}>
            {folders.chooseThis}
          </Button>
        </>
      }
    >
      <div className={styles.where}>
        <IconButton label={folders.up} disabled={parent === null} onClick={() => parent !== null && setAt(parent)}>
          ↑
        </IconButton>
        <span aria-live="polite">
          {path !== null ? <PathText path={path} /> : here.error === null && folders.loading}
        </span>
      </div>
      {here.error !== null && !searching && (
        <>
          <ErrorNote error={here.error} onRetry={here.refresh} />
          {at !== null && <Button onClick={() => setAt(null)}>{folders.home}</Button>}
        </>
      )}
      {here.folders !== null && path !== null && (
        <div className={styles.list} role="group" aria-label={folders.inside(path)}>
          {here.folders.length === 0 && <p className={styles.quiet}>{folders.none}</p>}
          <ul>
            {here.folders.map((folder) => (
              <li key={folder.path}>
                <button
                  type="button"
                  className={styles.folder}
                  aria-label={folders.open(revealText(folder.name))}
                  onClick={() => setAt(folder.path)}
                >
                  <Revealed text={folder.name} />
                </button>
              </li>
            ))}
          </ul>
          {here.hasMore && (
            <Button tone="quiet" pending={here.loadingMore} onClick={here.loadMore}>
              {folders.more}
            </Button>
          )}
        </div>
      )}
      <div className={styles.below}>
        <Switch label={folders.hidden} checked={hidden} onChange={setHidden} />
        {path !== null && <NewFolder within={path} onCreated={setAt} />}
      </div>
    </Dialog>
  )
}

/** The folder around this one; null, the home folder, where none is left but the root. */
function above(path: string): string | null {
  const end = path.replace(/[/\\]+$/, '').search(/[/\\][^/\\]*$/)
  return end > 0 ? path.slice(0, end) : null
}
