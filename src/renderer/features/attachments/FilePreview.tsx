import { useQuery } from '@tanstack/react-query'
import type { AppError } from '../../../shared/errors.ts'
import type { ArtifactFacts } from '../../../shared/events.ts'
import { useBridge } from '../../bridge/index.ts'
import { Verbatim } from '../../content/index.ts'
import { strings } from '../../strings/index.ts'
import { byteSize, revealText } from '../../text/index.ts'
import { Button, Dialog, ErrorNote } from '../../ui/index.ts'
import { MAX_SHOWN_BYTES, previewOf, readArtifact } from './read-artifact.ts'
import type { Preview } from './read-artifact.ts'
import { toBase64 } from './upload.ts'
import { useSaveFile } from './useSaveFile.ts'
import styles from './attachments.module.css'

export interface FilePreviewProps {
  sessionId: string
  file: ArtifactFacts
  onClose: () => void
}

/** A published file to look at: an image, or text as it is. What else there is can be saved. */
export function FilePreview({ sessionId, file, onClose }: FilePreviewProps) {
  const bridge = useBridge()
  const save = useSaveFile(sessionId, file)
  const kind = previewOf(file)
  const shows = kind === 'image' || (kind === 'text' && file.bytes <= MAX_SHOWN_BYTES)
  const { data, error, refetch } = useQuery<string, AppError>({
    queryKey: ['attachments.read', { sessionId, artifactId: file.artifactId }],
    queryFn: async ({ signal }) =>
      shownAs(kind, file.mediaType, await readArtifact(bridge, sessionId, file.artifactId, signal)),
    enabled: shows,
    gcTime: 0,
  })
  const { attachments } = strings
  return (
    <Dialog
      open
      size="wide"
      title={revealText(file.filename)}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{attachments.close}</Button>
          <Button tone="primary" pending={save.pending} onClick={save.start}>
            {attachments.save}
          </Button>
        </>
      }
    >
      {!shows && (
        <p className={styles.small}>
          {kind === 'none' ? attachments.noPreview : attachments.tooLargeToShow(byteSize(MAX_SHOWN_BYTES))}
        </p>
      )}
      {shows && data === undefined && error === null && <p className={styles.small}>{attachments.reading}</p>}
      {data !== undefined && kind === 'image' && <img className={styles.image} src={data} alt={file.filename} />}
      {data !== undefined && kind === 'text' && (
        <div className={styles.text}>
          <Verbatim text={data} />
        </div>
      )}
      {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {save.error !== null && <ErrorNote error={save.error} onRetry={save.start} />}
    </Dialog>
  )
}

/** The page takes no other image than one that it holds itself. */
function shownAs(kind: Preview, mediaType: string, bytes: Uint8Array): string {
  return kind === 'image' ? `data:${mediaType};base64,${toBase64(bytes)}` : new TextDecoder().decode(bytes)
}
