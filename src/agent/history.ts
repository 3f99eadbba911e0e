/**
 * The conversation of a session: in memory for the live process, and as one JSONL file per session in the private folder,
 * so that `session/load` finds it after a restart. A step is appended in one write; a line that a crash cut is passed over.
 */
import { constants } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import type { ModelMessage } from 'ai'
import { z } from 'zod'

/** A longer file is not loaded whole: its oldest turns are left out. */
const FILE_MAX_BYTES = 128 * 1024 * 1024

const Line = z.discriminatedUnion('type', [
  z.object({ type: z.literal('session'), version: z.literal(1), sessionId: z.string(), cwd: z.string() }),
  z.object({
    type: z.literal('message'),
    message: z.looseObject({
      role: z.enum(['user', 'assistant', 'tool']),
      content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]),
    }),
  }),
  z.object({ type: z.literal('withdrawn') }),
])

export interface History {
  readonly messages: readonly ModelMessage[]
  /** Durable against a crash of the process once it resolves. */
  append(messages: readonly ModelMessage[]): Promise<void>
  /** Takes the newest message back: the upstream refused it. */
  withdrawNewest(): Promise<void>
}

/** `home` null: in memory alone. */
export async function createHistory(home: string | null, sessionId: string, cwd: string): Promise<History> {
  if (home !== null) {
    await mkdir(home, { recursive: true, mode: 0o700 })
    const handle = await open(historyPath(home, sessionId), 'wx', 0o600)
    await handle.writeFile(toLine({ type: 'session', version: 1, sessionId, cwd }))
    await handle.close()
  }
  return historyOver(home === null ? null : historyPath(home, sessionId), [])
}

/** Null: no such session. */
export async function loadHistory(home: string | null, sessionId: string): Promise<History | null> {
  if (home === null) return null
  const path = historyPath(home, sessionId)
  const text = await readOwn(path)
  if (text === null) return null
  const messages: ModelMessage[] = []
  for (const line of text.split('\n')) {
    const parsed = Line.safeParse(parseJson(line))
    if (!parsed.success) continue
    if (parsed.data.type === 'withdrawn') messages.pop()
    // Written by us from messages of the SDK: its own types hold what was only looked at roughly here.
    if (parsed.data.type === 'message') messages.push(parsed.data.message as ModelMessage)
  }
  // A cut line has no line feed; the next one must not continue it.
  if (text !== '' && !text.endsWith('\n')) await appendOwn(path, '\n')
  return historyOver(path, closeOpenCalls(messages))
}

function historyOver(path: string | null, messages: ModelMessage[]): History {
  const write = async (lines: string): Promise<void> => {
    if (path !== null && lines !== '') await appendOwn(path, lines)
  }
  return {
    messages,
    async append(more) {
      messages.push(...more)
      await write(more.map((message) => toLine({ type: 'message', message })).join(''))
    },
    async withdrawNewest() {
      messages.pop()
      await write(toLine({ type: 'withdrawn' }))
    },
  }
}

/** Every tool call needs its result, or no upstream takes the conversation: one that was lost is answered so. */
export function closeOpenCalls(messages: readonly ModelMessage[]): ModelMessage[] {
  const closed: ModelMessage[] = []
  for (const [index, message] of messages.entries()) {
    closed.push(message)
    if (message.role !== 'assistant' || typeof message.content === 'string') continue
    const next = messages[index + 1]
    const answered = new Set(
      next?.role === 'tool'
        ? next.content.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : []))
        : [],
    )
    const open = message.content
      .filter((part) => part.type === 'tool-call')
      .filter((part) => !answered.has(part.toolCallId))
    if (open.length === 0) continue
    const results = open.map(({ toolCallId, toolName }) => ({
      type: 'tool-result' as const,
      toolCallId,
      toolName,
      output: {
        type: 'error-text' as const,
        value: 'The agent ended before this call did. Whether it took effect is unknown.',
      },
    }))
    if (next?.role === 'tool') next.content.push(...results)
    else closed.push({ role: 'tool', content: results })
  }
  return closed
}

/** A link in the file's place was laid by a confined command of an earlier run, and would lead out of its folder. */
const OWN = constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Null: there is none that could be ours. */
async function readOwn(path: string): Promise<string | null> {
  try {
    await using file = await open(path, constants.O_RDONLY | OWN)
    const found = await file.stat()
    if (!found.isFile() || found.size > FILE_MAX_BYTES) return null
    await file.chmod(0o600)
    return await file.readFile('utf8')
  } catch {
    return null
  }
}

async function appendOwn(path: string, text: string): Promise<void> {
  await using file = await open(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | OWN, 0o600)
  await file.writeFile(text)
}

function historyPath(home: string, sessionId: string): string {
  return join(home, `${sessionId}.jsonl`)
}

function toLine(line: object): string {
  return `${JSON.stringify(line)}\n`
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
