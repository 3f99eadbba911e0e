import type { InputView } from '../../../shared/bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { byteSize, Revealed, shortenMiddle } from '../../text/index.ts'
import styles from './attachments.module.css'

const NAME_CHARS = 40

export interface FileMarkProps {
  kind: InputView['kind']
  filename: string
  /** Null: not known. */
  bytes: number | null
}

/** What a file is, at a glance: its kind, its name and its size. */
export function FileMark({ kind, filename, bytes }: FileMarkProps) {
  return (
    <span className={styles.mark} title={filename}>
      <svg viewBox="0 0 16 16" className={styles.icon} role="img" aria-label={strings.attachments.kinds[kind]}>
        {ICONS[kind]}
      </svg>
      <span className={styles.name}>
        <Revealed text={shortenMiddle(filename, NAME_CHARS)} />
      </span>
      {bytes !== null && <span className={styles.size}>{byteSize(bytes)}</span>}
    </span>
  )
}

const stroke = { fill: 'none', stroke: 'currentColor', strokeLinejoin: 'round' } as const
const ICONS: Readonly<Record<InputView['kind'], React.ReactNode>> = {
  image: (
    <>
      <rect x="2" y="3" width="12" height="10" rx="1.5" {...stroke} />
      <path d="m3 12 3.5-4 2.5 2.5L11 8l3 3.5" {...stroke} />
    </>
  ),
  file: <path d="M4 2h5l3 3v9H4zM9 2v3h3" {...stroke} />,
  audio: (
    <path d="M6 12V4l7-1v8M6 12a2 1.5 0 1 1-4 0 2 1.5 0 0 1 4 0Zm7-1a2 1.5 0 1 1-4 0 2 1.5 0 0 1 4 0Z" {...stroke} />
  ),
  video: (
    <>
      <rect x="2" y="3.5" width="12" height="9" rx="1.5" {...stroke} />
      <path d="m7 6 3 2-3 2z" fill="currentColor" />
    </>
  ),
}
