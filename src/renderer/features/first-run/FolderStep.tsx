import { strings } from '../../strings/index.ts'
import { Button, ErrorNote } from '../../ui/index.ts'
import { FolderPicker } from '../folders/index.ts'
import { clientOf } from './useFirstRun.ts'
import type { FirstRunState } from './useFirstRun.ts'
import styles from './first-run.module.css'

/** Codes that are about the folder alone. */
const FOLDER: ReadonlySet<string> = new Set(['work_dir_missing', 'root_invalid'])

/** The folder that the agent works in, and the start of the first session. */
export function FolderStep({ state, onBack }: { state: FirstRunState; onBack: () => void }) {
  const { folder, folderIsNew, error, pending } = state
  const { firstRun } = strings
  const folderError = error !== null && FOLDER.has(error.code) ? error.message : null
  return (
    <>
      <p className={styles.text}>{firstRun.folderText}</p>
      <FolderPicker value={folder} error={folderError} onChange={state.setFolder} />
      {folderIsNew && <p className={styles.small}>{firstRun.suggested}</p>}
      <p className={styles.summary}>{firstRun.summary(strings.agents.name(state.agentId), modelOf(state))}</p>
      {error !== null && folderError === null && <ErrorNote error={error} onRetry={() => state.start(folderIsNew)} />}
      <div className={styles.buttons}>
        <Button tone="primary" pending={pending} disabled={folder === ''} onClick={() => state.start(folderIsNew)}>
          {firstRun.start}
        </Button>
        {error?.code === 'work_dir_missing' && (
          <Button pending={pending} onClick={() => state.start(true)}>
            {firstRun.create}
          </Button>
        )}
        <Button tone="quiet" onClick={state.leave}>
          {firstRun.skip}
        </Button>
        <Button tone="quiet" onClick={onBack}>
          {firstRun.back}
        </Button>
      </div>
    </>
  )
}

function modelOf({ catalog, connectionId, agentId }: FirstRunState): string {
  const connection = catalog?.connections.find(({ id }) => id === connectionId)
  if (connection !== undefined) return connection.name
  return clientOf(agentId) === 'builtin' ? strings.firstRun.noModel : strings.firstRun.ownLogin
}
