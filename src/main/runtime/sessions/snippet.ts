const BEFORE = 60
const LENGTH = 200

/** One line of a text round its first match; `marks` are the ranges of `text` that matched, ascending. */
export interface Snippet {
  text: string
  marks: readonly (readonly [from: number, to: number])[]
}

/** The words of a query, as the index keeps them apart. */
export function wordsOf(query: string): string[] {
  return query.toWellFormed().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
}

/** `words` as they were searched: whole ones, and the last one as a beginning. */
export function snippetOf(text: string, words: readonly string[]): Snippet {
  const pattern = patternOf(words)
  const first = text.search(pattern)
  const start = wholeCharacter(text, Math.max(0, first - BEFORE))
  const end = wholeCharacter(text, Math.min(text.length, start + LENGTH))
  const head = start > 0 ? '…' : ''
  const cut = text.slice(start, end).replaceAll(/\s/gu, ' ')
  const marks = [...cut.matchAll(pattern)].map(({ index, 0: found }) => {
    const from = index + head.length
    return [from, from + found.length] as const
  })
  return { text: `${head}${cut}${end < text.length ? '…' : ''}`, marks }
}

function patternOf(words: readonly string[]): RegExp {
  // Letters, marks and digits alone: nothing to escape.
  const parts = words.map((word, index) => (index === words.length - 1 ? word : `${word}(?![\\p{L}\\p{N}])`))
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${parts.join('|')})`, 'giu')
}

/** Not between the two halves of a character. */
function wholeCharacter(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at
}
