/** A client's config file on disk: read whole, and replaced only if nobody changed it meanwhile. */
import { access, constants, lstat, realpath, rmdir, stat } from 'node:fs/promises'
import type { BigIntStats } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { AppError } from '../../../shared/errors.ts'
import { sweepTempFiles, systemCode } from '../../platform/index.ts'
import type { DurableFile, PersistOutcome } from '../../platform/types.ts'
import { decodeConfig } from './text.ts'

/** What is taken over; one that grew since can still be given back. */
const MAX_TAKEN_MIB = 1
const MAX_READ_MIB = 4
const MIB = 1_048_576
const OWNER_MAY_WRITE = 0o200n
const OTHERS_MAY_READ = 0o004n

export interface ConfigBytes {
  /** As the client names it, and where it really lies. */
  readonly path: string
  readonly realPath: string
  /** Null: there is none. */
  readonly bytes: Uint8Array | null
  readonly stat: BigIntStats | null
}

export interface ConfigFile extends ConfigBytes {
  readonly text: string
}

/** @throws AppError as `readBytes`; `takeover_config_malformed` (no UTF-8). */
export async function readConfig(path: string, files: DurableFile): Promise<ConfigFile> {
  const file = await readBytes(path, files)
  return { ...file, text: file.bytes === null ? '' : decodeConfig(file.bytes, path) }
}

/**
 * @throws AppError `takeover_config_unwritable` (a dangling link, no regular file, another user's),
 * `takeover_config_unsupported` (over 4 MiB), `file_failed`.
 */
export async function readBytes(path: string, files: DurableFile): Promise<ConfigBytes> {
  const realPath = await findReal(path)
  const found = await statOrNull(realPath)
  if (found === null) return { path, realPath, bytes: null, stat: null }
  if (!found.isFile()) throw unwritable(path, 'it is no regular file')
  if (found.size > MAX_READ_MIB * MIB) throw tooLarge(path, MAX_READ_MIB)
  const bytes = await files.read(realPath, { maxBytes: MAX_READ_MIB * MIB }).catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'file_unsafe') throw unwritable(path, 'it belongs to another user')
    throw error
  })
  return { path, realPath, bytes, stat: bytes === null ? null : found }
}

/** @throws AppError `takeover_config_unsupported`: over 1 MiB. */
export function demandTakable({ path, bytes }: ConfigBytes): void {
  if (bytes !== null && bytes.length > MAX_TAKEN_MIB * MIB) throw tooLarge(path, MAX_TAKEN_MIB)
}

function tooLarge(path: string, mib: number): AppError {
  return new AppError('takeover_config_unsupported', `The config file ${path} is larger than ${mib} MiB.`)
}

/** Through every link, also where the file and folders around it are still missing. */
async function findReal(path: string): Promise<string> {
  let there = path
  while ((await lstat(there).catch(() => null)) === null && there !== dirname(there)) there = dirname(there)
  try {
    return join(await realpath(there), relative(there, path))
  } catch (error) {
    const why = systemCode(error) === 'ENOENT' ? 'it is a link to what is not there' : 'its path cannot be followed'
    throw unwritable(path, why, error)
  }
}

async function statOrNull(path: string): Promise<BigIntStats | null> {
  try {
    return await stat(path, { bigint: true })
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null
    throw unwritable(path, 'it cannot be looked at', error)
  }
}

/** Modes are never changed to get there. @throws AppError `takeover_config_unwritable`. */
export async function demandWritable(file: ConfigBytes): Promise<void> {
  if (file.stat !== null && (file.stat.mode & OWNER_MAY_WRITE) === 0n) throw unwritable(file.path, 'it is read-only')
  const folder = dirname((await missingFolders(file)).at(-1) ?? file.realPath)
  const found = await statOrNull(folder)
  if (found === null || (found.mode & OWNER_MAY_WRITE) === 0n) throw unwritable(file.path, 'its folder is read-only')
  await access(folder, constants.W_OK).catch((error: unknown) => {
    throw unwritable(file.path, 'its folder cannot be written to', error)
  })
}

/** What writing the file makes, too; the innermost first. */
export async function missingFolders({ realPath }: ConfigBytes): Promise<readonly string[]> {
  const missing: string[] = []
  let folder = dirname(realPath)
  while (folder !== dirname(folder) && (await statOrNull(folder)) === null) {
    missing.push(folder)
    folder = dirname(folder)
  }
  return missing
}

/** One that holds something stays, and so do those around it. */
export async function removeEmptyFolders(innermostFirst: readonly string[]): Promise<void> {
  try {
    for (const folder of innermostFirst) await rmdir(folder)
  } catch {
    // Somebody uses it.
  }
}

export function isWorldReadable({ stat: found }: ConfigBytes): boolean {
  return found !== null && (found.mode & OTHERS_MAY_READ) !== 0n
}

/** Thrown by a write that met somebody else's: start over from fresh bytes. */
export class ConfigChanged extends AppError {
  constructor(path: string) {
    super('takeover_conflict', `Something else keeps writing to ${path}. Nothing was changed. Try again in a moment.`)
  }
}

/**
 * Puts `after` in the file's place, or removes the file.
 * @throws ConfigChanged; AppError `takeover_config_unwritable`, `storage_full`, `file_failed`.
 */
export async function replaceConfig(
  file: ConfigBytes,
  after: string | Uint8Array | null,
  files: DurableFile,
): Promise<PersistOutcome> {
  const guard = async (): Promise<void> => {
    if (!(await isUnchanged(file, files))) throw new ConfigChanged(file.path)
  }
  if (after === null) {
    await guard()
    return await files.remove(file.realPath)
  }
  const owner = file.stat === null ? {} : { owner: { uid: Number(file.stat.uid), gid: Number(file.stat.gid) } }
  const mode = file.stat === null ? 0o600 : Number(file.stat.mode & 0o7777n)
  return await files.write(file.realPath, after, { mode, guard, ...owner })
}

async function isUnchanged(file: ConfigBytes, files: DurableFile): Promise<boolean> {
  const now = await readBytes(file.path, files)
  if (now.realPath !== file.realPath) return false
  if (now.stat === null || file.stat === null) return now.stat === file.stat
  const sameFile = now.stat.ino === file.stat.ino && now.stat.mtimeNs === file.stat.mtimeNs
  return sameFile && Buffer.compare(now.bytes ?? new Uint8Array(), file.bytes ?? new Uint8Array()) === 0
}

function unwritable(path: string, why: string, cause?: unknown): AppError {
  return new AppError(
    'takeover_config_unwritable',
    `The config file ${path} cannot be changed: ${why}. Nothing was changed.`,
    { detail: why, ...(cause === undefined ? {} : { cause }) },
  )
}

/** A link's file is replaced where it really lies. What a killed write left there holds the gateway's key. */
export async function sweepBeside(configPath: string): Promise<void> {
  const real = await realpath(configPath).catch(() => configPath)
  for (const folder of new Set([dirname(configPath), dirname(real)])) await sweepTempFiles(folder)
}
