/** Each worker's own folder: 0700, ours, no link. Whatever a session writes for its agent lies in there and goes with it. */
import { lstat, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { WorkerError } from '../errors.ts'

/** @throws WorkerError `private_dir_unsafe`: not a folder, a link, another owner, or others may enter. */
export async function verifyPrivateDir(path: string): Promise<void> {
  const refuse = (why: string): WorkerError =>
    new WorkerError('private_dir_unsafe', "The agent's private folder is not safe to use.", {
      started: 'never',
      detail: why,
    })
  let found
  try {
    found = await lstat(path)
  } catch {
    throw refuse('it is not there')
  }
  if (!found.isDirectory()) throw refuse('it is no folder')
  if (found.uid !== (process.getuid?.() ?? found.uid)) throw refuse('it belongs to someone else')
  if ((found.mode & 0o077) !== 0) throw refuse('others may enter it')
}

/** A fresh one. @throws WorkerError `private_dir_failed`. */
export async function createPrivateDir(root: string, workerId: string): Promise<string> {
  const path = join(root, workerId)
  try {
    await mkdir(root, { recursive: true, mode: 0o700 })
    await mkdir(path, { mode: 0o700 })
    return path
  } catch (error) {
    const detail = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    throw new WorkerError('private_dir_failed', "The agent's private folder could not be made.", {
      started: 'never',
      detail,
    })
  }
}

/** Empties it; what cannot be removed stays for the sweep. */
export async function emptyPrivateDir(path: string): Promise<void> {
  let names: string[] = []
  try {
    if (!(await lstat(path)).isDirectory()) return
    names = await readdir(path)
  } catch {
    return
  }
  await Promise.all(names.map((name) => rm(join(path, name), { recursive: true, force: true }).catch(() => undefined)))
}

/** Removes the folders of workers that are not kept. Follows no link: a link itself is removed. */
export async function sweepPrivateDirs(
  root: string,
  isKept: (workerId: string) => boolean,
): Promise<{ removed: number; kept: number }> {
  let names: string[]
  try {
    names = await readdir(root)
  } catch {
    return { removed: 0, kept: 0 }
  }
  let removed = 0
  let kept = 0
  for (const name of names) {
    if (isKept(name)) {
      kept += 1
      continue
    }
    try {
      await rm(join(root, name), { recursive: true, force: true })
      removed += 1
    } catch {
      kept += 1
    }
  }
  return { removed, kept }
}
