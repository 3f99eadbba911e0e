import type { CommandRisk } from '../types.ts'
import { high, low } from './verdict.ts'
import type { Verdict } from './verdict.ts'
import { judgeText } from './walk.ts'

/** UTF-8 bytes. */
export const MAX_COMMAND_BYTES = 65_536

/**
 * The class of a command text in Bash's grammar: the highest found over every simple command in it. Pure, never throws.
 * It informs approvals and is no sandbox: a low command may still start code that the project owns.
 */
export function classifyCommand(text: string): CommandRisk {
  return classify(text)
}

function classify(text: string): Verdict {
  if (Buffer.byteLength(text) > MAX_COMMAND_BYTES) return high('Is too long to be read (over 64 KiB).')
  if (text.trim() === '') return low('Is empty.')
  if (text.includes('\0')) return high('Holds a NUL character.')
  try {
    return judgeText(text)
  } catch {
    // A parser that fails has said nothing about the command, and what nobody could read is high.
    return high('Cannot be read as a shell command.')
  }
}
