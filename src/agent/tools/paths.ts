/** Paths of tools: relative ones belong to the session's folder, and what is judged is where a path really leads. */
import { constants } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { open, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'

import type { Workspace } from './types.ts'
import { ToolError } from './types.ts'

/**
 * The absolute path behind `path`, every symbolic link resolved; of a path that does not exist yet, the nearest folder
 * that does is resolved and the rest kept.
 */
export async function resolvePath(path: string, workspace: Workspace): Promise<string> {
  if (path.includes('\0')) throw new ToolError('A path cannot hold a NUL character.')
  const absolute = resolve(workspace.cwd, path)
  const rest: string[] = []
  for (let at = absolute; ; at = dirname(at)) {
    try {
      return join(await realpath(at), ...rest)
    } catch (thrown) {
      if (!isMissing(thrown) || dirname(at) === at) throw fileError(thrown, absolute)
      rest.unshift(basename(at))
    }
  }
}

/** The path as people read it: relative inside the session's folder, absolute and marked outside of its roots. */
export async function displayPath(absolute: string, workspace: Workspace): Promise<string> {
  const cwd = await realpath(workspace.cwd).catch(() => workspace.cwd)
  if (isInside(absolute, cwd)) return relative(cwd, absolute) || '.'
  for (const root of workspace.roots) {
    if (isInside(absolute, await realpath(root).catch(() => root))) return absolute
  }
  return `${absolute} (outside the project)`
}

function isInside(path: string, root: string): boolean {
  const way = relative(root, path)
  return way === '' || (!way.startsWith('..') && !isAbsolute(way))
}

/**
 * Opens a regular file for reading; a pipe or device is refused without waiting for it.
 * @throws ToolError: not there, not readable, or no regular file.
 */
export async function openRegular(path: string): Promise<FileHandle> {
  let handle: FileHandle
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (thrown) {
    throw fileError(thrown, path)
  }
  const stat = await handle.stat()
  if (stat.isFile()) return handle
  await handle.close()
  throw new ToolError(stat.isDirectory() ? `${path} is a folder. Use list.` : `${path} is not a regular file.`)
}

/** UTF-8, strictly: null for what is binary. A byte order mark stays, so that a file is written back as it was. */
export function decodeText(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}

export function isMissing(thrown: unknown): boolean {
  return errorCode(thrown) === 'ENOENT'
}

export function errorCode(thrown: unknown): string | null {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : null
}

/** Puts a system error into words for the model. */
export function fileError(thrown: unknown, path: string): ToolError {
  if (thrown instanceof ToolError) return thrown
  const reasons: Record<string, string> = {
    ENOENT: 'does not exist',
    EACCES: 'may not be accessed',
    EPERM: 'may not be accessed',
    EISDIR: 'is a folder',
    ENOTDIR: 'lies below something that is no folder',
    ELOOP: 'is a symbolic link that leads in a circle',
    ENOSPC: 'cannot be written: the disk is full',
    EROFS: 'lies on a read-only disk',
    ENXIO: 'is not a regular file',
  }
  const reason = reasons[errorCode(thrown) ?? ''] ?? `cannot be used (${errorCode(thrown) ?? 'unknown error'})`
  return new ToolError(`${path} ${reason}.`, { cause: thrown })
}
