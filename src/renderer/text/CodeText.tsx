/** Words of the product's own that hold commands between backticks: the commands are shown as such. */
export function CodeText({ text }: { text: string }) {
  return text.split('`').map((part, index) =>
    // oxlint-disable-next-line react/no-array-index-key -- parts of one text have no other identity
    index % 2 === 1 ? <code key={index}>{part}</code> : part,
  )
}
