/**
 * Characters that change how text reads without being seen: direction overrides, zero-width ones, tags, variation
 * selectors, lookalike spaces, and control codes other than tab and line break.
 */
const HIDDEN =
  // oxlint-disable-next-line no-misleading-character-class -- the hidden ones are what is looked for
  /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|[\u00a0\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2000-\u200a\u202f\u205f\u2065\u3000\u3164\ufe00-\ufe0f\uffa0]|[\u{e0000}-\u{e0fff}]/u

export interface RevealedPart {
  text: string
  /** The part is one hidden character; `text` is its name. */
  hidden: boolean
}

/** Splits text at its hidden characters; each of them is named, such as `U+202E`. */
export function revealParts(text: string): RevealedPart[] {
  if (!HIDDEN.test(text)) return [{ text, hidden: false }]
  const parts: RevealedPart[] = []
  let plain = ''
  for (const char of text) {
    if (HIDDEN.test(char)) {
      if (plain !== '') parts.push({ text: plain, hidden: false })
      plain = ''
      parts.push({ text: nameOf(char), hidden: true })
    } else {
      plain += char
    }
  }
  if (plain !== '') parts.push({ text: plain, hidden: false })
  return parts
}

/** The same as one string, for titles and labels. */
export function revealText(text: string): string {
  return revealParts(text)
    .map((part) => (part.hidden ? `[${part.text}]` : part.text))
    .join('')
}

function nameOf(char: string): string {
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

/** The same text of JSON, with each hidden character as the escape that means it. */
export function escapeHidden(json: string): string {
  if (!HIDDEN.test(json)) return json
  return Array.from(json, (char) => (HIDDEN.test(char) ? escapeOf(char) : char)).join('')
}

const escapeOf = (char: string): string =>
  Array.from({ length: char.length }, (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')
