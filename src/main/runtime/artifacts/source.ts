/** A file that an agent offers: inside its work directory, whatever links it laid, and read as it was looked at. */
import { constants, createReadStream } from 'node:fs'
import { lstat, open, realpath } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { basename, resolve, sep } from 'node:path'
import { AppError } from '../../../shared/errors.ts'
import { systemCode } from '../../platform/index.ts'
import type { OpenMaterial } from '../materials/limits.ts'

/** Where an offered file really lies. */
export interface ArtifactSource {
  path: string
  open: OpenMaterial
}

/** @throws AppError `artifact_unresolvable`: a URL, a name, nothing; `input_path_escape`. */
export async function findSource(workDir: string, offered: string): Promise<ArtifactSource> {
  if (offered === '' || offered.includes('\0') || /^[a-z][a-z0-9+.-]+:\/\//i.test(offered)) throw unresolvable(offered)
  const path = await realpath(resolve(workDir, offered)).catch((error: unknown) => {
    throw unresolvable(offered, error)
  })
  const work = await realpath(workDir)
  if (!path.startsWith(work + sep)) throw escape(offered)
  const seen = await lstat(path)
  if (!seen.isFile()) throw unresolvable(offered)
  return {
    path,
    open: async () => ({ stream: read(path, seen), filename: basename(offered), size: seen.size }),
  }
}

/** Opened at the first piece: an offer that is refused for its size leaves nothing open. */
async function* read(path: string, seen: { dev: number; ino: number }): AsyncGenerator<Uint8Array, void, undefined> {
  const file = await openSeen(path)
  const now = await file.stat()
  if (!now.isFile() || now.dev !== seen.dev || now.ino !== seen.ino) {
    await file.close()
    throw escape(path)
  }
  yield* createReadStream(path, { fd: file })
}

async function openSeen(path: string): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  } catch (error) {
    if (systemCode(error) === 'ELOOP') throw escape(path)
    throw unresolvable(path, error)
  }
}

export function unresolvable(offered: string, cause?: unknown): AppError {
  return new AppError('artifact_unresolvable', 'This names no file in the work directory.', {
    detail: offered.slice(0, 500),
    cause,
  })
}

function escape(offered: string): AppError {
  return new AppError('input_path_escape', 'This file lies outside of the work directory.', {
    detail: offered.slice(0, 500),
  })
}
