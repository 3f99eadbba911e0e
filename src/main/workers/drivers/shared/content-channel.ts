/**
 * The one ordered channel of content. Everything goes to the owner's sink, exact but for registered secrets; what it
 * amounts to, without a word of it, becomes an update.
 */
import { assertNever } from '../../../../shared/errors.ts'
import type { ToolContent } from '../../../../shared/vocabulary.ts'
import type { Limits } from '../../limits.ts'
import type { ContentBody, ContentItem, ContentSink, Redactor, UpdateBody } from '../../types.ts'
import { titleLine } from './title-line.ts'
import type { UpdateQueue } from './update-queue.ts'

export interface ContentChannel {
  /** `quiet`: replayed history, which becomes no update. */
  write(turn: number, body: ContentBody, quiet: boolean): void
  /** Lets go of text that was held back as a possible beginning of a secret. */
  flush(): void
  readonly gaps: number
}

type TextBody = Extract<ContentBody, { kind: 'text' }>
type ToolBody = Extract<ContentBody, { kind: 'tool' }>

const TRUSTED_NAME = /^[A-Za-z0-9_.-]{1,100}$/

/** The agent's own name of a tool, or null: never repaired into one. */
export function trustedName(name: string | null | undefined): string | null {
  return typeof name === 'string' && TRUSTED_NAME.test(name) ? name : null
}

export function createContentChannel(
  sink: ContentSink | undefined,
  redactor: Redactor,
  updates: UpdateQueue,
  limits: Limits,
): ContentChannel {
  /** One for all messages: its end leaves it empty. */
  const stream = redactor.stream()
  let text: { turn: number; role: TextBody['role']; messageId: string } | null = null
  let gaps = 0

  function deliver(item: ContentItem): void {
    try {
      sink?.write(item)
    } catch {
      // A sink never throws; one that does must not stop the agent's reader.
    }
  }

  function flush(): void {
    if (text === null) return
    const { turn, role, messageId } = text
    text = null
    const rest = stream.end()
    if (rest !== '') deliver({ kind: 'text', role, messageId, text: rest, turn })
  }

  function gap(turn: number, chars: number): void {
    gaps += 1
    deliver({ kind: 'gap', bytes: chars, turn })
  }

  function writeText(turn: number, body: TextBody): void {
    const { role, messageId } = body
    if (text?.turn !== turn || text.role !== role || text.messageId !== messageId) {
      flush()
      text = { turn, role, messageId }
    }
    // Redacted first, cut after: half a secret never survives.
    const out = stream.push(body.text)
    const kept = out.length <= limits.contentBytes ? out : out.slice(0, limits.contentBytes).toWellFormed()
    if (kept !== '') deliver({ kind: 'text', role, messageId, text: kept, turn })
    if (kept.length < out.length) gap(turn, out.length - kept.length)
  }

  function writeTool(turn: number, body: ToolBody, name: string | null): void {
    const finished = body.phase === 'finished'
    let left: number = limits.contentBytes
    const content: ToolContent[] = []
    let skipped = 0
    for (const part of body.content) {
      const size = sizeOf(part)
      if (size > left) skipped += size
      else {
        left -= size
        content.push(exactPart(part, redactor, finished))
      }
    }
    deliver({
      kind: 'tool',
      toolCallId: body.toolCallId,
      phase: body.phase,
      tool: body.tool,
      name,
      title: titleLine(body.title, redactor),
      status: body.status,
      paths: body.paths.length === 0 ? body.paths : body.paths.map(redactor.exact),
      content,
      turn,
    })
    if (skipped > 0) gap(turn, skipped)
  }

  return {
    write(turn, body, quiet) {
      if (body.kind === 'text') {
        writeText(turn, body)
        if (!quiet && body.role === 'agent') updates.push({ kind: 'agent_message_chunk', chars: body.text.length })
        return
      }
      flush()
      if (body.kind === 'tool') {
        const name = trustedName(body.name)
        writeTool(turn, body, name)
        if (!quiet) updates.push(toolUpdate(body, name, redactor, limits))
        return
      }
      deliver({ ...exactBody(body, redactor), turn })
      if (!quiet) tell(updates, body)
    },
    flush,
    get gaps() {
      return gaps
    },
  }
}

function sizeOf(part: ToolContent): number {
  switch (part.type) {
    case 'text':
    case 'output':
      return part.text.length
    case 'diff':
      return (part.oldText?.length ?? 0) + part.newText.length
    case 'blob':
      return 0
    default:
      return assertNever(part)
  }
}

/** What is not complete may end in the middle of a secret: what could be its beginning waits for the rest. */
function exactPart(part: ToolContent, { exact, beginning }: Redactor, complete: boolean): ToolContent {
  switch (part.type) {
    case 'text':
    case 'output':
      return { ...part, text: complete ? exact(part.text) : beginning(part.text) }
    case 'diff':
      return {
        ...part,
        path: exact(part.path),
        oldText: part.oldText === null ? null : exact(part.oldText),
        newText: exact(part.newText),
      }
    case 'blob':
      return part
    default:
      return assertNever(part)
  }
}

function exactBody(body: Exclude<ContentBody, TextBody | ToolBody>, redactor: Redactor): ContentBody {
  const { exact } = redactor
  switch (body.kind) {
    case 'title':
      return { ...body, title: titleLine(body.title, redactor) }
    case 'plan':
      return { ...body, entries: body.entries.map((entry) => ({ ...entry, content: exact(entry.content) })) }
    case 'commands':
      return {
        ...body,
        commands: body.commands.map(({ name, description }) => ({
          name: exact(name),
          description: exact(description),
        })),
      }
    case 'usage':
    case 'gap':
    case 'retrying':
      return body
    default:
      return assertNever(body)
  }
}

/** Ids and names alone, sanitized and cut. */
function toolUpdate(body: ToolBody, name: string | null, redactor: Redactor, limits: Limits): UpdateBody {
  return {
    kind: body.phase === 'started' ? 'tool_call' : 'tool_call_update',
    toolCallId: shownId(body.toolCallId, redactor, limits),
    tool: redactor.sanitize(name ?? ''),
    toolKind: body.tool,
    status: body.status,
  }
}

/** Counts alone. */
function tell(updates: UpdateQueue, body: Exclude<ContentBody, TextBody | ToolBody>): void {
  switch (body.kind) {
    case 'plan':
      updates.push({ kind: 'plan', entries: body.entries.length })
      return
    case 'usage':
      updates.push({ kind: 'usage', usage: body.usage })
      return
    case 'retrying': {
      const { attempt, maxAttempts, httpStatus, retryAfterMs } = body
      updates.push({ kind: 'retrying', attempt, maxAttempts, httpStatus, retryAfterMs })
      return
    }
    case 'title':
    case 'commands':
    case 'gap':
  }
}

export function shownId(toolCallId: string, redactor: Redactor, limits: Limits): string {
  return redactor.sanitize(toolCallId).slice(0, limits.toolCallIdBytes)
}
