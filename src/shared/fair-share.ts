/**
 * About `most` of the items, in their order: each group has the same part of them, from its beginning. What is `kept` stays in
 * any case.
 */
export function fairShare<T>(
  items: readonly T[],
  most: number,
  groupOf: (item: T) => string | null,
  kept: (item: T) => boolean,
): readonly T[] {
  if (items.length <= most) return items
  const counts = new Map(items.map((item) => [groupOf(item), 0]))
  const share = Math.ceil(most / counts.size)
  return items.filter((item) => {
    const group = groupOf(item)
    const count = (counts.get(group) ?? 0) + 1
    counts.set(group, count)
    return count <= share || kept(item)
  })
}
