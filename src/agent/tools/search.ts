/** `search`: lines that match a regular expression, in files below a folder. Bounded in files, bytes, matches and time. */
import { opendir, stat } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import { z } from 'zod'

import { globMatcher } from './glob.ts'
import { lineMatcher } from './line-matcher.ts'
import { decodeText, displayPath, fileError, openRegular, resolvePath } from './paths.ts'
import type { AgentTool, PlannedCall } from './types.ts'
import { shownText } from './types.ts'

const FILE_MAX_BYTES = 2 * 1024 * 1024
const MAX_MATCHES = 200
const MAX_FILES = 50_000
const MAX_DEPTH = 64
const TIME_BUDGET_MS = 20_000
const LINE_SHOWN_CHARS = 400
const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(['.git', 'node_modules'])

const Input = z.object({
  pattern: z.string().min(1).max(1_000).describe('A JavaScript regular expression, matched line by line.'),
  path: z.string().min(1).max(4_096).default('.').describe('Folder or file; the project folder by default.'),
  glob: z.string().min(1).max(500).optional().describe('Only files such as "*.ts" or "src/**/*.{js,ts}".'),
})

export const searchTool: AgentTool<z.infer<typeof Input>> = {
  name: 'search',
  kind: 'search',
  description: 'Search text files for a regular expression; answers path:line: text. Skips .git and node_modules.',
  input: Input,
  async plan({ pattern, path, glob }, workspace): Promise<PlannedCall> {
    const absolute = await resolvePath(path, workspace)
    const shown = await displayPath(absolute, workspace)
    const only = glob === undefined ? '' : `, only ${glob}`
    return {
      title: `Search ${shown} for ${pattern}${only}`,
      locations: [absolute],
      action: { kind: 'other', text: `Search ${absolute} for ${pattern}${only}` },
      preview: [],
      async run(signal) {
        const text = await searchFiles({ pattern, root: absolute, glob }, signal)
        return { text, shown: [shownText(text)], end: 'done' }
      },
    }
  },
}

async function searchFiles(
  query: { pattern: string; root: string; glob: string | undefined },
  signal: AbortSignal,
): Promise<string> {
  const match = lineMatcher(query.pattern)
  const wanted = query.glob === undefined ? () => true : globMatcher(query.glob)
  const deadline = performance.now() + TIME_BUDGET_MS
  const lines: string[] = []
  let ended: string | null = null
  let files = 0
  for await (const file of filesBelow(query.root)) {
    signal.throwIfAborted()
    files += 1
    if (files > MAX_FILES) ended = `after ${MAX_FILES} files`
    if (performance.now() > deadline) ended = `after ${TIME_BUDGET_MS / 1_000} s`
    if (ended !== null) break
    const path = relative(query.root, file).split(sep).join('/') || basename(file)
    if (!wanted(path)) continue
    const text = await smallText(file)
    if (text === null) continue
    for (const found of match(text, MAX_MATCHES - lines.length)) {
      lines.push(`${path}:${found.line}: ${found.text.slice(0, LINE_SHOWN_CHARS).trimEnd()}`)
    }
    if (lines.length >= MAX_MATCHES) {
      ended = `at ${MAX_MATCHES} matches`
      break
    }
  }
  if (ended !== null) lines.push(`[The search ended ${ended}; there may be more.]`)
  return lines.length === 0 ? 'No matches.' : lines.join('\n')
}

/** Depth first, in order of names; links are not followed, so no circle. A folder that cannot be opened is passed over. */
async function* filesBelow(root: string, depth = 0): AsyncGenerator<string> {
  if (depth === 0) {
    const kind = await stat(root).catch((thrown: unknown) => {
      throw fileError(thrown, root)
    })
    if (kind.isFile()) {
      yield root
      return
    }
  }
  const entries = []
  try {
    for await (const entry of await opendir(root)) entries.push(entry)
  } catch (thrown) {
    if (depth === 0) throw fileError(thrown, root)
    return
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const entry of entries) {
    const path = join(root, entry.name)
    if (entry.isFile()) yield path
    else if (entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name) && depth < MAX_DEPTH) {
      yield* filesBelow(path, depth + 1)
    }
  }
}

/** Null: binary, too large, or gone meanwhile. */
async function smallText(path: string): Promise<string | null> {
  try {
    const handle = await openRegular(path)
    try {
      if ((await handle.stat()).size > FILE_MAX_BYTES) return null
      return decodeText(await handle.readFile())
    } finally {
      await handle.close()
    }
  } catch {
    return null
  }
}
