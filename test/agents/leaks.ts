/** Where a secret stands that should stand nowhere: files below folders, and what every process was started with. */
import { createHash } from 'node:crypto'
import { filesBelow, readIfThere } from '../support/dir.ts'
import { leaksIn } from '../support/planted.ts'
import { processes } from './processes.ts'

export interface Wanted {
  texts: readonly string[]
  /** SHA-256, base64url, of 32 random bytes in base64url: what a route's id is stored as. */
  digests: readonly string[]
}

/** Paths of the files that hold one. */
export function filesWith(wanted: Wanted, folders: readonly string[]): string[] {
  return filesBelow(...folders).filter((path) => holds(wanted, readIfThere(path)))
}

/** Processes whose arguments or environment hold one. */
export function processesWith(wanted: Wanted): string[] {
  return processes()
    .filter(({ argv, environ }) => holds(wanted, Buffer.from(`${argv}\0${environ}`, 'latin1')))
    .map(({ pid, argv }) => `${pid} ${argv.replaceAll('\0', ' ')}`)
}

const ID_CHARS = 43
/** As long as an id becomes in base64. */
const PACKED = /[A-Za-z0-9+/_-]{56,}/g
const CANDIDATE = new RegExp(`[A-Za-z0-9_-]{${ID_CHARS},}`, 'g')

export function routeDigest(routeId: string): string {
  return createHash('sha256').update(routeId).digest('base64url')
}

/** Whether it holds one, in any form that a key is looked for in; an id also in base64 and in characters of two bytes. */
export function holds({ texts, digests }: Wanted, content: Buffer): boolean {
  if (texts.some((text) => leaksIn(content, text).length > 0)) return true
  if (digests.length === 0) return false
  const text = content.toString('latin1')
  return [text, text.replaceAll('\0', ''), ...unpacked(text)].some((reading) => holdsId(reading, digests))
}

/** What each run of base64 says, begun at each place of a group. */
function unpacked(text: string): string[] {
  return [...text.matchAll(PACKED)].flatMap(([run]) =>
    [0, 1, 2, 3].map((from) => Buffer.from(run.slice(from), 'base64').toString('latin1')),
  )
}

function holdsId(text: string, digests: readonly string[]): boolean {
  for (const [found] of text.matchAll(CANDIDATE)) {
    for (let at = 0; at + ID_CHARS <= found.length; at++) {
      if (digests.includes(routeDigest(found.slice(at, at + ID_CHARS)))) return true
    }
  }
  return false
}
