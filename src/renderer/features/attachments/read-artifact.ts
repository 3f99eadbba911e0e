import type { Bridge } from '../../../shared/bridge/client.ts'
import type { ArtifactFacts } from '../../../shared/events.ts'

/** A longer text is for a program that reads such files. */
export const MAX_SHOWN_BYTES = 2 * 1_048_576
const IMAGES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])
const TEXT = /^text\/|[/+](?:json|xml|yaml|toml|javascript|x-sh|sql)$/

/** How a file can be looked at here; `none`: only another program can. */
export type Preview = 'image' | 'text' | 'none'

export function previewOf({ mediaType }: Pick<ArtifactFacts, 'mediaType'>): Preview {
  if (IMAGES.has(mediaType)) return 'image'
  return TEXT.test(mediaType) ? 'text' : 'none'
}

/** All bytes of a published file, page by page. @throws AppError `artifact_expired`, `artifact_corrupt`. */
export async function readArtifact(
  bridge: Bridge,
  sessionId: string,
  artifactId: string,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const pages: Uint8Array[] = []
  for (let offset: number | null = 0; offset !== null;) {
    const page: { base64: string; next: number | null } = await bridge.call(
      'attachments.read',
      { sessionId, artifactId, offset },
      signal,
    )
    pages.push(fromBase64(page.base64))
    offset = page.next
  }
  const bytes = new Uint8Array(pages.reduce((sum, page) => sum + page.length, 0))
  let at = 0
  for (const page of pages) {
    bytes.set(page, at)
    at += page.length
  }
  return bytes
}

function fromBase64(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
}
