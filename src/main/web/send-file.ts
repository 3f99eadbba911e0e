import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { contentType } from '../renderer-files/index.ts'

/** Answers whether there was such a file. Names of built files change with their content, so that they may be kept. */
export async function sendStatic(response: ServerResponse, path: string, options: { head: boolean }): Promise<boolean> {
  const type = contentType(path)
  if (type === null) return false
  const found = await stat(path).catch(() => null)
  if (found === null || !found.isFile()) return false
  response.writeHead(200, {
    'content-type': type,
    'content-length': found.size,
    'cache-control': path.includes(`${sep}assets${sep}`) ? 'private, max-age=31536000, immutable' : 'no-store',
  })
  if (options.head) {
    response.end()
    return true
  }
  // Whoever hangs up in the middle leaves no open file behind.
  await pipeline(createReadStream(path), response)
  return true
}
