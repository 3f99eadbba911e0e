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

/** Null: no kind of file that the renderer is built of. */
export const contentType = (path: string): string | null => TYPES[extname(path)] ?? null

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
