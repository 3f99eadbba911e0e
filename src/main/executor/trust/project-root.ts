import { lstat, realpath } from 'node:fs/promises'
import { dirname, join, relative, isAbsolute } from 'node:path'

/** A folder deeper than this is no project's. */
const MAX_DEPTH = 128

export interface Project {
  /** The folder with its links resolved. */
  folder: string
  /** The root of its repository or worktree, else the folder itself. */
  root: string
  isRepository: boolean
}

/** Null: there is no such folder. */
export async function projectOf(path: string): Promise<Project | null> {
  const folder = await realpath(path).catch(() => null)
  if (folder === null) return null
  let depth = 0
  for (let at = folder; depth < MAX_DEPTH; depth++) {
    if (await isThere(join(at, '.git'))) return { folder, root: at, isRepository: true }
    const parent = dirname(at)
    if (parent === at) break
    at = parent
  }
  return { folder, root: folder, isRepository: false }
}

export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way === '' || (way !== '..' && !way.startsWith('../') && !isAbsolute(way))
}

/** A folder, or the file that a linked worktree has in its place. */
const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    (found) => found.isDirectory() || found.isFile(),
    () => false,
  )
