/** What is remembered under an id, the newest alone: two generations, of which the older is let go of as a whole. */
export interface Newest<V> {
  get(id: string): V | undefined
  /** `size`: its share of `Capacity.total`. */
  set(id: string, value: V, size?: number): void
  delete(id: string): void
  /** From the oldest on. */
  values(): Iterable<V>
}

export interface Capacity {
  /** At most so many; at least the newer half of them. */
  count: number
  /** At most so much of sizes together, and at most half of it beside one that is larger. */
  total?: number
}

interface Entry<V> {
  value: V
  size: number
}

export function createNewest<V>({ count, total = Infinity }: Capacity): Newest<V> {
  let older = new Map<string, Entry<V>>()
  let newer = new Map<string, Entry<V>>()
  let newerSize = 0

  return {
    get: (id) => (newer.get(id) ?? older.get(id))?.value,
    set(id, value, size = 0) {
      const before = newer.get(id)
      newerSize += size - (before?.size ?? 0)
      if ((before === undefined && newer.size >= count / 2) || newerSize > total / 2) {
        newer.delete(id)
        older = newer
        newer = new Map()
        newerSize = size
      }
      newer.set(id, { value, size })
    },
    delete(id) {
      newerSize -= newer.get(id)?.size ?? 0
      newer.delete(id)
      older.delete(id)
    },
    *values() {
      for (const [id, { value }] of older) if (!newer.has(id)) yield value
      for (const { value } of newer.values()) yield value
    },
  }
}
