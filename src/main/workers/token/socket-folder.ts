/** Where a worker's socket can lie: a socket's path has a bound of its own, far below a file's. */
import { lstat, mkdir } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import type { Ids } from '../../platform/types.ts'
import { WorkerError } from '../errors.ts'
import { LIMITS } from '../limits.ts'

export interface SocketFolder {
  dir: string
  path: string
  /** To be removed with the socket; null: it is the folder that was asked for. */
  made: string | null
}

const NAME = 't.sock'

/**
 * `socketDir`, or a short folder of this user's own below one of `runtimeDirs`.
 * @throws WorkerError `socket_path_too_long`, `private_dir_failed`.
 */
export async function chooseSocketFolder(
  socketDir: string,
  runtimeDirs: readonly (string | undefined)[],
  ids: Ids,
): Promise<SocketFolder> {
  const direct = join(socketDir, NAME)
  if (Buffer.byteLength(direct) <= LIMITS.socketPathBytes) return { dir: socketDir, path: direct, made: null }
  const name = `wh-${Buffer.from(ids.bytes(4)).toString('hex')}`
  for (const runtime of runtimeDirs) {
    if (runtime === undefined || !isAbsolute(runtime)) continue
    const made = join(runtime, name)
    const path = join(made, NAME)
    if (Buffer.byteLength(path) > LIMITS.socketPathBytes) continue
    await makePrivate(made)
    return { dir: made, path, made }
  }
  throw new WorkerError('socket_path_too_long', 'No folder on this machine has a path short enough for a socket.', {
    started: 'never',
    detail: socketDir,
  })
}

/** The folder above may belong to everybody: what is made in it must be new, and ours alone. */
async function makePrivate(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 })
    const found = await lstat(path)
    if (found.isDirectory() && found.uid === (process.getuid?.() ?? found.uid) && (found.mode & 0o077) === 0) return
  } catch (error) {
    throw failed(error instanceof Error && 'code' in error ? String(error.code) : 'unknown')
  }
  throw failed('it is not ours alone')
}

function failed(detail: string): WorkerError {
  return new WorkerError('private_dir_failed', 'The folder for the socket of this agent could not be made.', {
    started: 'never',
    detail,
  })
}
