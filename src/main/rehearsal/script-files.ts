/** Which file the script takes, and which line it adds. */
import { createHash } from 'node:crypto'

/** How a line of its own is written in a file of this kind; files of other kinds are left alone. */
const LINE_STYLES: readonly (readonly [endings: string, style: (text: string) => string])[] = [
  ['md markdown html htm xml vue svelte', (text) => `<!-- ${text} -->`],
  ['txt text rst adoc org log', (text) => text],
  ['py rb sh bash zsh yml yaml toml pl r conf cfg ini env tf', (text) => `# ${text}`],
  ['js mjs cjs ts mts cts jsx tsx go rs c h cc cpp hpp java kt swift cs php scala dart zig', (text) => `// ${text}`],
  ['css scss less', (text) => `/* ${text} */`],
  ['sql lua hs', (text) => `-- ${text}`],
]
const STYLES = new Map(LINE_STYLES.flatMap(([endings, style]) => endings.split(' ').map((ending) => [ending, style])))
const PLAIN_NAMES = new Set(['readme', 'license', 'licence', 'notes', 'todo', 'changelog', 'authors', 'contributing'])

/** The first regular text file of a listing, one name a line; null: none. Folders end with `/`, links with `@`. */
export function textFileIn(listing: string): string | null {
  const names = listing.split('\n').filter((name) => /^[^.[(].*[^/@]$/.test(name))
  return names.find((name) => styleOf(name) !== null) ?? null
}

function styleOf(name: string): ((text: string) => string) | null {
  const base = name.slice(name.lastIndexOf('/') + 1).toLowerCase()
  const dot = base.lastIndexOf('.')
  if (dot <= 0) return PLAIN_NAMES.has(base) ? (text) => text : null
  return STYLES.get(base.slice(dot + 1)) ?? null
}

/** The added line: a fact about the content, so that it differs from file to file and never by chance. */
export function markerFor(path: string, content: string): string {
  const own = withoutNote(content)
  const lines = own === '' ? 0 : own.replace(/\n$/, '').split('\n').length
  const digest = createHash('sha256').update(own).digest('hex').slice(0, 8)
  const text = `Rehearsed on ${lines} ${lines === 1 ? 'line' : 'lines'}, sha256 ${digest}.`
  return styleOf(path)?.(text) ?? text
}

/** What the read tool adds below a file that it showed in part. */
function withoutNote(content: string): string {
  return content.replace(/\n?\[(?:There are more lines|Cut at 256 KiB)[^\n]*\]$/, '')
}

export interface Passage {
  text: string
  newline: '\n' | '\r\n'
}

/**
 * The first line that is not empty, with as many lines below it as it takes to occur once: an edit of a passage that
 * occurs twice is refused. Null: every line is empty.
 */
export function passageOf(content: string): Passage | null {
  const own = withoutNote(content)
  const lines = own.split('\n')
  const first = lines.findIndex((line) => line.trim() !== '')
  if (first === -1) return null
  const newline = lines[first]?.endsWith('\r') === true ? '\r\n' : '\n'
  for (let end = first + 1; end <= lines.length; end += 1) {
    const text = lines.slice(first, end).join('\n').replace(/\r$/, '')
    if (own.indexOf(text) === own.lastIndexOf(text)) return { text, newline }
  }
  return null
}
