import { memo, useMemo, useState } from 'react'
import { strings } from '../strings/index.ts'
import { PathText, Revealed } from '../text/index.ts'
import { countChanges, diffLines, pairLines } from './diff-lines.ts'
import type { DiffLine } from './diff-lines.ts'
import styles from './content.module.css'

const FOLDED_LINES = 40

export interface DiffProps {
  path: string
  /** Null: the file is new. */
  oldText: string | null
  /** Null: the file is removed. */
  newText: string | null
  /** Paths below this folder are shown relative to it. */
  within?: string
  /** Every line from the start, as before an approval. */
  whole?: boolean
}

/** A change of one file, unified or side by side. Folded past 40 lines unless `whole`. */
export const Diff = memo(function Diff({ path, oldText, newText, within, whole = false }: DiffProps) {
  const [split, setSplit] = useState(false)
  const [open, setOpen] = useState(whole)
  const lines = useMemo(() => diffLines(oldText, newText), [oldText, newText])
  const { added, removed } = useMemo(() => countChanges(lines), [lines])
  const shown = open ? lines : lines.slice(0, FOLDED_LINES)
  const hidden = lines.length - shown.length
  const kind = oldText === null ? strings.content.newFile : newText === null ? strings.content.removedFile : null
  return (
    <figure className={styles.diff} aria-label={strings.content.diffOf(path)}>
      <figcaption className={styles.diffHead}>
        <PathText path={path} {...(within === undefined ? {} : { within })} />
        {kind !== null && <span className={styles.quiet}>{kind}</span>}
        <span className={styles.counts} aria-label={strings.content.changes(added, removed)}>
          <span data-kind="add">+{added}</span> <span data-kind="del">−{removed}</span>
        </span>
        <button type="button" className={styles.more} aria-pressed={split} onClick={() => setSplit(!split)}>
          {strings.content.sideBySide}
        </button>
      </figcaption>
      {whole ? (
        // Whoever asks for the whole shows it in a box of their own: a second one inside would hide its end.
        <Table lines={shown} split={split} />
      ) : (
        <div className={styles.scroll} tabIndex={0} role="group" aria-label={strings.content.changedLines}>
          <Table lines={shown} split={split} />
        </div>
      )}
      {(hidden > 0 || (open && !whole && lines.length > FOLDED_LINES)) && (
        <button type="button" className={styles.more} aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? strings.content.fold : strings.content.moreLines(hidden)}
        </button>
      )}
    </figure>
  )
})

function Table({ lines, split }: { lines: readonly DiffLine[]; split: boolean }) {
  return split ? <SplitTable lines={lines} /> : <UnifiedTable lines={lines} />
}

const SIGN = { add: '+', del: '−', same: ' ', gap: '' } as const

function UnifiedTable({ lines }: { lines: readonly DiffLine[] }) {
  return (
    <table className={styles.lines}>
      <tbody>
        {lines.map((line, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- lines of one immutable diff have no other identity
          <tr key={index} data-kind={line.kind}>
            <td className={styles.number}>{line.kind === 'gap' ? '⋯' : line.before}</td>
            <td className={styles.number}>{line.kind === 'gap' ? '' : line.after}</td>
            <td className={styles.sign}>{SIGN[line.kind]}</td>
            <td className={styles.code}>
              <Revealed text={line.text} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function SplitTable({ lines }: { lines: readonly DiffLine[] }) {
  const rows = useMemo(() => pairLines(lines), [lines])
  return (
    <table className={styles.lines} data-split="">
      <tbody>
        {rows.map(({ before, after }, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- rows of one immutable diff have no other identity
          <tr key={index}>
            <Side line={before} number={before?.before ?? null} />
            <Side line={after} number={after?.after ?? null} />
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Side({ line, number }: { line: DiffLine | null; number: number | null }) {
  const kind = line?.kind ?? 'none'
  return (
    <>
      <td className={styles.number} data-kind={kind}>
        {kind === 'gap' ? '⋯' : number}
      </td>
      <td className={styles.code} data-kind={kind}>
        {line !== null && (
          <>
            {kind === 'add' || kind === 'del' ? `${SIGN[kind]} ` : '  '}
            <Revealed text={line.text} />
          </>
        )}
      </td>
    </>
  )
}
