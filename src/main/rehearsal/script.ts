/** The scripted model: the next move of a conversation. Pure; the same conversation always gets the same move. */
import { nextBuiltinMove } from './script-builtin.ts'
import { nextShellMove, shellCall, shellOf } from './script-shell.ts'
import { closing, said } from './script-words.ts'
import type { Conversation, Move } from './types.ts'

const BUILTIN_TOOLS = ['read', 'list', 'edit', 'write', 'bash']
const COUNT_TO = 600
const COUNT_PAUSE_MS = 20
const COUNTS_A_LINE = 20

export function nextMove(conversation: Conversation): Move {
  const { prompt, steps } = conversation
  const shell = shellOf(conversation.tools)
  const command = /^[ \t]*run:[ \t]*(\S.*)$/m.exec(prompt ?? '')?.[1]?.trim()
  if (command !== undefined && shell !== null) {
    if (steps.length > 0) return closing(conversation, `I ran \`${command}\`.`)
    return { ...said('I run the command that you gave me.'), call: shellCall(shell, command) }
  }
  if (/\bslowly\b/i.test(prompt ?? '') && steps.length === 0) return countSlowly()
  const names = new Set(conversation.tools.map((tool) => tool.name))
  if (BUILTIN_TOOLS.every((name) => names.has(name))) return nextBuiltinMove(conversation)
  if (shell !== null) return nextShellMove(conversation, shell)
  return said(
    'This is a rehearsal: no model is behind it, so I cannot answer that. Connect a Provider to talk to a real one.',
  )
}

/** Numbers, so that a gap or a doubled piece shows at once. */
function countSlowly(): Move {
  const text = Array.from({ length: COUNT_TO }, (_, at) => `${at + 1}${(at + 1) % COUNTS_A_LINE === 0 ? '\n' : ' '}`)
  return { text: ['I count slowly.\n\n', ...text], pauseMs: COUNT_PAUSE_MS, call: null }
}
