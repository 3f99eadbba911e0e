import { join } from 'node:path'
import { z } from 'zod'
import { AppError } from '../shared/errors.ts'
import type { DurableFile, Ids, Paths } from './platform/index.ts'

/** Who this installation is, and what it signs with. Made once per data folder, in a file for its owner alone. */
export interface Installation {
  id: string
  /** 32 bytes that sign the browser host's cookies. */
  cookieKey: Uint8Array
}

const File = z.strictObject({ id: z.uuid(), cookieKey: z.string().regex(/^[A-Za-z0-9_-]{43}$/) })
const MAX_BYTES = 4_096

/** @throws AppError `file_unsafe`, `file_failed`: the file is no such file, and is left as it is. */
export async function openInstallation(deps: { files: DurableFile; ids: Ids; paths: Paths }): Promise<Installation> {
  const path = join(deps.paths.dataDir, 'installation.json')
  const bytes = await deps.files.read(path, { maxBytes: MAX_BYTES })
  if (bytes !== null) return readInstallation(path, bytes)
  const id = deps.ids.next()
  const cookieKey = deps.ids.bytes(32)
  await deps.files.write(path, `${JSON.stringify({ id, cookieKey: Buffer.from(cookieKey).toString('base64url') })}\n`)
  return { id, cookieKey }
}

function readInstallation(path: string, bytes: Uint8Array): Installation {
  try {
    const { id, cookieKey } = File.parse(JSON.parse(new TextDecoder().decode(bytes)))
    return { id, cookieKey: new Uint8Array(Buffer.from(cookieKey, 'base64url')) }
  } catch (cause) {
    throw new AppError(
      'file_failed',
      `The file ${path} is damaged. Move it away: browsers then have to be let in again.`,
      { cause },
    )
  }
}
