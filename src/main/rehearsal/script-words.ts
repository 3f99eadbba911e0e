/** What the scripted model says, cut into deltas, and how it takes a refusal. */
import { isRefusedByUser } from './conversation.ts'
import type { Conversation, Move, ToolStep } from './types.ts'

const PAUSE_MS = 12
const WORDS_A_DELTA = 3

export function said(text: string): Move {
  return { text: deltasOf(text), pauseMs: PAUSE_MS, call: null }
}

function deltasOf(text: string): string[] {
  const words = text.match(/\s*\S+\s*/g) ?? [text]
  const deltas: string[] = []
  for (let at = 0; at < words.length; at += WORDS_A_DELTA) deltas.push(words.slice(at, at + WORDS_A_DELTA).join(''))
  return deltas
}

/** The last words of a turn, or what there is to say where the last call was refused or failed. */
export function closing(conversation: Conversation, done: string): Move {
  const last = conversation.steps.at(-1)
  const refused = last === undefined ? null : refusalOf(last, conversation.steering)
  if (last !== undefined && refused !== null) return said(afterRefusal(last, refused, conversation.steps))
  if (last?.result?.isError === true) return said(`${done} It failed: ${firstLine(last.result.text)}`)
  return said(`${done} This was a rehearsal.`)
}

export interface Refusal {
  /** Empty: none was given. */
  reason: string
}

/** Null: the call was not refused. Each agent words a refusal in its own way. */
export function refusalOf(step: ToolStep, steering: string | null): Refusal | null {
  const { result } = step
  if (result === null) return null
  const text = result.text.trim()
  const builtin = /^Denied by the person(?:: ([\s\S]*?))?\.?$/.exec(text)
  if (builtin !== null) return { reason: builtin[1] ?? '' }
  if (/^The (?:permission request was cancelled|answer to the permission request)/.test(text)) return { reason: '' }
  // Codex: the reason, if there is one, comes as a word of the person's behind the result.
  if (isRefusedByUser(text)) return { reason: steering ?? '' }
  // Claude: the reason is the result. A command that failed says its exit code, a wrong call has a mark of its own.
  if (result.isError && step.name === 'Bash' && !/^(?:Exit code \d|<tool_use_error>|Error:|Command )/.test(text)) {
    return { reason: text }
  }
  return null
}

export function afterRefusal(step: ToolStep, refusal: Refusal, steps: readonly ToolStep[]): string {
  const why = refusal.reason === '' ? 'You gave no reason.' : `Your reason: “${refusal.reason}”.`
  const kept = steps.slice(0, -1).some((earlier) => earlier.name === 'edit' || earlier.name === 'write')
  const rest = kept ? 'The change to the file stays; I leave the rest.' : 'Nothing was changed, and I leave it at that.'
  return `You did not allow ${whatWas(step)}. ${why} ${rest}`
}

function whatWas(step: ToolStep): string {
  const { command, cmd, path } = step.input
  const text = [command, cmd, Array.isArray(command) ? command.at(-1) : null].find((value) => typeof value === 'string')
  if (text !== undefined) return `the command \`${text}\``
  return typeof path === 'string' ? `the ${step.name} of \`${path}\`` : `the tool ${step.name}`
}

export function firstLine(text: string): string {
  return text.split('\n', 1)[0]?.slice(0, 400) ?? ''
}
