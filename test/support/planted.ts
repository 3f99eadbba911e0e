/** Every form in which a secret might stand in something that was written, sent or handed over. */

/** A part that is shorter stands in many a text. */
const SHORTEST_PART = 12

/** Byte sequences; one found is a leak. The halves find a secret that was cut in two on its way. */
export function formsOf(secret: string): readonly Buffer[] {
  const raw = Buffer.from(secret)
  const half = Math.floor(secret.length / 2)
  const texts = [
    secret,
    ...[secret.slice(0, half), secret.slice(half)].filter(({ length }) => length >= SHORTEST_PART),
    JSON.stringify(secret).slice(1, -1),
    JSON.stringify(JSON.stringify(secret)).slice(3, -3),
    encodeURIComponent(secret),
    [...raw].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
    [...raw].map((byte) => `\\u${byte.toString(16).padStart(4, '0')}`).join(''),
    raw.toString('hex'),
    raw.toString('hex').toUpperCase(),
    ...base64Forms(raw, 'base64'),
    ...base64Forms(raw, 'base64url'),
  ]
  const wide = Buffer.from(secret, 'utf16le')
  const swapped = Buffer.from(wide).swap16()
  return [...texts.map((text) => Buffer.from(text)), wide, swapped]
}

/** Inside of a longer text the secret may begin at each of three places of a group. */
function base64Forms(raw: Buffer, form: 'base64' | 'base64url'): string[] {
  return [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), raw])
      .toString(form)
      .replaceAll('=', '')
    // Without the characters that its neighbours have a share in.
    return text.slice(before === 0 ? 0 : before + 1, -2)
  })
}

/** What of the forms the text holds, as hex; nothing is well. */
export function leaksIn(content: Buffer | string, secret: string): readonly string[] {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  return formsOf(secret).flatMap((form) => (bytes.includes(form) ? [form.toString('latin1')] : []))
}
