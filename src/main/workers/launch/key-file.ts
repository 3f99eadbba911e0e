/**
 * A key handed over on descriptor 3: a file that has no name any more before the key is written into it, so that no other
 * process can open it by path. A pipe would not do: Node makes it a socket, which an agent may refuse to read as a file.
 */
import { closeSync, constants, ftruncateSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Secret } from '../../platform/types.ts'
import { WorkerError } from '../errors.ts'

export interface KeyFile {
  readonly fd: number
  /** Empties the file: whoever inherited the descriptor reads nothing from now on. */
  drop(): void
}

/** @throws WorkerError `private_dir_failed`. */
export function createKeyFile(privateDir: string, name: string, key: Secret): KeyFile {
  let fd: number | null = null
  try {
    const path = join(privateDir, name)
    fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600)
    unlinkSync(path)
    // At a position, so that the shared offset stays at the beginning for the reader.
    const value = key.reveal('local_key_file')
    if (writeSync(fd, value, 0) < Buffer.byteLength(value)) throw new Error('the disk took a part of it')
  } catch (error) {
    if (fd !== null) closeSync(fd)
    const detail = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    throw new WorkerError('private_dir_failed', "The agent's key could not be handed over.", {
      started: 'never',
      detail,
    })
  }
  const opened = fd
  let open = true
  return {
    fd: opened,
    drop() {
      if (!open) return
      open = false
      try {
        ftruncateSync(opened, 0)
      } finally {
        closeSync(opened)
      }
    },
  }
}
