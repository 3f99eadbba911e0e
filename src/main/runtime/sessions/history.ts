/** What was said before, for an agent that was not there: the transcript as text that anybody can read. */
import { z } from 'zod'
import type { RuntimeContext } from '../context.ts'
import { readJson } from '../store/json.ts'

const MAX_BYTES = 256 * 1024
const Body = z.looseObject({ text: z.string().optional() })
const INTRODUCTION = 'What was said in this conversation before:'
const SPEAKER: Readonly<Record<string, string>> = { user: 'User', assistant: 'Assistant', summary: 'Summary' }

/** The newest 256 KiB of the messages of all turns that have ended; null: nothing was said. */
export function readTranscript({ tables }: Pick<RuntimeContext, 'tables'>, sessionId: string): string | null {
  const parts: string[] = []
  let left = MAX_BYTES
  for (const entry of tables.transcript.newestMessages(sessionId)) {
    const { text = '' } = readJson(Body, entry.body, `entries.body of ${entry.id}`)
    if (text.trim() === '') continue
    const part = `${SPEAKER[entry.kind] ?? 'Note'}: ${text}`
    left -= Buffer.byteLength(part) + 2
    if (left < 0) break
    parts.unshift(part)
  }
  return parts.length === 0 ? null : [INTRODUCTION, ...parts].join('\n\n')
}
