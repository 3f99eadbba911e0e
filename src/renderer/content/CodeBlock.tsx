import { memo } from 'react'
import { Revealed } from '../text/index.ts'
import styles from './content.module.css'

/** Lines are gathered to about this much: of text that grows, only the last piece is drawn again. */
const PIECE_CHARS = 2_000

/** A fence, as it was written: its marks fall away, whatever comes between is text. */
export const CodeBlock = memo(function CodeBlock({ fenced }: { fenced: string }) {
  return <Verbatim text={bodyOf(fenced)} />
})

/** Text of any length as it is, in pieces of whole lines. */
export const Verbatim = memo(function Verbatim({ text }: { text: string }) {
  return (
    <pre className={styles.output} tabIndex={0}>
      <code>
        {piecesOf(text).map((piece, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- a piece keeps its place for as long as text is appended
          <Piece key={index} text={piece} />
        ))}
      </code>
    </pre>
  )
})

const Piece = memo(function Piece({ text }: { text: string }) {
  return (
    <span className={styles.piece} data-lines={text.endsWith('\n') ? '' : undefined}>
      <Revealed text={text} />
    </span>
  )
})

/** What stands between the marks; a fence that is still open has no last one. */
export function bodyOf(fenced: string): string {
  const first = fenced.indexOf('\n')
  if (first < 0) return ''
  const [mark = ''] = /^(`+|~+)/.exec(fenced) ?? []
  const body = fenced.slice(first + 1)
  const end = body.trimEnd()
  const last = end.slice(end.lastIndexOf('\n') + 1).trim()
  const closes = mark !== '' && last.startsWith(mark) && last.replaceAll(mark.charAt(0), '') === ''
  return closes ? body.slice(0, end.lastIndexOf('\n') + 1) : body
}

/** Pieces of whole lines; one line that is longer than a piece is cut where it must be. Together they are the text. */
export function piecesOf(text: string): string[] {
  const pieces: string[] = []
  for (let from = 0; from < text.length;) {
    const end = endOfPiece(text, from)
    pieces.push(text.slice(from, end))
    from = end
  }
  return pieces
}

function endOfPiece(text: string, from: number): number {
  const limit = from + PIECE_CHARS
  // Text that may still grow ends in a piece that grows with it.
  if (limit >= text.length) return text.length
  const line = text.indexOf('\n', limit)
  if (line >= 0 && line < limit + PIECE_CHARS) return line + 1
  if (text.length < limit + PIECE_CHARS) return text.length
  const pairs = (text.codePointAt(limit - 1) ?? 0) > 0xffff
  return pairs ? limit + 1 : limit
}
