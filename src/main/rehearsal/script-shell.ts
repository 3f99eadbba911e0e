/** The script for an agent that offers nothing but a shell: append a line to a file, say what was done. */
import { afterRefusal, closing, refusalOf, said } from './script-words.ts'
import type { Conversation, Move, OfferedTool, ToolCall } from './types.ts'

const SHELL_NAMES = ['bash', 'Bash', 'shell_command', 'exec_command', 'shell']
const FILE = 'rehearsal.md'

export function shellOf(tools: readonly OfferedTool[]): OfferedTool | null {
  for (const name of SHELL_NAMES) {
    const tool = tools.find((candidate) => candidate.name === name)
    if (tool !== undefined) return tool
  }
  return null
}

/** Agents name the command differently, and one of them wants words instead of a text. */
export function shellCall(shell: OfferedTool, command: string): ToolCall {
  if (Object.hasOwn(shell.input, 'cmd')) return { tool: shell.name, input: { cmd: command } }
  if (shell.input['command'] === 'array') return { tool: shell.name, input: { command: ['bash', '-lc', command] } }
  const description = Object.hasOwn(shell.input, 'description') ? { description: 'Rehearse a command' } : {}
  return { tool: shell.name, input: { command, ...description } }
}

export function nextShellMove(conversation: Conversation, shell: OfferedTool): Move {
  const last = conversation.steps.at(-1)
  if (last === undefined) {
    return {
      ...said(`This is a rehearsal, played by a script. I propose to add one line to \`${FILE}\`.`),
      call: shellCall(shell, `printf '%s\\n' 'Rehearsed.' >> ${FILE}`),
    }
  }
  const refused = refusalOf(last, conversation.steering)
  if (refused !== null) return said(afterRefusal(last, refused, conversation.steps))
  return closing(conversation, `I added one line to \`${FILE}\`.`)
}
