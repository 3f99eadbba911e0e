/** `list`: the names in one folder. */
import { opendir } from 'node:fs/promises'
import { z } from 'zod'

import { displayPath, fileError, resolvePath } from './paths.ts'
import type { AgentTool, PlannedCall } from './types.ts'
import { shownText } from './types.ts'

const LIST_MAX_ENTRIES = 1_000

const Input = z.object({
  path: z.string().min(1).max(4_096).default('.').describe('Folder, relative to the project folder or absolute.'),
})

export const listTool: AgentTool<z.infer<typeof Input>> = {
  name: 'list',
  kind: 'read',
  description: 'List the names in a folder; folders end with a slash.',
  input: Input,
  async plan({ path }, workspace): Promise<PlannedCall> {
    const absolute = await resolvePath(path, workspace)
    return {
      title: `List ${await displayPath(absolute, workspace)}`,
      locations: [absolute],
      action: { kind: 'other', text: `List ${absolute}` },
      preview: [],
      async run(signal) {
        const text = await listFolder(absolute, signal)
        return { text, shown: [shownText(text)], end: 'done' }
      },
    }
  },
}

async function listFolder(path: string, signal: AbortSignal): Promise<string> {
  const names: string[] = []
  let more = false
  try {
    const folder = await opendir(path)
    for await (const entry of folder) {
      signal.throwIfAborted()
      if (names.length === LIST_MAX_ENTRIES) {
        more = true
        break
      }
      names.push(entry.isDirectory() ? `${entry.name}/` : entry.isSymbolicLink() ? `${entry.name}@` : entry.name)
    }
  } catch (thrown) {
    if (signal.aborted) throw thrown
    throw fileError(thrown, path)
  }
  if (names.length === 0) return '(empty folder)'
  names.sort()
  if (more) names.push(`[More than ${LIST_MAX_ENTRIES} entries; the rest is not shown.]`)
  return names.join('\n')
}
