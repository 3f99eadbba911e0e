import { constants } from 'node:fs'
import { open, readdir, realpath } from 'node:fs/promises'
import { systemCode } from '../../platform/index.ts'
import type { ProjectFinding } from '../../../shared/trust.ts'
import { isWithin } from './project-root.ts'

/** Larger settings are said to be there, and not looked into. */
const MAX_BYTES = 1_048_576

export type Unread = NonNullable<ProjectFinding['unread']>
export type ReadInside = { text: string } | { unread: Unread }

/**
 * A file of a project, as text. Null: there is none. A link counts where it stays inside of `root`; a pipe put in the
 * file's place makes nobody wait.
 */
export async function readInside(path: string, root: string): Promise<ReadInside | null> {
  const real = await realInside(path, root)
  if (real === null || typeof real === 'object') return real
  try {
    await using file = await open(real, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
    const stat = await file.stat()
    if (!stat.isFile()) return { unread: 'unreadable' }
    if (stat.size > MAX_BYTES) return { unread: 'too_large' }
    const buffer = Buffer.alloc(stat.size)
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0)
    return { text: buffer.toString('utf8', 0, bytesRead).replace(/^\uFEFF/, '') }
  } catch (error) {
    return systemCode(error) === 'ENOENT' ? null : { unread: 'unreadable' }
  }
}

/** The names in a folder of a project, at most `max`, and how many `more` there are. Null: there is no such folder, or it is empty. */
export async function namesInside(
  path: string,
  root: string,
  max: number,
): Promise<{ names: string[]; more: number } | { unread: Unread } | null> {
  const real = await realInside(path, root)
  if (real === null || typeof real === 'object') return real
  try {
    const names = (await readdir(real)).filter((name) => !name.startsWith('.')).sort()
    return names.length === 0 ? null : { names: names.slice(0, max), more: Math.max(0, names.length - max) }
  } catch (error) {
    const code = systemCode(error)
    return code === 'ENOENT' || code === 'ENOTDIR' ? null : { unread: 'unreadable' }
  }
}

async function realInside(path: string, root: string): Promise<string | { unread: Unread } | null> {
  try {
    const real = await realpath(path)
    return isWithin(real, root) ? real : { unread: 'leads_outside' }
  } catch (error) {
    const code = systemCode(error)
    return code === 'ENOENT' || code === 'ENOTDIR' ? null : { unread: 'unreadable' }
  }
}
