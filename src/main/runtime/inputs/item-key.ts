import { createHmac } from 'node:crypto'
import { link, mkdir, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../../shared/errors.ts'
import { systemCode } from '../../platform/index.ts'
import type { Ids } from '../../platform/types.ts'

const KEY_BYTES = 32
const KEY_FILE = 'input-key'

export interface ItemIdentity {
  /** Who brings the item: a window, a channel. */
  origin: string
  /** The outside event or reference that the item belongs to; without either it has no identity. */
  eventId?: string
  reference?: string
  /** Its place among that event's items. */
  itemIndex: number
}

export type ItemKeys = (item: ItemIdentity) => Promise<string | null>

/**
 * Names an outside item without keeping its reference: an HMAC under a key of this installation alone. Null: the item has
 * no identity and is new each time.
 */
export function createItemKeys({ dataDir, ids }: { dataDir: string; ids: Ids }): ItemKeys {
  let key: Promise<Buffer> | null = null
  return async ({ origin, eventId, reference, itemIndex }) => {
    const named = eventId ?? reference
    if (named === undefined || named === '') return null
    key ??= readKey(dataDir, ids).catch((error: unknown) => {
      key = null
      throw error
    })
    return createHmac('sha256', await key)
      .update(`${origin}\0${named}\0${itemIndex}`)
      .digest('hex')
  }
}

/** Of two processes that make it at once both use the one that was first. */
async function readKey(dataDir: string, ids: Ids): Promise<Buffer> {
  const path = join(dataDir, KEY_FILE)
  const there = await readExisting(path)
  if (there !== null) return there
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const temp = `${path}.${Buffer.from(ids.bytes(8)).toString('hex')}`
  const file = await open(temp, 'wx', 0o600)
  try {
    await file.writeFile(ids.bytes(KEY_BYTES))
    await file.sync()
  } finally {
    await file.close()
  }
  await link(temp, path).catch((error: unknown) => {
    if (systemCode(error) !== 'EEXIST') throw error
  })
  await rm(temp, { force: true })
  const made = await readExisting(path)
  if (made === null) throw new AppError('file_failed', 'The key of this installation cannot be kept.', { detail: path })
  return made
}

async function readExisting(path: string): Promise<Buffer | null> {
  try {
    const bytes = await readFile(path)
    if (bytes.length === KEY_BYTES) return bytes
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null
    throw error
  }
  throw new AppError('file_failed', 'The key of this installation is damaged.', { detail: path })
}
