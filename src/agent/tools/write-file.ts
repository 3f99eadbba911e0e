/**
 * The one way a tool changes a file: what was shown to the person is what is replaced. A file that changed since, or a
 * path that leads elsewhere now, is a conflict and stays as it is.
 */
import { randomUUID } from 'node:crypto'
import { mkdir, open, realpath, rename, stat, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

import { decodeText, errorCode, fileError, isMissing, openRegular } from './paths.ts'
import type { PlannedCall } from './types.ts'
import { ToolError } from './types.ts'

/** Larger files are not edited: their diff could not be shown. */
export const EDIT_MAX_BYTES = 4 * 1024 * 1024

/** The text of a file that is to be edited; null where there is none yet. */
export async function readForEdit(path: string): Promise<string | null> {
  try {
    const handle = await openRegular(path)
    try {
      if ((await handle.stat()).size > EDIT_MAX_BYTES) throw new ToolError(`${path} is larger than 4 MiB.`)
      const text = decodeText(await handle.readFile())
      if (text === null) throw new ToolError(`${path} is not UTF-8 text, so it is left alone.`)
      return text
    } finally {
      await handle.close()
    }
  } catch (thrown) {
    if (thrown instanceof ToolError && isMissing(thrown.cause)) return null
    throw fileError(thrown, path)
  }
}

/** The plan of a change from `oldText` to `newText`; `path` is resolved already. */
export function plannedChange(change: {
  path: string
  title: string
  oldText: string | null
  newText: string
  done: string
}): PlannedCall {
  const { path, oldText, newText } = change
  return {
    title: change.title,
    locations: [path],
    action: { kind: 'edit', changes: [{ path, oldText, newText }] },
    preview: [{ type: 'diff', path, oldText, newText }],
    async run() {
      await replaceFile(path, oldText, newText)
      return { text: change.done, shown: [], end: 'done' }
    },
  }
}

async function replaceFile(path: string, oldText: string | null, newText: string): Promise<void> {
  const folder = dirname(path)
  const temporary = join(folder, `.${basename(path).slice(0, 100)}.${randomUUID()}.tmp`)
  try {
    if (oldText === null) await makeFolders(folder)
    if ((await realpath(folder)) !== folder) throw conflict(path)
    const mode = oldText === null ? 0o666 : (await stat(path)).mode & 0o7777
    const handle = await open(temporary, 'wx', mode)
    try {
      if (oldText !== null) await handle.chmod(mode)
      await handle.writeFile(newText, 'utf8')
      await handle.sync()
    } finally {
      await handle.close()
    }
    // The comparison comes last, right before the rename, so that the gap for another writer is as small as it can be.
    if ((await readForEdit(path)) !== oldText) throw conflict(path)
    if (oldText !== null && (await realpath(path)) !== path) throw conflict(path)
    await rename(temporary, path)
  } catch (thrown) {
    await unlink(temporary).catch((missing: unknown) => {
      if (errorCode(missing) !== 'ENOENT') throw fileError(missing, temporary)
    })
    throw fileError(thrown, path)
  }
}

/** With what is missing above it. Node's own recursive `mkdir` never returns below a folder that takes none, as `/proc`. */
async function makeFolders(folder: string): Promise<void> {
  try {
    await mkdir(folder)
  } catch (thrown) {
    if (errorCode(thrown) === 'EEXIST') return
    if (!isMissing(thrown) || dirname(folder) === folder) throw thrown
    await makeFolders(dirname(folder))
    await mkdir(folder)
  }
}

function conflict(path: string): ToolError {
  return new ToolError(`${path} changed since this edit was shown. Nothing was written; read it again.`)
}
