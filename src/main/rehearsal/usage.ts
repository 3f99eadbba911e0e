/** Counts that are always the same for the same text. Four bytes a token is what English text comes to. */
const BYTES_PER_TOKEN = 4

export function countTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)
}
