/**
 * Where a session's attachments lie: `<workDir>/.wheelhouse/inputs/<id>/<filename>`. The agent works in that directory and
 * may have put anything there, so no link is ever followed and every path is looked at again before it is used.
 */
import { access, constants, lstat, mkdir, realpath, rm, writeFile } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { AppError } from '../../../shared/errors.ts'
import { systemCode } from '../../platform/index.ts'

const HIDDEN = '.wheelhouse'
const INPUTS = 'inputs'
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export function isUuid(id: string): boolean {
  return UUID.test(id)
}

/**
 * Makes the folder for one input and answers its real path.
 * @throws AppError `work_dir_missing`, `input_path_escape`, `input_root_unwritable`.
 */
export async function makeInputFolder(workDir: string, id: string): Promise<string> {
  const work = await realWorkDir(workDir)
  const hidden = await enter(work, HIDDEN)
  await ignoreInGit(hidden)
  const root = await enter(hidden, INPUTS)
  await access(root, constants.W_OK).catch((error: unknown) => {
    throw unwritable(root, error)
  })
  const folder = join(root, checked(id))
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    throw unwritable(folder, error)
  })
  if ((await realpath(folder)) !== folder) throw escape(folder)
  return folder
}

/** Stored with `/` everywhere; never absolute. */
export function relativeInputPath(id: string, filename: string): string {
  return [HIDDEN, INPUTS, checked(id), filename].join('/')
}

/** The real path of a stored file; null: it is not there any more, or something else is in its place. */
export async function findInputFile(workDir: string, relativePath: string): Promise<string | null> {
  const [hidden, inputs, id = '', filename = '', ...more] = relativePath.split('/')
  if (hidden !== HIDDEN || inputs !== INPUTS || !isUuid(id) || filename === '' || more.length > 0) return null
  try {
    const work = await realpath(workDir)
    const path = join(work, HIDDEN, INPUTS, id, filename)
    if (!path.startsWith(work + sep) || (await realpath(path)) !== path) return null
    return (await lstat(path)).isFile() ? path : null
  } catch {
    return null
  }
}

/**
 * Removes the folder of one input; one that is not there any more is a success.
 * @throws AppError `input_path_escape`; errors of the system.
 */
export async function removeInputFolder(workDir: string, id: string): Promise<void> {
  try {
    const root = join(await realpath(workDir), HIDDEN, INPUTS)
    if ((await realpath(root)) !== root) throw escape(root)
    await rm(join(root, checked(id)), { recursive: true, force: true })
  } catch (error) {
    const code = systemCode(error)
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error
  }
}

async function realWorkDir(workDir: string): Promise<string> {
  try {
    return await realpath(workDir)
  } catch (error) {
    throw new AppError('work_dir_missing', 'The work directory of this session no longer exists.', {
      detail: workDir,
      cause: error,
    })
  }
}

/** Each level is looked at before anything is made below it. */
async function enter(parent: string, name: string): Promise<string> {
  const path = join(parent, name)
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw unwritable(path, error)
  }
  if (!(await lstat(path)).isDirectory() || (await realpath(path)) !== path) throw escape(path)
  return path
}

async function ignoreInGit(hidden: string): Promise<void> {
  try {
    await writeFile(join(hidden, '.gitignore'), '*\n', { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw unwritable(hidden, error)
  }
}

function checked(id: string): string {
  if (isUuid(id)) return id
  throw escape(id)
}

function escape(path: string): AppError {
  return new AppError('input_path_escape', 'The place for attachments leads out of the work directory.', {
    detail: path,
  })
}

function unwritable(path: string, cause: unknown): AppError {
  const code = systemCode(cause)
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new AppError('storage_full', 'There is no room on the disk for this attachment.', { cause })
  }
  return new AppError('input_root_unwritable', 'Attachments cannot be kept in this work directory.', {
    detail: `${code} ${path}`,
    cause,
  })
}
