/**
 * The simple globs of `search`: `*`, `?`, `**` and `{a,b}`. A pattern without a slash matches a file's name anywhere.
 * No regular expression: a model's pattern on a stranger's names must not be able to take for ever.
 */

/** Braces multiply; more alternatives than this are not tried. */
const MAX_ALTERNATIVES = 256

/** Whether a path relative to the searched folder, with forward slashes, is meant by `glob`. */
export function globMatcher(glob: string): (relativePath: string) => boolean {
  const patterns = alternatives(glob.replace(/^\.?\//, '')).map((pattern) => pattern.split('/'))
  const anywhere = !glob.includes('/')
  return (path) => {
    const segments = anywhere ? [path.slice(path.lastIndexOf('/') + 1)] : path.split('/')
    return patterns.some((pattern) => wildcardMatch(pattern, segments, (part) => part === '**', segmentMatch))
  }
}

function segmentMatch(pattern: string, segment: string): boolean {
  return wildcardMatch(
    Array.from(pattern),
    Array.from(segment),
    (char) => char === '*',
    (wanted, char) => wanted === '?' || wanted === char,
  )
}

/** A star takes any number of items. Going back to the newest star alone is enough, so the work is at most a product. */
function wildcardMatch(
  pattern: readonly string[],
  items: readonly string[],
  isStar: (part: string) => boolean,
  matches: (part: string, item: string) => boolean,
): boolean {
  let at = 0
  let item = 0
  let star = -1
  let starItem = 0
  while (item < items.length) {
    const part = pattern[at]
    if (part !== undefined && isStar(part)) {
      star = at
      starItem = item
      at += 1
    } else if (part !== undefined && matches(part, items[item] ?? '')) {
      at += 1
      item += 1
    } else if (star === -1) {
      return false
    } else {
      at = star + 1
      starItem += 1
      item = starItem
    }
  }
  return pattern.slice(at).every(isStar)
}

/** `a{b,c}` is `ab` and `ac`; braces within braces work, a lone brace means itself. */
function alternatives(glob: string): string[] {
  let done: string[] = []
  let open = [glob]
  while (open.length > 0 && done.length + open.length <= MAX_ALTERNATIVES) {
    const next: string[] = []
    for (const pattern of open) {
      const brace = /\{([^{}]*)\}/.exec(pattern)
      if (brace === null) done.push(pattern)
      else {
        const [whole, inner = ''] = brace
        const before = pattern.slice(0, brace.index)
        const after = pattern.slice(brace.index + whole.length)
        const choices = inner.split(',', MAX_ALTERNATIVES + 1)
        next.push(...choices.map((choice) => before + choice + after))
      }
    }
    open = next
  }
  done = [...done, ...open]
  return done.slice(0, MAX_ALTERNATIVES)
}
