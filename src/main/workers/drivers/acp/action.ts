/**
 * What a permission is for, exactly. Our own agent says it in `_meta.wheelhouse.action`; of others, an edit is read from
 * its diffs, a command from its input, and the rest is shown as the input stands.
 */
import { PermissionAction } from '../../../../shared/vocabulary.ts'
import { isObject } from '../shared/is-object.ts'
import { mcpServerOf } from '../shared/permission-gate.ts'
import { trustedName } from '../shared/content-channel.ts'
import type { KnownTool } from './tools.ts'

const EDITS: ReadonlySet<string> = new Set(['edit', 'delete', 'move'])

/** `complete` false: the agent did not say all of what it will do. */
export function actionOf(tool: KnownTool, cwd: string): { action: PermissionAction; complete: boolean } {
  const own = isObject(tool.meta['wheelhouse']) ? PermissionAction.safeParse(tool.meta['wheelhouse']['action']) : null
  if (own?.success === true) return { action: own.data, complete: true }
  const input = tool.rawInput
  const name = trustedName(tool.name)
  const server = mcpServerOf(name)
  if (name !== null && server !== null) {
    const shown = inputText(input)
    return {
      action: { kind: 'mcp', server, tool: name.slice(`mcp__${server}__`.length), input: shown },
      complete: true,
    }
  }
  if (tool.kind === 'execute') {
    const command = isObject(input) ? commandText(input['command']) : null
    if (command !== null) {
      const where = isObject(input) && typeof input['cwd'] === 'string' ? input['cwd'] : cwd
      return { action: { kind: 'command', command, cwd: where, wrapper: null }, complete: true }
    }
    return { action: { kind: 'other', text: otherText(tool) }, complete: false }
  }
  const changes = tool.content.flatMap((part) =>
    part.type === 'diff' && 'newText' in part
      ? [{ path: part.path, oldText: part.oldText ?? null, newText: part.newText }]
      : [],
  )
  if (changes.length > 0) return { action: { kind: 'edit', changes }, complete: true }
  // An edit without its diff shows where, not what.
  return { action: { kind: 'other', text: otherText(tool) }, complete: !EDITS.has(tool.kind) && input !== undefined }
}

/** A command is a line, or a list of arguments that is shown as it would be run, each one quoted. */
function commandText(command: unknown): string | null {
  if (typeof command === 'string') return command === '' ? null : command
  if (!Array.isArray(command) || command.length === 0) return null
  if (!command.every((part) => typeof part === 'string')) return null
  return command
    .map((part) => (/^[\w@%+=:,./-]+$/.test(part) ? part : `'${part.replaceAll("'", String.raw`'\''`)}'`))
    .join(' ')
}

function otherText(tool: KnownTool): string {
  const input = inputText(tool.rawInput)
  return [tool.title, ...tool.paths, input].filter((part) => part !== '').join('\n')
}

function inputText(input: unknown): string {
  if (input === undefined || input === null) return ''
  return typeof input === 'string' ? input : JSON.stringify(input, null, 2)
}
