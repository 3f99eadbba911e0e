/**
 * A command as Codex shows it: its argument list, quoted and joined. Where that is a plain `bash -lc <script>`, the script
 * is what runs and what a person judges; everything else stays as it is shown.
 */

/** The shells whose language the risk rules read. */
const SHELLS: ReadonlySet<string> = new Set(['/bin/bash', '/usr/bin/bash'])
const FLAGS: ReadonlySet<string> = new Set(['-lc', '-c'])

/** Outside quotes only what no shell reads as anything but itself. */
const PLAIN = new Uint8Array(128)
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-./:@%=,')
  PLAIN[char.charCodeAt(0)] = 1
/** What a backslash takes the meaning of inside double quotes. */
const ESCAPED_IN_DOUBLE: ReadonlySet<string> = new Set(['$', '`', '"', '\\', '\n'])

/** `wrapper` is null where the command is shown whole. */
export function unwrapCommand(shown: string): { command: string; wrapper: string | null } {
  const words = splitQuoted(shown)
  if (words?.length !== 3) return { command: shown, wrapper: null }
  const [shell = '', flag = '', script = ''] = words
  if (!SHELLS.has(shell) || !FLAGS.has(flag)) return { command: shown, wrapper: null }
  return { command: script, wrapper: `${shell} ${flag}` }
}

/**
 * The words of a quoted argument list, or null when the text is anything but one: an unquoted character that a shell
 * would act on, an expansion inside double quotes, an open quote, a NUL. Guessing here would have a person approve another
 * command than the one that runs.
 */
export function splitQuoted(text: string): string[] | null {
  if (text.includes('\0')) return null
  const words: string[] = []
  let word: string | null = null
  let at = 0
  while (at < text.length) {
    const char = text.charAt(at)
    if (char === ' ') {
      if (word !== null) words.push(word)
      word = null
      at += 1
    } else if (char === "'") {
      const end = text.indexOf("'", at + 1)
      if (end === -1) return null
      word = (word ?? '') + text.slice(at + 1, end)
      at = end + 1
    } else if (char === '"') {
      const quoted = readDouble(text, at + 1)
      if (quoted === null) return null
      word = (word ?? '') + quoted.value
      at = quoted.next
    } else if (char === '\\') {
      const next = text.charAt(at + 1)
      if (next === '' || next === '\n') return null
      word = (word ?? '') + next
      at += 2
    } else {
      const from = at
      while (PLAIN[text.charCodeAt(at)] === 1) at += 1
      if (at === from) return null
      word = (word ?? '') + text.slice(from, at)
    }
  }
  if (word !== null) words.push(word)
  return words
}

function readDouble(text: string, from: number): { value: string; next: number } | null {
  let value = ''
  let at = from
  while (at < text.length) {
    const char = text.charAt(at)
    if (char === '"') return { value, next: at + 1 }
    if (char === '$' || char === '`') return null
    if (char === '\\') {
      const next = text.charAt(at + 1)
      if (next === '\n') return null
      value += ESCAPED_IN_DOUBLE.has(next) ? next : char + next
      at += 2
    } else {
      value += char
      at += 1
    }
  }
  return null
}
