import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { AppError } from '../../shared/errors.ts'
import { systemCode } from './system-errors.ts'

/** Null: there is no such file. @throws AppError `file_unsafe` (link, foreign owner, over `maxBytes`), `file_failed`. */
export async function readBounded(path: string, maxBytes: number): Promise<Uint8Array | null> {
  let file: FileHandle
  try {
    // A link is not followed, and a pipe put in the file's place does not make the host wait for its other end.
    file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null
    if (systemCode(error) === 'ELOOP') throw unsafe(path, 'it is a link')
    throw failed(path, error)
  }
  try {
    return await readChecked(file, path, maxBytes)
  } finally {
    await file.close()
  }
}

async function readChecked(file: FileHandle, path: string, maxBytes: number): Promise<Uint8Array> {
  const stat = await file.stat()
  if (!stat.isFile()) throw unsafe(path, 'it is no regular file')
  if (process.getuid !== undefined && stat.uid !== process.getuid()) throw unsafe(path, 'it belongs to another user')
  if (stat.size > maxBytes) throw unsafe(path, `it is larger than ${maxBytes} bytes`)
  // One more than allowed: the file may have grown since.
  const buffer = new Uint8Array(Math.min(stat.size, maxBytes) + 1)
  let length = 0
  try {
    while (length < buffer.length) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length, length)
      if (bytesRead === 0) return buffer.subarray(0, length)
      length += bytesRead
    }
  } catch (error) {
    throw failed(path, error)
  }
  throw new AppError('file_failed', 'A file changed while it was read.', { detail: path, retryable: true })
}

function unsafe(path: string, why: string): AppError {
  return new AppError('file_unsafe', `A file was not read because ${why}.`, { detail: path })
}

function failed(path: string, cause: unknown): AppError {
  return new AppError('file_failed', 'A file could not be read.', { detail: path, cause })
}
