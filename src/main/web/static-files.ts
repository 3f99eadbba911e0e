import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { extname, join, normalize, sep } from 'node:path'

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/** The file that a path names below `root`, or null: nothing outside of it can be named. */
export function resolveStatic(root: string, pathname: string): string | null {
  let decoded: string
  try {
    decoded = decodeURIComponent(pathname)
  } catch {
    return null
  }
  if (decoded.includes('\0') || decoded.includes('\\')) return null
  const path = normalize(join(root, decoded === '/' ? 'index.html' : decoded))
  return path.startsWith(root + sep) ? path : null
}

/** Answers whether there was such a file. Names of built files change with their content, so that they may be kept. */
export async function sendStatic(response: ServerResponse, path: string, options: { head: boolean }): Promise<boolean> {
  const type = TYPES[extname(path)]
  if (type === undefined) return false
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
  const stream = createReadStream(path)
  stream.on('error', () => response.destroy())
  stream.pipe(response)
  return true
}
