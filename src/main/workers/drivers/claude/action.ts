/**
 * What a call will do, exactly, out of its input. A part of the input that is not shown by the action's own form makes it
 * incomplete, and thereby a matter for a person.
 */
import { resolve } from 'node:path'
import type { PermissionAction } from '../../../../shared/vocabulary.ts'
import { readPlainSync, systemCode } from '../../../platform/index.ts'
import { trustedName } from '../shared/content-channel.ts'
import { mcpServerOf } from '../shared/permission-gate.ts'
import { readInput } from './tools.ts'

/** A file up to this size is read, so that a person sees what is overwritten. */
const SHOWN_BYTES = 1_048_576

/** Fields that say nothing about what will be done. */
const COMMAND_FIELDS: ReadonlySet<string> = new Set(['command', 'description', 'timeout', 'run_in_background'])

export function actionOf(
  tool: string,
  input: Readonly<Record<string, unknown>>,
  cwd: string,
): { action: PermissionAction; complete: boolean } {
  const given = readInput(input)
  const name = trustedName(tool)
  const server = mcpServerOf(name)
  if (name !== null && server !== null) {
    const asked = name.slice(`mcp__${server}__`.length)
    return { action: { kind: 'mcp', server, tool: asked, input: asText(input) }, complete: true }
  }
  if (tool === 'Bash' && given.command !== undefined) {
    // Anything else that is set changes how it runs, such as outside the person's sandbox.
    const complete = Object.entries(input).every(([field, value]) => COMMAND_FIELDS.has(field) || value === false)
    return { action: { kind: 'command', command: given.command, cwd, wrapper: null }, complete }
  }
  const { file_path: path, old_string: oldText, new_string: newText, content } = given
  if (tool === 'Edit' && path !== undefined && oldText !== undefined && newText !== undefined) {
    // Every other place of the same text would change too, and none of them is shown.
    const complete = input['replace_all'] !== true
    return { action: { kind: 'edit', changes: [{ path, oldText, newText }] }, complete }
  }
  if (tool === 'Write' && path !== undefined && content !== undefined) {
    const before = presentText(resolve(cwd, path))
    const oldText = before === 'absent' ? null : (before?.text ?? '')
    return {
      action: { kind: 'edit', changes: [{ path, oldText, newText: content }] },
      complete: before !== null,
    }
  }
  return { action: { kind: 'other', text: asText(input) }, complete: tool !== 'Bash' }
}

/** Synchronous, since which turn a question belongs to is decided in the reader. Null: it cannot be shown. */
function presentText(path: string): { text: string } | 'absent' | null {
  try {
    return { text: readPlainSync(path, SHOWN_BYTES).toString('utf8') }
  } catch (error) {
    return systemCode(error) === 'ENOENT' ? 'absent' : null
  }
}

function asText(input: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(input, null, 2)
}
