import { opendir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { AppError } from '../../../shared/errors.ts'
import { makeFolders } from '../../platform/index.ts'

const PAGE = 500
/** A folder with more entries than this is cut: nobody looks for one among so many by scrolling. */
const MAX_SCANNED = 20_000

export interface FolderPage {
  path: string
  parent: string | null
  folders: { path: string; name: string }[]
  next: string | null
}

/**
 * The folders inside of a folder: names alone, in order, a page at a time.
 * @throws AppError `folder_unreadable`.
 */
export async function listFolders(
  query: { path: string; after: string | null; hidden: boolean },
  signal: AbortSignal,
): Promise<FolderPage> {
  const path = await realpath(absolute(query.path)).catch((cause: unknown) => {
    throw unreadable(query.path, cause)
  })
  const names = await folderNames(path, query.hidden, signal)
  const rest = query.after === null ? names : names.filter((name) => compareNames(name, query.after ?? '') > 0)
  const page = rest.slice(0, PAGE)
  const parent = dirname(path)
  return {
    path,
    parent: parent === path ? null : parent,
    folders: page.map((name) => ({ path: join(path, name), name })),
    next: rest.length > PAGE ? (page.at(-1) ?? null) : null,
  }
}

async function folderNames(path: string, hidden: boolean, signal: AbortSignal): Promise<string[]> {
  const names: string[] = []
  let scanned = 0
  try {
    for await (const entry of await opendir(path)) {
      if (signal.aborted || ++scanned > MAX_SCANNED) break
      if (!hidden && entry.name.startsWith('.')) continue
      const isFolder = entry.isDirectory() || (entry.isSymbolicLink() && (await isDirectory(join(path, entry.name))))
      if (isFolder) names.push(entry.name)
    }
  } catch (cause) {
    throw unreadable(path, cause)
  }
  return names.sort(compareNames)
}

/** Makes a project folder that a person named, with what is missing above it. @throws AppError `folder_unreadable`. */
export async function createFolder(path: string): Promise<string> {
  const target = absolute(path)
  try {
    await makeFolders(target, 0o755)
    return await realpath(target)
  } catch (cause) {
    throw new AppError('folder_unreadable', `The folder ${target} cannot be made. Choose another place.`, { cause })
  }
}

export const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )

export const folderName = (path: string): string => basename(path) || path

function absolute(path: string): string {
  if (path.includes('\0') || !isAbsolute(path)) {
    throw new AppError('folder_unreadable', 'Give the whole path of a folder, beginning at the root.', {
      detail: path.slice(0, 200),
    })
  }
  return resolve(path)
}

const unreadable = (path: string, cause: unknown): AppError =>
  new AppError(
    'folder_unreadable',
    `The folder ${path} cannot be read. Choose another one, or change its permissions.`,
    { cause },
  )

const compareNames = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
