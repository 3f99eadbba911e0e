import Anser from 'anser'

/** A stretch of a command's output in one style. Colours are names of our tokens, never values. */
export interface AnsiSpan {
  text: string
  color: AnsiColor | null
  bold: boolean
  dim: boolean
  underline: boolean
}

export type AnsiColor = 'black' | 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan' | 'white'

const COLOR = /^ansi-(?:bright-)?(black|red|green|yellow|blue|magenta|cyan|white)$/
/** Titles and links of the terminal (OSC), and what moves the cursor: all of it is dropped, nothing is obeyed. */
const OTHER_ESCAPES =
  // oxlint-disable-next-line no-control-regex -- escapes are what this is about
  /\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[PX^_][^\u001b]*\u001b\\|\u001b\[[0-9;?]*[A-HJKSTfhln-su]|\u001b[()#][0-9A-Za-z]|\u001b[=>78cDEHM]/g

/** Parses what a terminal would colour. A line that was overwritten by carriage returns shows its last state. */
export function parseAnsi(output: string): AnsiSpan[] {
  return Anser.ansiToJson(overwriteLines(output.replace(OTHER_ESCAPES, '')), {
    json: true,
    use_classes: true,
    remove_empty: true,
  }).map((entry) => ({
    text: entry.content,
    color: colorOf(entry.fg),
    bold: entry.decorations.includes('bold'),
    dim: entry.decorations.includes('dim'),
    underline: entry.decorations.includes('underline'),
  }))
}

/** The same without any style. */
export function plainOutput(output: string): string {
  return parseAnsi(output)
    .map((span) => span.text)
    .join('')
}

function colorOf(name: string | null): AnsiColor | null {
  const color = COLOR.exec(name ?? '')?.[1]
  return color === undefined ? null : (color as AnsiColor)
}

function overwriteLines(text: string): string {
  if (!text.includes('\r')) return text
  return text
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => line.slice(line.replace(/\r+$/, '').lastIndexOf('\r') + 1).replace(/\r+$/, ''))
    .join('\n')
}
