/** Whether a text has each word of a query somewhere, in any order and case. An empty query is in every text. */
export function hasWords(text: string, query: string): boolean {
  const within = text.toLowerCase()
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => within.includes(word))
}
