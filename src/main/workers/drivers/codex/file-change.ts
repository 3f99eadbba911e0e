/** A patch as Codex describes it: whole text for a new or deleted file, hunks of a unified diff for a changed one. */
import { z } from 'zod'
import type { PermissionAction, ToolContent, ToolKind } from '../../../../shared/vocabulary.ts'

export const FileChanges = z.array(
  z.object({
    path: z.string(),
    kind: z.discriminatedUnion('type', [
      z.object({ type: z.literal('add') }),
      z.object({ type: z.literal('delete') }),
      z.object({ type: z.literal('update'), move_path: z.string().nullish() }),
    ]),
    diff: z.string(),
  }),
)
export type FileChange = z.infer<typeof FileChanges>[number]

type EditChange = Extract<PermissionAction, { kind: 'edit' }>['changes'][number]

/** One entry a file, or a hunk where a file has several. `exact` is false when a diff could not be read as one. */
export function editChanges(changes: readonly FileChange[]): { changes: EditChange[]; exact: boolean } {
  const edits: EditChange[] = []
  let exact = true
  for (const { path, kind, diff } of changes) {
    if (kind.type === 'add') edits.push({ path, oldText: null, newText: diff })
    else if (kind.type === 'delete') edits.push({ path, oldText: diff, newText: null })
    else {
      const target = kind.move_path ?? path
      const hunks = readHunks(diff)
      if (hunks === null) {
        exact = false
        edits.push({ path: target, oldText: null, newText: diff })
      } else for (const { oldText, newText } of hunks) edits.push({ path: target, oldText, newText })
      // The old name disappears; what it held stands under the new one.
      if (target !== path) edits.push({ path, oldText: '', newText: null })
    }
  }
  return { changes: edits, exact }
}

export function diffContent(changes: readonly FileChange[]): ToolContent[] {
  return editChanges(changes).changes.map(({ path, oldText, newText }) => ({
    type: 'diff',
    path,
    oldText,
    newText: newText ?? '',
  }))
}

/** Every file that the patch touches, both names of a moved one. */
export function changedPaths(changes: readonly FileChange[]): string[] {
  const paths = changes.flatMap(({ path, kind }) =>
    kind.type === 'update' && typeof kind.move_path === 'string' ? [path, kind.move_path] : [path],
  )
  return [...new Set(paths)]
}

export function changeKind(changes: readonly FileChange[]): ToolKind {
  if (changes.length > 0 && changes.every(({ kind }) => kind.type === 'delete')) return 'delete'
  const moved = changes.some(({ kind }) => kind.type === 'update' && typeof kind.move_path === 'string')
  return moved ? 'move' : 'edit'
}

/** The two sides of each hunk, or null when the text is no unified diff. */
function readHunks(diff: string): { oldText: string; newText: string }[] | null {
  const hunks: { oldText: string; newText: string }[] = []
  let hunk: { oldText: string; newText: string } | null = null
  let previous = ''
  const lines = diff.split('\n')
  if (lines.at(-1) === '') lines.pop()
  for (const line of lines) {
    const mark = line.charAt(0)
    const text = `${line.slice(1)}\n`
    if (line.startsWith('@@')) {
      hunk = { oldText: '', newText: '' }
      hunks.push(hunk)
    } else if (hunk === null) return null
    else if (mark === ' ' || line === '') {
      hunk.oldText += text
      hunk.newText += text
    } else if (mark === '-') hunk.oldText += text
    else if (mark === '+') hunk.newText += text
    // "\ No newline at end of file" speaks of the line before it.
    else if (mark === '\\') {
      if (previous !== '+') hunk.oldText = hunk.oldText.replace(/\n$/, '')
      if (previous !== '-') hunk.newText = hunk.newText.replace(/\n$/, '')
    } else return null
    previous = mark
  }
  return hunks
}
