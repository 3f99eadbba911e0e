import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { link, open, rm, stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { syncFolder, systemCode } from '../platform/index.ts'
import type { ClaimedOperation, DeliveryResult, DeliveryTransport } from '../runtime/index.ts'

/** What a file system takes as a name. */
const MAX_NAME_BYTES = 255
const MAX_EXTENSION_BYTES = 20

export interface FileDropDeps {
  /** The absolute folder that the person chose under this name; null: none any more. */
  folderOf(targetId: string): string | null
}

/**
 * Puts answers and files into a folder that the person chose. A name is worked out from the operation, and a file that
 * stands there is compared with what should: a second attempt finds the first one's, and nobody's file is written over.
 */
export function createFileDrop({ folderOf }: FileDropDeps): DeliveryTransport {
  return {
    id: 'file_drop',
    capability: { text: true, image: true, file: true, video: true },
    isIdempotent: () => true,
    async execute(operation, signal) {
      // The folder is on this machine: there is nothing to carry over first.
      if (operation.kind === 'upload_artifact') return { status: 'uploaded' }
      const folder = folderOf(operation.target.targetId)
      if (folder === null) return { status: 'failed', failureCode: 'file_drop_unknown' }
      const isFolder = await stat(folder).then(
        (found) => found.isDirectory(),
        () => false,
      )
      if (!isFolder) return { status: 'sending', failureCode: 'file_drop_folder_missing' }
      return put(folder, operation, signal)
    },
  }
}

async function put(folder: string, operation: ClaimedOperation, signal: AbortSignal): Promise<DeliveryResult> {
  const { artifact, payload, id } = operation
  const path = join(folder, nameOf(operation))
  const digest = artifact?.sha256 ?? createHash('sha256').update(payload).digest('hex')
  const there = await compare(path, digest)
  if (there !== 'absent') return there === 'same' ? DELIVERED : TAKEN

  // What an attempt that died left behind is its own.
  const part = join(folder, `.${id}.part`)
  await rm(part, { force: true })
  const file = await open(part, 'wx', 0o600)
  try {
    await writeAll(file, artifact === null ? [Buffer.from(payload)] : await artifact.open(), signal)
    await file.close()
    // A link and no rename: it refuses to take the place of a file that came meanwhile.
    await link(part, path)
    await syncFolder(folder)
    return DELIVERED
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error
    return (await compare(path, digest)) === 'same' ? DELIVERED : TAKEN
  } finally {
    await file.close()
    await rm(part, { force: true })
  }
}

const DELIVERED: DeliveryResult = { status: 'delivered' }
const TAKEN: DeliveryResult = { status: 'failed', failureCode: 'file_drop_name_taken' }

async function writeAll(
  file: FileHandle,
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  for await (const piece of pieces) {
    signal.throwIfAborted()
    await file.writeFile(piece)
  }
  await file.sync()
}

/** `other` is whatever else stands there: a link is not followed. */
async function compare(path: string, digest: string): Promise<'absent' | 'same' | 'other'> {
  let file: FileHandle
  try {
    file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return 'absent'
    if (systemCode(error) === 'ELOOP') return 'other'
    throw error
  }
  try {
    if (!(await file.stat()).isFile()) return 'other'
    const hash = createHash('sha256')
    for await (const piece of file.createReadStream({ autoClose: false })) hash.update(piece as Uint8Array)
    return hash.digest('hex') === digest ? 'same' : 'other'
  } finally {
    await file.close()
  }
}

/** The file's own name with the operation's mark, so that two files of one name stand side by side. */
function nameOf({ id, kind, artifact }: ClaimedOperation): string {
  const mark = id.slice(-12)
  if (artifact === null) return `${kind === 'send_fallback_text' ? 'not-sent' : 'answer'}-${mark}.md`
  const extension = extname(artifact.filename)
  const stem = artifact.filename.slice(0, artifact.filename.length - extension.length)
  const tail = `-${mark}${fitted(cleaned(extension), MAX_EXTENSION_BYTES)}`
  return `${fitted(cleaned(stem).replace(/^\./, '_'), MAX_NAME_BYTES - Buffer.byteLength(tail))}${tail}`
}

/** As many whole characters as the bytes have room for. */
function fitted(text: string, maxBytes: number): string {
  let bytes = 0
  let kept = ''
  for (const character of text) {
    bytes += Buffer.byteLength(character)
    if (bytes > maxBytes) break
    kept += character
  }
  return kept
}

function cleaned(name: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what no name may hold
  return name.replace(/[\u0000-\u001f\u007f/\\:*?"<>|]/g, '_')
}
