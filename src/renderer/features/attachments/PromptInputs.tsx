import type { InputFacts } from '../../../shared/events.ts'
import { strings } from '../../strings/index.ts'
import { FileMark } from './FileMark.tsx'
import styles from './attachments.module.css'

/** What went along with a prompt that was sent. */
export function PromptInputs({ inputs }: { inputs: readonly InputFacts[] }) {
  if (inputs.length === 0) return null
  return (
    <ul className={styles.chips} aria-label={strings.attachments.list}>
      {inputs.map(({ inputId, kind, filename, bytes }) => (
        <li key={inputId} className={styles.chip} data-state="kept">
          <FileMark kind={kind} filename={filename} bytes={bytes} />
        </li>
      ))}
    </ul>
  )
}
