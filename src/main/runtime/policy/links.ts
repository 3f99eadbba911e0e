/**
 * Where a path leads on this disk. A project brings its own symbolic links, and a path that stays in its folder by its
 * text may leave it by one of them. Synchronous and bounded: the policy answers at once.
 */
import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync } from 'node:fs'
import type { Dirent } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'
import { segmentMatcher } from './paths.ts'

/** What one pattern may come to before it is taken to lead anywhere. */
const MAX_ENTRIES = 4_000
const MAX_PLACES = 256
const ANYWHERE: string = sep
const MAX_LINKS = 40

/**
 * The places behind an absolute path, as far as they differ from it; none where no link lies on the way. A pattern
 * (`*`, `?`, `[…]`, `{…}`) stands for all that it may match; one that matches too much leads to the root.
 */
export function followLinks(path: string): readonly string[] {
  const spellings = spell(path)
  if (spellings === null) return [ANYWHERE]
  const budget = { entries: MAX_ENTRIES }
  return spellings.flatMap((each) =>
    /[*?[]/.test(each) ? (expand(each, budget) ?? [ANYWHERE]) : differing(each, realPath(each)),
  )
}

/** Each way to read `{a,b}`, innermost first; null: too many. */
function spell(path: string): string[] | null {
  let open = [path]
  for (;;) {
    const next = open.flatMap((each) => {
      const [whole, inner = ''] = /\{([^{}]*,[^{}]*)\}/.exec(each) ?? []
      return whole === undefined ? [each] : inner.split(',').map((part) => each.replace(whole, () => part))
    })
    if (next.length > MAX_PLACES) return null
    if (next.every((each, at) => each === open[at])) return next
    open = next
  }
}

const differing = (path: string, real: string | null): string[] => (real === null || real === path ? [] : [real])

/** With links resolved; of what is not there, what is there is resolved and the rest kept. Null: it cannot be known. */
function realPath(path: string, links = 0): string | null {
  try {
    return realpathSync(path)
  } catch {
    // From the top down: of a long path that is not there, no more is looked at than is there.
    let there: string = sep
    const segments = path.split(sep).filter((segment) => segment !== '')
    for (const [at, segment] of segments.entries()) {
      const next = join(there, segment)
      const rest = segments.slice(at + 1)
      const target = linkAt(next)
      if (target === undefined) return resolved(there, [segment, ...rest])
      // Whoever writes to a link that leads nowhere makes what it names.
      if (target !== null && !existsSync(next))
        return links >= MAX_LINKS ? null : realPath(join(target, ...rest), links + 1)
      there = next
    }
    return null
  }
}

function resolved(there: string, rest: readonly string[]): string | null {
  try {
    return join(realpathSync(there), ...rest)
  } catch {
    return null
  }
}

/** Where a link leads; null: it is none; undefined: nothing is there, or it cannot be looked at. */
function linkAt(path: string): string | null | undefined {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found === undefined) return undefined
    return found.isSymbolicLink() ? resolve(dirname(path), readlinkSync(path)) : null
  } catch {
    return undefined
  }
}

/** Null: too much to look at. The budget is for all spellings of a pattern. */
function expand(pattern: string, budget: { entries: number }): string[] | null {
  const segments = pattern.split(sep).filter((segment) => segment !== '')
  const found = new Set<string>()
  let folders: string[] = [sep]
  for (const [at, segment] of segments.entries()) {
    const isLast = at === segments.length - 1
    const next: string[] = []
    const fits = /[*?[]/.test(segment) ? segmentMatcher(segment) : null
    for (const folder of folders) {
      const listed = fits === null ? null : list(folder)
      budget.entries -= listed?.length ?? 1
      if (budget.entries < 0) return null
      const names = listed?.filter((entry) => fits?.(entry.name)) ?? null
      if (names === null) next.push(join(folder, segment))
      // The last segment's plain files are where their folder is, and that was followed already.
      else for (const entry of names) if (!isLast || entry.isSymbolicLink()) next.push(join(folder, entry.name))
    }
    if (next.length > MAX_PLACES) return null
    folders = next
    for (const place of next) {
      const real = realPath(place)
      if (real !== null && real !== place) found.add(join(real, ...(isLast ? [] : literalRest(segments.slice(at + 1)))))
    }
  }
  return [...found]
}

/** As much of the rest as is no pattern, so that a place below a link is told by its name where it has one. */
function literalRest(segments: readonly string[]): string[] {
  const end = segments.findIndex((segment) => /[*?[]/.test(segment))
  return end === -1 ? [...segments] : segments.slice(0, end)
}

function list(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
