import { useState } from 'react'
import { useCall, useChange } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { revealText, shortenMiddle } from '../../text/index.ts'
import { Button, ErrorNote, TextField } from '../../ui/index.ts'
import { FolderBrowser } from './FolderBrowser.tsx'
import styles from './folders.module.css'

const RECENT_SHOWN = 5

export interface FolderPickerProps {
  /** The whole path; empty where none was chosen yet. */
  value: string
  label?: string
  /** Stands under the field. */
  error?: string | null
  onChange: (path: string) => void
}

/** A field for a folder, with what was used lately and a way to look for another. */
export function FolderPicker({ value, label = strings.folders.label, error = null, onChange }: FolderPickerProps) {
  const [browsing, setBrowsing] = useState(false)
  const info = useCall('system.info', {})
  const recent = useCall('projects.recent', {})
  const pick = useChange('system.pickFolder')
  const shown = (recent.data?.projects ?? []).filter(({ exists, path }) => exists && path !== value)

  const choose = (): void => {
    if (info.data?.canPickFolder !== true) return setBrowsing(true)
    pick.mutate({}, { onSuccess: ({ path }) => path !== null && onChange(path) })
  }

  return (
    <div className={styles.picker}>
      <div className={styles.row}>
        <TextField
          label={label}
          value={value}
          mono
          error={error}
          description={strings.folders.description}
          onChange={onChange}
        />
        <Button pending={pick.isPending} aria-label={strings.folders.chooseLabel} onClick={choose}>
          {strings.folders.choose}
        </Button>
      </div>
      {pick.error !== null && <ErrorNote error={pick.error} onRetry={choose} />}
      {shown.length > 0 && (
        <div className={styles.recent}>
          <span className={styles.quiet}>{strings.folders.recent}</span>
          <ul>
            {shown.slice(0, RECENT_SHOWN).map(({ path }) => (
              <li key={path}>
                <button
                  type="button"
                  className={styles.path}
                  title={revealText(path)}
                  aria-label={strings.folders.use(path)}
                  onClick={() => onChange(path)}
                >
                  {revealText(shortenMiddle(path, 48))}
                </button>
              </li>
            ))}
          </ul>
        </div>
      )}
      {browsing && (
        <FolderBrowser
          from={value === '' ? null : value}
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
