import { useId, useState } from 'react'
import type { ArtifactFacts } from '../../../shared/events.ts'
import { strings } from '../../strings/index.ts'
import { Button, ErrorNote } from '../../ui/index.ts'
import { FileMark } from './FileMark.tsx'
import { FilePreview } from './FilePreview.tsx'
import { useSaveFile } from './useSaveFile.ts'
import styles from './attachments.module.css'

export interface PublishedFilesProps {
  sessionId: string
  files: readonly ArtifactFacts[]
}

/** What the agent made for the person in this turn: to look at, and to keep. */
export function PublishedFiles({ sessionId, files }: PublishedFilesProps) {
  const id = useId()
  if (files.length === 0) return null
  return (
    <section className={styles.published} aria-labelledby={id}>
      <h3 id={id}>{strings.attachments.published}</h3>
      <ul className={styles.files}>
        {files.map((file) => (
          <PublishedFile key={file.artifactId} sessionId={sessionId} file={file} />
        ))}
      </ul>
    </section>
  )
}

function PublishedFile({ sessionId, file }: { sessionId: string; file: ArtifactFacts }) {
  const [shown, setShown] = useState(false)
  const save = useSaveFile(sessionId, file)
  const { attachments } = strings
  return (
    <li className={styles.file}>
      <FileMark kind={file.kind} filename={file.filename} bytes={file.bytes} />
      <span className={styles.fileActions}>
        <Button aria-label={attachments.named(attachments.open, file.filename)} onClick={() => setShown(true)}>
          {attachments.open}
        </Button>
        <Button
          tone="quiet"
          pending={save.pending}
          aria-label={attachments.named(attachments.save, file.filename)}
          onClick={save.start}
        >
          {save.done ? attachments.saved : attachments.save}
        </Button>
      </span>
      {save.error !== null && <ErrorNote error={save.error} onRetry={save.start} />}
      {shown && <FilePreview sessionId={sessionId} file={file} onClose={() => setShown(false)} />}
    </li>
  )
}
