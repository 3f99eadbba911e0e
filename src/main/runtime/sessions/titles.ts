const TITLE_CHARS = 60

/** The first 60 characters of a prompt on one line; whole characters, and `…` where something was left out. */
export function titleFromPrompt(prompt: string): string {
  const line = oneLine(prompt)
  const characters = Array.from(line)
  return characters.length <= TITLE_CHARS
    ? line
    : `${characters
        .slice(0, TITLE_CHARS - 1)
        .join('')
        .trimEnd()}…`
}

/** A title as it is stored: one line of at most 200 characters. */
export function cleanTitle(title: string): string {
  return Array.from(oneLine(title)).slice(0, 200).join('').trimEnd()
}

function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
}
