import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import type { Stats } from 'node:fs'
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
  const buffer = roomFor(stat, path, maxBytes)
  if (process.getuid !== undefined && stat.uid !== process.getuid()) throw unsafe(path, 'it belongs to another user')
  return await fill(file, buffer, path).catch((error: unknown) => {
    throw error instanceof AppError ? error : failed(path, error)
  })
}

/** Links are followed. Nobody waits for a pipe, and opening a device here does nothing by itself. */
const FOLLOWED = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)

/**
 * What a file holds in a place where others write too. It is read as far as it says it goes: much of `/proc` says nothing,
 * and has no end.
 * @throws what the system says; AppError `file_unsafe`, `file_failed` (it holds more than it says).
 */
export async function readPlain(path: string, maxBytes: number): Promise<Buffer> {
  await using file = await open(path, FOLLOWED)
  return await fill(file, roomFor(await file.stat(), path, maxBytes), path)
}

/** The same, where nothing else may happen meanwhile. */
export function readPlainSync(path: string, maxBytes: number): Buffer {
  const file = openSync(path, FOLLOWED)
  try {
    const buffer = roomFor(fstatSync(file), path, maxBytes)
    for (let length = 0; length < buffer.length;) {
      const bytesRead = readSync(file, buffer, length, buffer.length - length, length)
      if (bytesRead === 0) return buffer.subarray(0, length)
      length += bytesRead
    }
    throw changed(path)
  } finally {
    closeSync(file)
  }
}

/** With one byte more than it says: the file may have grown since. */
function roomFor(stat: Stats, path: string, maxBytes: number): Buffer {
  if (!stat.isFile()) throw unsafe(path, 'it is no regular file')
  if (stat.size > maxBytes) throw unsafe(path, `it is larger than ${maxBytes} bytes`)
  return Buffer.alloc(stat.size + 1)
}

async function fill(file: FileHandle, buffer: Buffer, path: string): Promise<Buffer> {
  for (let length = 0; length < buffer.length;) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, length)
    if (bytesRead === 0) return buffer.subarray(0, length)
    length += bytesRead
  }
  throw changed(path)
}

function changed(path: string): AppError {
  return new AppError('file_failed', 'A file changed while it was read.', { detail: path, retryable: true })
}

function unsafe(path: string, why: string): AppError {
  return new AppError('file_unsafe', `A file was not read because ${why}.`, { detail: path })
}

function failed(path: string, cause: unknown): AppError {
  return new AppError('file_failed', 'A file could not be read.', { detail: path, cause })
}
