/** Tells a listener where in a JSON document each value stands. */
import type { JsonContainer, JsonScalar, JsonVisitor } from './json-scanner.ts'

/** The keys of the objects around a value, outermost first; null inside an array. */
export type JsonPath = readonly (string | null)[]

/** Each `path` is one live array: read it at once, never keep it. Keys that were not wanted stand as empty strings. */
export interface PathListener {
  /** `path`: of the object whose key comes. */
  wantsKey(path: JsonPath): boolean
  wantsText(path: JsonPath): boolean
  memberNamed?(path: JsonPath): void
  /** Whether what is inside of this object or array is told; by default it is. */
  enters?(path: JsonPath, kind: JsonContainer): boolean
  /** `memberStart`: where its key begins, or the value itself inside an array. */
  valueStarts?(path: JsonPath, kind: JsonContainer | 'scalar', start: number, memberStart: number): void
  /** `text`: of a wanted string or number, else null. */
  valueEnds(path: JsonPath, kind: JsonContainer | JsonScalar, text: string | null, start: number, end: number): void
}

export function createPathVisitor(listener: PathListener): JsonVisitor {
  const path: (string | null)[] = []
  const opened: { isArray: boolean; start: number }[] = []
  let memberStart = 0

  function enterValue(depth: number): boolean {
    const inArray = opened[depth - 1]?.isArray === true
    if (inArray) setLast(depth, null)
    return inArray
  }

  /** Makes `path` as long as `depth`, ending in `key`. Popping is far cheaper here than setting the length. */
  function setLast(depth: number, key: string | null): void {
    shorten(depth)
    if (path.length === depth) path[depth - 1] = key
    else path.push(key)
  }

  function shorten(depth: number): void {
    while (path.length > depth) path.pop()
  }

  return {
    wantsText(role, depth) {
      if (role === 'key') {
        shorten(depth - 1)
        return listener.wantsKey(path)
      }
      enterValue(depth)
      return listener.wantsText(path)
    },
    key(text, depth, start) {
      setLast(depth, text ?? '')
      memberStart = start
      listener.memberNamed?.(path)
    },
    open(kind, depth, start) {
      const inArray = enterValue(depth)
      listener.valueStarts?.(path, kind, start, inArray ? start : memberStart)
      opened.push({ isArray: kind === 'array', start })
      return listener.enters?.(path, kind) ?? true
    },
    close(kind, depth, end) {
      shorten(depth)
      listener.valueEnds(path, kind, null, opened.pop()?.start ?? 0, end)
    },
    scalar(kind, text, depth, start, end) {
      const inArray = enterValue(depth)
      listener.valueStarts?.(path, 'scalar', start, inArray ? start : memberStart)
      listener.valueEnds(path, kind, text, start, end)
    },
  }
}
