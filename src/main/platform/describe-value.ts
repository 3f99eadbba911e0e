import { isSecret, REDACTED } from './secret.ts'

const MAX_DEPTH = 6
const MAX_ITEMS = 100
const MAX_TEXT = 16 * 1024

/** `value` as plain JSON for a log line: bounded, errors with their causes, secrets and bytes never spelled out. Total. */
export function describeValue(value: unknown, depth = 0): unknown {
  if (value === null || value === undefined || typeof value === 'boolean') return value
  if (typeof value === 'object') return describeObject(value, depth)
  if (typeof value === 'function') return '[function]'
  if (typeof value === 'number' && Number.isFinite(value)) return value
  const text = typeof value === 'string' ? value : (value as number | bigint | symbol).toString()
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}… (${text.length} characters)` : text
}

function describeObject(value: object, depth: number): unknown {
  if (isSecret(value)) return REDACTED
  // A circle is cut here as well.
  if (depth >= MAX_DEPTH) return '[…]'
  try {
    if (value instanceof Error) return describeError(value, depth)
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? '[invalid date]' : value.toISOString()
    if (value instanceof Map || value instanceof Set || Array.isArray(value)) return describeList([...value], depth)
    const entries = Object.entries(value).slice(0, MAX_ITEMS)
    return Object.fromEntries(entries.map(([key, item]) => [key, describeValue(item, depth + 1)]))
  } catch {
    return '[unreadable]'
  }
}

function describeList(items: readonly unknown[], depth: number): unknown {
  const shown = items.slice(0, MAX_ITEMS).map((item) => describeValue(item, depth + 1))
  return items.length > MAX_ITEMS ? [...shown, `… ${items.length - MAX_ITEMS} more`] : shown
}

function describeError(error: Error, depth: number): unknown {
  const described: Record<string, unknown> = { name: error.name, message: error.message }
  // The error's own fields hold its code; stack and cause are not among the enumerable ones.
  for (const [key, value] of [...Object.entries(error), ['stack', error.stack], ['cause', error.cause]] as const) {
    if (value !== undefined) described[key] = describeValue(value, depth + 1)
  }
  if (error instanceof AggregateError) described['errors'] = describeList(error.errors, depth)
  return described
}
