import type { RunView, TranscriptItem } from '../../../shared/projection/index.ts'

/** A turn that is too long for `maxBytes` keeps its end; the log has all of it. The same view, if it fits. */
export function fitTurn(view: RunView, maxBytes: number): RunView {
  const items = view.items.map((item) => fitItem(item, maxBytes))
  let bytes = 0
  let first = items.length
  while (first > 0) {
    bytes += bytesOf(items[first - 1])
    if (bytes > maxBytes && first < items.length) break
    first--
  }
  if (first === 0) return items.every((item, index) => item === view.items[index]) ? view : { ...view, items }
  const message = `${first} earlier steps of this turn are not shown.`
  return { ...view, items: [notice(view, message), ...items.slice(first)] }
}

/** One message may be longer than any answer: without this, its session could never be opened again. */
function fitItem(item: TranscriptItem, maxBytes: number): TranscriptItem {
  if ((item.kind !== 'text' && item.kind !== 'thought') || item.text.length <= maxBytes / LONGEST_LETTER) return item
  const room = maxBytes / 2
  // No letter is shorter than a byte: what is far too long is not measured whole.
  let text = item.text.length > maxBytes ? item.text.slice(-room) : item.text
  while (bytesOf(text) > room)
    text = text.slice(Math.min(text.length - 1, Math.ceil(text.length * (1 - room / bytesOf(text)))))
  if (text.length === item.text.length) return item
  // Not in the middle of a letter of two units.
  const whole = /^[\udc00-\udfff]/.test(text) ? text.slice(1) : text
  return { ...item, text: `[${item.text.length - whole.length} earlier characters are not shown.]\n\n${whole}` }
}

/** A control character stands as six bytes in JSON. */
const LONGEST_LETTER = 6

export const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '')

function notice(view: RunView, message: string): TranscriptItem {
  return { kind: 'notice', seq: view.firstSeq, code: 'earlier_steps', message, level: 'info', at: view.createdAt }
}
