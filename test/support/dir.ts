import { accessSync, constants, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface TempDir extends Disposable {
  /** Absolute, without links, 0700. */
  readonly path: string
  /** A path in here. */
  at(...parts: string[]): string
}

/** A folder of this test alone: `using dir = createTempDir()` removes it at the end. */
export function createTempDir(parent = tmpdir()): TempDir {
  const path = realpathSync(mkdtempSync(join(parent, 'wheelhouse-test-')))
  return {
    path,
    at: (...parts) => join(path, ...parts),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }),
  }
}

const IN_MEMORY = '/dev/shm'

/**
 * As `createTempDir`, in memory where the system has such a place: a database commits there a hundred times as fast. What
 * a process that is killed leaves in it is the same as on a disk; only a loss of power is not.
 */
export function createFastTempDir(): TempDir {
  try {
    accessSync(IN_MEMORY, constants.W_OK)
    return createTempDir(IN_MEMORY)
  } catch {
    return createTempDir()
  }
}

/** The paths of all files below. */
export function filesBelow(...folders: readonly string[]): string[] {
  return folders
    .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

/** A file's bytes; none where it went meanwhile, as a database's journal may. */
export function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return Buffer.alloc(0)
    throw error
  }
}
