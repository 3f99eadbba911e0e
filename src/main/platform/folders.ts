import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { systemCode } from './system-errors.ts'

/**
 * Makes `path` and what is missing above it, for this user alone, and answers what it made, topmost first. Node's own
 * recursive `mkdir` never returns where the system answers ENOENT below a folder that is there, as in `/proc`.
 */
export async function makeFolders(path: string): Promise<readonly string[]> {
  try {
    return await makeOne(path)
  } catch (error) {
    const parent = dirname(path)
    if (systemCode(error) !== 'ENOENT' || parent === path) throw error
    return [...(await makeFolders(parent)), ...(await makeOne(path))]
  }
}

async function makeOne(path: string): Promise<readonly string[]> {
  try {
    await mkdir(path, { mode: 0o700 })
    return [path]
  } catch (error) {
    if (systemCode(error) === 'EEXIST' && (await stat(path)).isDirectory()) return []
    throw error
  }
}
