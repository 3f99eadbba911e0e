import { useCall } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { ErrorNote } from '../../ui/index.ts'
import { FileMark } from './FileMark.tsx'
import { kindOf } from './upload.ts'
import { MAX_INPUTS } from './useUploads.ts'
import type { Upload, Uploads } from './useUploads.ts'
import styles from './attachments.module.css'

export interface DraftInputsProps {
  sessionId: string
  /** In the order of the prompt. */
  inputIds: readonly string[]
  uploads?: Uploads
  /** Absent: they can only be looked at. */
  onRemove?: (inputId: string) => void
}

/** What goes along with the prompt: kept files first, then those on their way. */
export function DraftInputs({ sessionId, inputIds, uploads, onRemove }: DraftInputsProps) {
  const pending = uploads?.pending ?? []
  const failed = pending.filter(({ error }) => error !== null)
  if (inputIds.length === 0 && pending.length === 0 && uploads?.tooMany !== true) return null
  return (
    <div className={styles.draft}>
      <ul className={styles.chips} aria-label={strings.attachments.list}>
        {inputIds.map((inputId) => (
          <KeptInput
            key={inputId}
            sessionId={sessionId}
            inputId={inputId}
            {...(onRemove === undefined ? {} : { onRemove })}
          />
        ))}
        {pending.map((upload) => (
          <UploadChip key={upload.id} upload={upload} onRemove={() => uploads?.remove(upload.id)} />
        ))}
      </ul>
      {failed.map(
        ({ id, error }) => error !== null && <ErrorNote key={id} error={error} onRetry={() => uploads?.retry(id)} />,
      )}
      {uploads?.tooMany === true && (
        <p className={styles.small} role="status">
          {strings.attachments.tooMany(MAX_INPUTS)}
        </p>
      )}
    </div>
  )
}

function KeptInput({
  sessionId,
  inputId,
  onRemove,
}: Pick<DraftInputsProps, 'sessionId' | 'onRemove'> & { inputId: string }) {
  const { data } = useCall('inputs.get', { sessionId, inputId })
  const gone = data?.status === 'deleted' || data?.status === 'missing'
  const name = data?.filename ?? strings.attachments.kinds.file
  return (
    <li className={styles.chip} data-state={gone ? 'gone' : 'kept'}>
      <FileMark kind={data?.kind ?? 'file'} filename={name} bytes={data?.bytes ?? null} />
      {gone && <span className={styles.small}>{strings.attachments.gone}</span>}
      {onRemove !== undefined && <RemoveButton name={name} onRemove={() => onRemove(inputId)} />}
    </li>
  )
}

function UploadChip({ upload, onRemove }: { upload: Upload; onRemove: () => void }) {
  const { file, sent, error } = upload
  const percent = file.size === 0 ? 0 : Math.floor((sent / file.size) * 100)
  return (
    <li className={styles.chip} data-state={error === null ? 'sending' : 'failed'}>
      <FileMark kind={kindOf(file.type)} filename={file.name} bytes={file.size} />
      {error === null && (
        <progress
          className={styles.progress}
          max={100}
          value={percent}
          aria-label={strings.attachments.progress(file.name)}
        />
      )}
      <RemoveButton name={file.name} onRemove={onRemove} />
    </li>
  )
}

function RemoveButton({ name, onRemove }: { name: string; onRemove: () => void }) {
  return (
    <button
      type="button"
      className={styles.remove}
      aria-label={strings.attachments.named(strings.attachments.remove, name)}
      onClick={onRemove}
    >
      <svg viewBox="0 0 12 12" aria-hidden="true">
        <path d="m3 3 6 6M9 3 3 9" fill="none" stroke="currentColor" strokeWidth="1.25" />
      </svg>
    </button>
  )
}
