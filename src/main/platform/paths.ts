import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { access, chmod, readdir, realpath, stat } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { AppError } from '../../shared/errors.ts'
import { makeFolders } from './folders.ts'
import { systemCode } from './system-errors.ts'
import type { Paths } from './types.ts'

/** `sun_path` holds 104 bytes on macOS with its closing zero, 108 on Linux. */
const LONGEST_SOCKET_PATH = 103

type Environment = Readonly<Record<string, string | undefined>>

export interface Machine {
  env: Environment
  platform: NodeJS.Platform
  home: string
}

function thisMachine(): Machine {
  return { env: process.env, platform: process.platform, home: homedir() }
}

/** To whoever joins a path to it, an empty `HOME` is the working folder: it counts as none, and the system is asked instead. */
export function dropEmptyHome(env: NodeJS.ProcessEnv = process.env): void {
  if (env['HOME'] === '') delete env['HOME']
}

/** `$WHEELHOUSE_HOME`, or the place where this system keeps the data of programs. */
export function defaultDataDir({ env, platform, home }: Machine = thisMachine()): string {
  const chosen = env['WHEELHOUSE_HOME']
  if (chosen !== undefined && chosen !== '') return resolve(chosen)
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'Wheelhouse')
  if (platform === 'win32') return join(env['LOCALAPPDATA'] ?? join(home, 'AppData', 'Local'), 'Wheelhouse')
  const xdg = env['XDG_DATA_HOME']
  // The XDG specification: a relative path is invalid and to be ignored.
  return join(xdg !== undefined && isAbsolute(xdg) ? xdg : join(home, '.local', 'share'), 'wheelhouse')
}

export function pathsIn(dataDir: string, machine: Machine = thisMachine()): Paths {
  const at = (...parts: string[]): string => join(dataDir, ...parts)
  return {
    dataDir,
    database: at('wheelhouse.db'),
    settings: at('settings.json'),
    logDir: at('logs'),
    backups: at('backups'),
    blobs: at('blobs'),
    workers: at('workers'),
    providers: at('providers'),
    hostSocket: hostSocket(dataDir, machine),
  }
}

function hostSocket(dataDir: string, { env, platform }: Machine): string {
  const digest = createHash('sha256').update(dataDir).digest('hex')
  if (platform === 'win32') return String.raw`\\.\pipe\wheelhouse-${digest.slice(0, 32)}`
  const path = join(dataDir, 'host.sock')
  if (Buffer.byteLength(path) <= LONGEST_SOCKET_PATH) return path
  const runtime = env['XDG_RUNTIME_DIR']
  const base = runtime !== undefined && isAbsolute(runtime) && runtime.length < 60 ? runtime : tmpdir()
  return join(base, `wheelhouse-${process.getuid?.() ?? 0}`, `${digest.slice(0, 16)}.sock`)
}

/**
 * Makes the folder for this user alone. One that other users can enter is closed to them only when it is ours or empty:
 * a folder with other things in it was chosen by mistake. Answers its path without links, the same for everybody.
 * @throws AppError `data_dir_unwritable`.
 */
export async function makeDataDir(dataDir: string): Promise<string> {
  try {
    await makeFolders(dataDir)
    const { mode, uid } = await stat(dataDir)
    if (process.getuid !== undefined && uid !== process.getuid())
      throw unwritable(dataDir, 'it belongs to another user')
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) await closeToOthers(dataDir)
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
    return await realpath(dataDir)
  } catch (error) {
    if (error instanceof AppError) throw error
    throw unwritable(dataDir, REASONS[systemCode(error)] ?? 'the system refused it', error)
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'you may not write there',
  EPERM: 'you may not write there',
  EROFS: 'the disk can only be read',
  ENOTDIR: 'a part of its path is a file',
  EEXIST: 'there is a file of that name',
  ENOSPC: 'the disk is full',
}

async function closeToOthers(dataDir: string): Promise<void> {
  const names = await readdir(dataDir)
  if (names.length > 0 && !names.includes('host.lock')) {
    throw unwritable(dataDir, 'other users can read it and it holds other files already')
  }
  await chmod(dataDir, 0o700)
}

function unwritable(dataDir: string, why: string, cause?: unknown): AppError {
  return new AppError(
    'data_dir_unwritable',
    `The data folder ${dataDir} cannot be used: ${why}. Set WHEELHOUSE_HOME to a folder of your own.`,
    { detail: dataDir, cause },
  )
}
