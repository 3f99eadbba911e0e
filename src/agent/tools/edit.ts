/** `edit` and `write`: one passage of a file, or the whole of it. */
import { z } from 'zod'

import { displayPath, resolvePath } from './paths.ts'
import type { AgentTool, PlannedCall } from './types.ts'
import { ToolError } from './types.ts'
import { EDIT_MAX_BYTES, plannedChange, readForEdit } from './write-file.ts'

const path = z.string().min(1).max(4_096).describe('Relative to the project folder, or absolute.')
const text = z.string().max(EDIT_MAX_BYTES)

const EditInput = z.object({
  path,
  old_text: text.min(1).describe('The exact passage to replace; it must occur once.'),
  new_text: text.describe('What stands there afterwards.'),
})

export const editTool: AgentTool<z.infer<typeof EditInput>> = {
  name: 'edit',
  kind: 'edit',
  description: 'Replace one passage of a text file. old_text must occur exactly once, white space included.',
  input: EditInput,
  async plan({ path, old_text: passage, new_text: replacement }, workspace): Promise<PlannedCall> {
    const absolute = await resolvePath(path, workspace)
    const before = await readForEdit(absolute)
    if (before === null) throw new ToolError(`${absolute} does not exist. Use write to create it.`)
    const at = before.indexOf(passage)
    if (at === -1) throw new ToolError(`old_text does not occur in ${absolute}. Read the file again.`)
    if (before.includes(passage, at + 1)) {
      throw new ToolError(`old_text occurs more than once in ${absolute}. Take a longer passage that occurs once.`)
    }
    if (passage === replacement) throw new ToolError('old_text and new_text are the same.')
    return plannedChange({
      path: absolute,
      title: `Edit ${await displayPath(absolute, workspace)}`,
      oldText: before,
      newText: before.slice(0, at) + replacement + before.slice(at + passage.length),
      done: `Edited ${absolute}.`,
    })
  },
}

const WriteInput = z.object({ path, content: text.describe('The whole new content of the file.') })

export const writeTool: AgentTool<z.infer<typeof WriteInput>> = {
  name: 'write',
  kind: 'edit',
  description: 'Create a text file or replace its whole content; missing folders are created.',
  input: WriteInput,
  async plan({ path, content }, workspace): Promise<PlannedCall> {
    const absolute = await resolvePath(path, workspace)
    const before = await readForEdit(absolute)
    return plannedChange({
      path: absolute,
      title: `${before === null ? 'Create' : 'Write'} ${await displayPath(absolute, workspace)}`,
      oldText: before,
      newText: content,
      done: `${before === null ? 'Created' : 'Wrote'} ${absolute}.`,
    })
  },
}
