/**
 * A command as a person types it, cut into words the way a shell cuts them: quotes and backslashes, and nothing else. No
 * variable, pattern or operator means anything, since no shell runs it. Null: a quote is open, or there is no word.
 */
export function splitCommandLine(text: string): [command: string, ...args: string[]] | null {
  const words: string[] = []
  let word: string | null = null
  let quote: '"' | "'" | null = null
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at)
    if (quote === "'") {
      if (char === "'") quote = null
      else word += char
    } else if (char === '\\') {
      const next = text.charAt(at + 1)
      if (next === '') return null
      // Between double quotes a backslash only hides what would end or begin something there.
      word = (word ?? '') + (quote === '"' && !/["\\$`]/.test(next) ? `\\${next}` : next)
      at += 1
    } else if (quote === '"') {
      if (char === '"') quote = null
      else word += char
    } else if (char === '"' || char === "'") {
      quote = char
      word ??= ''
    } else if (/\s/.test(char)) {
      if (word !== null) words.push(word)
      word = null
    } else word = (word ?? '') + char
  }
  if (quote !== null) return null
  if (word !== null) words.push(word)
  const [command, ...args] = words
  return command === undefined || command === '' ? null : [command, ...args]
}

/** The same words again, quoted where they have to be. */
export function joinCommandLine(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`))
    .join(' ')
}
