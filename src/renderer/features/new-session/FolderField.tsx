import { useState } from 'react'
import { useCall, useChange } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { baseName, PathText } from '../../text/index.ts'
import { Button, ErrorNote, TextField } from '../../ui/index.ts'
import { FolderBrowser } from './FolderBrowser.tsx'
import styles from './NewSession.module.css'

const SHOWN_RECENT = 6

export interface FolderFieldProps {
  /** An absolute path; empty while none is chosen. */
  value: string
  error?: string | null
  onChange: (path: string) => void
}

/** A project folder: typed, one of those used before, or picked. */
export function FolderField({ value, error = null, onChange }: FolderFieldProps) {
  const info = useCall('system.info', {})
  const recent = useCall('projects.recent', {})
  const pick = useChange('system.pickFolder')
  const [browsing, setBrowsing] = useState(false)
  const browse = (): void => {
    if (info.data?.canPickFolder !== true) return setBrowsing(true)
    pick.mutate({}, { onSuccess: ({ path }) => path !== null && onChange(path) })
  }
  const projects = (recent.data?.projects ?? []).slice(0, SHOWN_RECENT)
  return (
    <div className={styles.field}>
      <div className={styles.folder}>
        <TextField
          label={strings.newSession.folder}
          description={strings.newSession.folderHint}
          mono
          value={value}
          error={error}
          {...(info.data === undefined ? {} : { placeholder: info.data.suggestedWorkDir })}
          onChange={onChange}
        />
        <Button pending={pick.isPending} onClick={browse}>
          {strings.newSession.browse}
        </Button>
      </div>
      {pick.error !== null && <ErrorNote error={pick.error} onRetry={browse} />}
      {projects.length > 0 && (
        <div className={styles.recent} role="group" aria-label={strings.newSession.recent}>
          {projects.map((project) => (
            <button
              key={project.path}
              type="button"
              className={styles.chip}
              title={project.path}
              disabled={!project.exists}
              aria-pressed={project.path === value}
              onClick={() => onChange(project.path)}
            >
              {project.name === '' ? baseName(project.path) : project.name}
              {!project.exists && <span className={styles.why}>{strings.newSession.gone}</span>}
            </button>
          ))}
        </div>
      )}
      {value === '' && info.data !== undefined && (
        <p className={styles.suggestion}>
          <PathText path={info.data.suggestedWorkDir} />
          <CreateSuggested path={info.data.suggestedWorkDir} onCreated={onChange} />
        </p>
      )}
      {browsing && (
        <FolderBrowser
          start={value === '' ? null : value}
          onChoose={(path) => {
            setBrowsing(false)
            onChange(path)
          }}
          onClose={() => setBrowsing(false)}
        />
      )}
    </div>
  )
}

function CreateSuggested({ path, onCreated }: { path: string; onCreated: (path: string) => void }) {
  const create = useChange('fs.createFolder')
  return (
    <>
      <Button
        pending={create.isPending}
        onClick={() => create.mutate({ path }, { onSuccess: (made) => onCreated(made.path) })}
      >
        {strings.newSession.createIt}
      </Button>
      {create.error !== null && <ErrorNote error={create.error} />}
    </>
  )
}
