/** Shorter text is no secret: to blank it would blank half of every line. */
const MIN_SECRET_LENGTH = 4
/** Fewer characters of a base64 text tell too little, and stand in ordinary text by chance. */
const MIN_BASE64_LENGTH = 8

/** How `value` may look on its way out: as it is, JSON-escaped, percent-encoded, or inside a base64 text. */
export function secretForms(value: string): ReadonlySet<string> {
  if (value.length < MIN_SECRET_LENGTH) return new Set()
  const json = JSON.stringify(value).slice(1, -1)
  const percent = percentEncoded(value)
  return new Set([
    value,
    json,
    // A string of JSON within JSON, as tool output often is.
    JSON.stringify(json).slice(1, -1),
    json.replaceAll('/', String.raw`\/`),
    percent,
    percent.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase()),
    percent.replaceAll('%20', '+'),
    ...base64Forms(value),
  ])
}

/** Stricter than `encodeURIComponent`, and total: a lone surrogate is encoded as the replacement character. */
function percentEncoded(value: string): string {
  return encodeURIComponent(value.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/**
 * Encoded on its own, and the part of it that is the same wherever the value begins within a longer encoded text
 * (`user:key` of a basic login): three alignments, in both alphabets.
 */
function base64Forms(value: string): readonly string[] {
  const bytes = Buffer.from(value)
  const whole = bytes.toString('base64')
  const forms = [whole, whole.replaceAll('=', '')]
  for (let offset = 0; offset < 3; offset++) {
    const shifted = Buffer.concat([Buffer.alloc(offset), bytes])
    const firstOwn = Math.ceil((offset * 8) / 6)
    const lastOwn = Math.floor((shifted.length * 8) / 6)
    forms.push(shifted.toString('base64').slice(firstOwn, lastOwn))
  }
  const urlSafe = forms.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))
  return [...forms, ...urlSafe].filter((form) => form.length >= MIN_BASE64_LENGTH)
}
