/**
 * Answers what takes away the oldest entries of `of` for as long as it holds more than `capacity`, and tells each. Its one
 * iterator lasts: a new one would step, every time, over all that was deleted before.
 */
export function keepNewest<K>(
  of: Map<K, unknown> | Set<K>,
  capacity: number,
  forgotten?: (key: K) => void,
): () => void {
  const keys = of.keys()
  return () => {
    while (of.size > capacity) {
      const oldest = keys.next()
      if (oldest.done === true) return
      of.delete(oldest.value)
      forgotten?.(oldest.value)
    }
  }
}
