import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'

/** The absolute path of an executable file by this name on this PATH, or null. Relative PATH entries are skipped. */
export async function findProgram(name: string, path: string | undefined): Promise<string | null> {
  if (name === '' || name.includes('\0')) return null
  if (isAbsolute(name)) return (await isExecutable(name)) ? name : null
  if (name.includes('/') || name.includes('\\')) return null
  for (const folder of (path ?? '').split(delimiter)) {
    if (!isAbsolute(folder)) continue
    const candidate = join(folder, name)
    if (await isExecutable(candidate)) return candidate
  }
  return null
}

export async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return (await stat(path)).isFile()
  } catch {
    return false
  }
}

export async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch {
    return false
  }
}
