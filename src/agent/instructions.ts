/** What the model is told before the conversation: who it is, where it works, and the project's own AGENTS.md. */
import { join } from 'node:path'

import type { ModeId } from './protocol.ts'
import { decodeText, openRegular } from './tools/paths.ts'

export const AGENTS_MD_MAX_BYTES = 64 * 1024

/** Composed anew for every turn, so that an edit of AGENTS.md counts from the next prompt on. */
export async function composeInstructions(cwd: string, mode: ModeId): Promise<string> {
  const project = await readAgentsMd(cwd)
  return [
    'You are the built-in coding agent of Wheelhouse. You help with the software project in the folder below, by the tools you have.',
    `Project folder: ${cwd}\nPlatform: ${process.platform}`,
    [
      'Look before you change: read a file before you edit it. Keep changes to what was asked for.',
      'A tool call may be denied by the person. Then do not try the same thing another way; say what you would have done, or ask.',
      'When you are done, say briefly what you did and what you could not check.',
    ].join('\n'),
    ...(mode === 'read_only'
      ? [
          'You are planning: read and search as you need, change nothing, run nothing that changes anything. Answer with a plan.',
        ]
      : []),
    ...(project === null ? [] : [`The project's own instructions (AGENTS.md):\n\n${project}`]),
  ].join('\n\n')
}

/** Null: none there, or no readable text. Cut at 64 KiB, and said so. */
async function readAgentsMd(cwd: string): Promise<string | null> {
  try {
    const handle = await openRegular(join(cwd, 'AGENTS.md'))
    try {
      const buffer = Buffer.alloc(AGENTS_MD_MAX_BYTES + 1)
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0)
      if (bytesRead <= AGENTS_MD_MAX_BYTES) return decodeText(buffer.subarray(0, bytesRead))
      // The last line may be cut inside a character: it goes.
      const end = buffer.subarray(0, AGENTS_MD_MAX_BYTES).lastIndexOf(10)
      const text = decodeText(buffer.subarray(0, end === -1 ? 0 : end))
      return text === null ? null : `${text}\n[AGENTS.md is longer than 64 KiB; the rest was left out.]`
    } finally {
      await handle.close()
    }
  } catch {
    return null
  }
}
