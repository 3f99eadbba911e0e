import { useState } from 'react'
import { useChange } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { Button, TextField } from '../../ui/index.ts'
import styles from './folders.module.css'

/** Makes a folder inside of the one that is shown. */
export function NewFolder({ within, onCreated }: { within: string; onCreated: (path: string) => void }) {
  const [naming, setNaming] = useState(false)
  const [name, setName] = useState('')
  const create = useChange('fs.createFolder')
  const { folders } = strings
  if (!naming) {
    return (
      <Button tone="quiet" onClick={() => setNaming(true)}>
        {folders.newFolder}
      </Button>
    )
  }
  return (
    <form
      className={styles.row}
      onSubmit={(event) => {
        event.preventDefault()
        if (name.trim() === '') return
        const path = `${within.replace(/\/+$/, '')}/${name.trim()}`
        create.mutate(
          { path },
          {
            onSuccess: (made) => {
              setNaming(false)
              setName('')
              onCreated(made.path)
            },
          },
        )
      }}
    >
      <TextField
        label={folders.newFolderName}
        value={name}
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- the button that stood here was pressed to type a name
        autoFocus
        error={create.error?.message ?? null}
        onChange={setName}
      />
      <Button type="submit" pending={create.isPending} disabled={name.trim() === ''}>
        {folders.create}
      </Button>
    </form>
  )
}
