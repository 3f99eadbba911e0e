import { constants } from 'node:fs'
import { mkdir, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { systemCode } from './system-errors.ts'

/** Nobody but this user. */
const PRIVATE = 0o700

/**
 * Makes `path` and what is missing above it, for this user alone unless `mode` says otherwise, and answers what it made,
 * topmost first. Node's own recursive `mkdir` never returns where the system answers ENOENT below a folder that is there,
 * as in `/proc`.
 */
export async function makeFolders(path: string, mode = PRIVATE): Promise<readonly string[]> {
  try {
    return await makeOne(path, mode)
  } catch (error) {
    const parent = dirname(path)
    if (systemCode(error) !== 'ENOENT' || parent === path) throw error
    return [...(await makeFolders(parent, mode)), ...(await makeOne(path, mode))]
  }
}

async function makeOne(path: string, mode: number): Promise<readonly string[]> {
  try {
    await mkdir(path, { mode })
    return [path]
  } catch (error) {
    if (systemCode(error) === 'EEXIST' && (await stat(path)).isDirectory()) return []
    throw error
  }
}

/** Makes what was renamed, made or removed in `folder` survive a power failure. */
export async function syncFolder(folder: string): Promise<void> {
  // Windows opens no folder, and its file system keeps such changes in its own journal.
  if (process.platform !== 'win32') await syncFile(folder)
}

/** Makes the content of a file that nobody has open survive a power failure. */
export async function syncFile(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
