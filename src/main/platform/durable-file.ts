import { constants } from 'node:fs'
import { open, readdir, rename, rm, unlink } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '../../shared/errors.ts'
import { readBounded } from './file-read.ts'
import { makeFolders, syncFolder } from './folders.ts'
import { systemCode } from './system-errors.ts'
import type { DurableFile, Failpoints, Ids, PersistOutcome, WriteOptions } from './types.ts'

const TEMP_NAME = /^\.wheelhouse-[0-9a-f]{16}\.tmp$/

/**
 * Files that survive a power failure whole: the old content or the new, never a mixture. Two writes of one path are kept
 * in the order in which they were asked for.
 */
export function createDurableFile({ ids, failpoints }: { ids: Ids; failpoints: Failpoints }): DurableFile {
  const lastByPath = new Map<string, Promise<unknown>>()

  function inTurn<T>(path: string, work: () => Promise<T>): Promise<T> {
    const before = lastByPath.get(path) ?? Promise.resolve()
    const mine = before.then(work, work)
    lastByPath.set(path, mine)
    const forget = (): void => {
      if (lastByPath.get(path) === mine) lastByPath.delete(path)
    }
    mine.then(forget, forget)
    return mine
  }

  async function write(path: string, content: string | Uint8Array, options: WriteOptions): Promise<PersistOutcome> {
    const folder = dirname(path)
    const temp = join(folder, `.wheelhouse-${Buffer.from(ids.bytes(8)).toString('hex')}.tmp`)
    try {
      await makeDurableFolder(folder)
      failpoints.hit('before_write')
      await writeAndSync(temp, content, options)
      failpoints.hit('after_write')
      await options.guard?.()
      failpoints.hit('before_rename')
      await rename(temp, path)
    } catch (error) {
      await rm(temp, { force: true }).catch(() => undefined)
      throw error instanceof AppError ? error : writeFailed(path, error)
    }
    return { applied: true, durable: await settleFolder(folder, ['after_rename', 'before_dirsync']) }
  }

  /** False: what was renamed or removed may come back after a power failure. */
  async function settleFolder(folder: string, passing: readonly string[]): Promise<boolean> {
    try {
      for (const name of passing) failpoints.hit(name)
      await syncFolder(folder)
    } catch {
      return false
    }
    failpoints.hit('after_dirsync')
    return true
  }

  return {
    read: (path, { maxBytes }) => readBounded(path, maxBytes),
    write: (path, content, options = {}) => inTurn(path, () => write(path, content, options)),
    remove: (path) =>
      inTurn(path, async () => {
        try {
          await unlink(path)
        } catch (error) {
          if (systemCode(error) === 'ENOENT') return { applied: true, durable: true }
          throw writeFailed(path, error)
        }
        return { applied: true, durable: await settleFolder(dirname(path), ['before_dirsync']) }
      }),
  }
}

/** Removes what a killed process left behind in `folder`. Only while no other process writes there. */
export async function sweepTempFiles(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => [])
  for (const name of names.filter((each) => TEMP_NAME.test(each))) await rm(join(folder, name), { force: true })
}

/** The entry of a folder made here is made durable too. */
async function makeDurableFolder(folder: string): Promise<void> {
  for (const made of await makeFolders(folder)) await syncFolder(dirname(made))
}

async function writeAndSync(path: string, content: string | Uint8Array, options: WriteOptions): Promise<void> {
  const { mode = 0o600, owner } = options
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
  try {
    await file.writeFile(content)
    if (owner !== undefined && process.getuid !== undefined) await keepOwner(file, owner)
    if (mode !== 0o600) await file.chmod(mode)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Fails where this user may not give the file away: then it is as it was before. */
async function keepOwner(file: FileHandle, { uid, gid }: { uid: number; gid: number }): Promise<void> {
  const now = await file.stat()
  if (now.uid !== uid || now.gid !== gid) await file.chown(uid, gid)
}

function writeFailed(path: string, error: unknown): AppError {
  const options = { detail: path, cause: error }
  if (['ENOSPC', 'EDQUOT'].includes(systemCode(error))) {
    return new AppError('storage_full', 'The disk is full: nothing was saved. Free some space and try again.', options)
  }
  return new AppError('file_failed', 'A file could not be written: it is as it was before.', options)
}
