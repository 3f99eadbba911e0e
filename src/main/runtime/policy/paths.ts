/** Paths as text: nothing here looks at the disk, so links are not followed. */
import { homedir } from 'node:os'
import { isAbsolute, relative, resolve, sep } from 'node:path'

export interface PathBase {
  cwd: string
  home: string
}

export function pathBase(cwd: string | undefined, home: string | undefined): PathBase {
  const ownHome = home ?? homedir()
  return { cwd: cwd ?? ownHome, home: ownHome }
}

/** Absolute, without `.` and `..`; `~`, `$HOME` and `$PWD` at the front are what they are to the agent. */
export function resolvePath(text: string, base: PathBase): string {
  const path = text.startsWith('file://') ? text.slice('file://'.length) : text
  const [, variable, rest] = /^(~|\$HOME|\$\{HOME\}|\$PWD|\$\{PWD\})(?:\/(.*))?$/s.exec(path) ?? []
  // Somebody else's home, or a folder that the shell remembers: nowhere in the session's folders, wherever it is.
  if (variable === undefined && /^~[\w.+-]+(?:\/|$)/.test(path)) return resolve('/', path)
  if (variable === undefined) return resolve(base.cwd, path)
  return resolve(variable.includes('PWD') ? base.cwd : base.home, rest ?? '')
}

/** The folder itself or something below it. Both absolute. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}

export function isInsideAny(folders: readonly string[], path: string): boolean {
  return folders.some((folder) => isInside(folder, path))
}

/**
 * Like `isInside`, for a guard: letter case and Unicode form do not matter, as on some file systems, and a pattern such as
 * `/home/me/.wh*` counts when it can stand for the folder.
 */
export function mayBeInside(folder: string, path: string): boolean {
  const wanted = segmentsOf(folder)
  const given = segmentsOf(path)
  return given.length >= wanted.length && wanted.every((segment, at) => matches(given[at] ?? '', segment))
}

/** The text names the folder or something in it, wherever it stands: in a quoted program, in JSON. */
export function mentions(text: string, folder: string): boolean {
  const haystack = fold(text.replaceAll('\\/', '/'))
  const needle = fold(folder)
  for (let at = haystack.indexOf(needle); at !== -1; at = haystack.indexOf(needle, at + 1)) {
    const next = haystack[at + needle.length]
    if (next === undefined || !/[\p{L}\p{N}._-]/u.test(next)) return true
  }
  return false
}

function fold(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

function segmentsOf(path: string): string[] {
  return fold(path)
    .split(/[\\/]+/)
    .filter((segment) => segment !== '')
}

/** Whether one segment of a pattern can stand for a name, as a shell reads it. */
export function matches(pattern: string, segment: string): boolean {
  return pattern === segment || (isPattern(pattern) && segmentMatcher(pattern)(segment))
}

const isPattern = (text: string): boolean => /[*?[]/.test(text)

/** The same for many names: what a pattern costs is paid once. */
export function segmentMatcher(pattern: string): (segment: string) => boolean {
  const plain = withoutBrackets(pattern)
  let least = 0
  for (const mark of plain) if (mark !== '*') least += mark.length
  return (segment) =>
    segment.length >= least &&
    (!segment.startsWith('.') || pattern.startsWith('.')) &&
    matchesFrom(plain, 0, segment, 0)
}

/** Each `[…]` as `?`. Behind the last `]` none is looked for, which would begin anew at each bracket. */
function withoutBrackets(pattern: string): string {
  const end = pattern.lastIndexOf(']') + 1
  return pattern.slice(0, end).replace(/\[[^\]]+\]/g, '?') + pattern.slice(end)
}

/** Without a regular expression: a hostile pattern must not cost more than its length times the segment's. */
function matchesFrom(pattern: string, from: number, segment: string, start: number): boolean {
  let at = start
  let star = -1
  let resume = 0
  let p = from
  while (at < segment.length) {
    const wanted = pattern[p]
    if (wanted === '*') {
      star = p
      resume = at
      p += 1
    } else if (wanted === '?' || wanted === segment[at]) {
      p += 1
      at += 1
    } else if (star !== -1) {
      p = star + 1
      resume += 1
      at = resume
    } else {
      return false
    }
  }
  while (pattern[p] === '*') p += 1
  return p === pattern.length
}
