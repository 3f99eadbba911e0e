/** Where a secret stands that should stand nowhere: files below folders, and what every process was started with. */
import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { processes } from './processes.ts'

export interface Wanted {
  texts: readonly string[]
  /** SHA-256, base64url, of 32 random bytes in base64url: what a route's id is stored as. */
  digests: readonly string[]
}

/** Paths of the files that hold one. */
export function filesWith(wanted: Wanted, folders: readonly string[]): string[] {
  return folders
    .flatMap((folder) => readdirSync(folder, { withFileTypes: true, recursive: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`)
    .filter((path) => textHolds(wanted, readIfThere(path)))
}

/** Processes whose arguments or environment hold one. */
export function processesWith(wanted: Wanted): string[] {
  return processes()
    .filter(({ argv, environ }) => textHolds(wanted, argv) || textHolds(wanted, environ))
    .map(({ pid, argv }) => `${pid} ${argv.replaceAll('\0', ' ')}`)
}

const ID_CHARS = 43
const CANDIDATE = new RegExp(`[A-Za-z0-9_-]{${ID_CHARS},}`, 'g')

export function routeDigest(routeId: string): string {
  return createHash('sha256').update(routeId).digest('base64url')
}

/** Whether a text holds one, as it is or in a usual encoding. */
export function textHolds({ texts, digests }: Wanted, content: string): boolean {
  const forms = texts.flatMap((text) => [text, Buffer.from(text).toString('base64'), encodeURIComponent(text)])
  if (forms.some((form) => content.includes(form))) return true
  for (const [found] of content.matchAll(CANDIDATE)) {
    for (let at = 0; at + ID_CHARS <= found.length; at++) {
      if (digests.includes(routeDigest(found.slice(at, at + ID_CHARS)))) return true
    }
  }
  return false
}

/** A database may drop its journal between the listing and the reading. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  }
}
