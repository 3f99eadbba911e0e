/**
 * The items of a thread as they come, told on as content. Remembers what a later message only points at: the changes of
 * a patch that is asked about, the call of an MCP tool, the turn of a command that runs on.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../../platform/types.ts'
import type { Conversation } from '../shared/types.ts'
import type { FileChange } from './file-change.ts'
import { outputContent, toolView } from './items.ts'
import type { ToolItem, ToolView } from './items.ts'
import type { ThreadFamily } from './thread-family.ts'
import { Item, ItemNote, readDelta } from './wire.ts'
import type { Delta } from './wire.ts'

/** Output of a running command is shown again at most this often. */
const OUTPUT_EVERY_MS = 250
/** Of a running command's output the newest is kept; the finished item brings all of it. */
const OUTPUT_CHARS = 65_536

interface Known {
  item: ToolItem
  view: ToolView
  turnId: string
  threadId: string
  output: string
  shownAtMs: number
  /** An MCP call that a question was matched with already. */
  asked: boolean
}

export interface ItemLog {
  started(params: unknown): void
  completed(params: unknown): void
  agentText(params: unknown): void
  thought(params: unknown): void
  output(params: unknown): void
  /** A person allowed this call: it runs from now on. */
  allowed(itemId: string): void
  /** The changes of a patch that waits for its answer; null: it is not known. */
  changesOf(itemId: string): readonly FileChange[] | null
  /** The oldest call of this tool with these arguments that nobody asked about yet. */
  takeMcpCall(server: string, tool: string, args: unknown): string | null
  turnOf(itemId: string): string | null
}

export interface ItemLogParts {
  conversation: Conversation
  clock: Clock
  family: ThreadFamily
  /** The turn that the session knows: content of any other is late. */
  isCurrent(turnId: string): boolean
}

export function createItemLog({ conversation, clock, family, isCurrent }: ItemLogParts): ItemLog {
  const known = new Map<string, Known>()
  /** Messages whose text came in deltas, so that the finished item does not repeat it. */
  const streamed = new Set<string>()

  function readItem(params: unknown): { threadId: string; turnId: string; item: Item } | null {
    const note = ItemNote.safeParse(params)
    if (!note.success || !family.has(note.data.threadId)) return null
    const item = Item.safeParse(note.data.item)
    return item.success ? { ...note.data, item: item.data } : null
  }

  function remember(entry: Known): Known {
    known.set(entry.item.id, entry)
    if (known.size > conversation.limits.toolCalls) {
      for (const oldest of known.keys()) {
        known.delete(oldest)
        break
      }
    }
    return entry
  }

  /** A sub-agent has turns of its own; it works as long as ours runs. */
  function isRunning({ threadId, turnId }: Known): boolean {
    return threadId === family.own ? isCurrent(turnId) : conversation.turn !== null
  }

  function show(entry: Known, phase: 'started' | 'updated' | 'finished'): void {
    if (!isRunning(entry)) return
    const { tool, name, title, status, paths, content } = entry.view
    conversation.content({
      kind: 'tool',
      toolCallId: entry.item.id,
      phase,
      tool,
      name,
      title,
      status,
      paths,
      content,
    })
  }

  function text(
    role: 'agent' | 'thought',
    messageId: string,
    { threadId, turnId, delta }: Omit<Delta, 'itemId'>,
  ): void {
    // What sub-agents say is said to the agent, which gets it as their result.
    if (threadId === family.own && isCurrent(turnId) && delta !== '') {
      conversation.content({ kind: 'text', role, messageId, text: delta })
    }
  }

  function completedText(found: { threadId: string; turnId: string; item: Item }): void {
    const { item } = found
    if (streamed.delete(item.id)) return
    if (item.type === 'agentMessage' || item.type === 'plan') text('agent', item.id, { ...found, delta: item.text })
    if (item.type === 'reasoning') text('thought', item.id, { ...found, delta: item.summary.join('\n\n') })
  }

  function delta(role: 'agent' | 'thought', params: unknown): void {
    const found = readDelta(params)
    if (found === null) return
    streamed.add(found.itemId)
    text(role, found.itemId, found)
  }

  return {
    started(params) {
      const found = readItem(params)
      if (found === null) return
      const { item, threadId, turnId } = found
      if (item.type === 'agentMessage' || item.type === 'plan' || item.type === 'reasoning') return
      const view = toolView(item, false)
      show(
        remember({ item, view, turnId, threadId, output: '', shownAtMs: clock.monotonicMs(), asked: false }),
        'started',
      )
    },
    completed(params) {
      const found = readItem(params)
      if (found === null) return
      const { item, threadId, turnId } = found
      if (item.type === 'agentMessage' || item.type === 'plan' || item.type === 'reasoning') return completedText(found)
      const view = toolView(item, true)
      const before = known.get(item.id)
      const entry: Known = { item, view, turnId, threadId, output: '', shownAtMs: 0, asked: before?.asked ?? false }
      if (view.status === 'declined' && isRunning(entry)) conversation.refused(item.id, view.name, view.tool)
      if (item.type === 'collabAgentToolCall') item.receiverThreadIds.forEach(family.add)
      if (before === undefined) show(entry, 'started')
      show(remember(entry), 'finished')
    },
    agentText: (params) => delta('agent', params),
    thought: (params) => delta('thought', params),
    output(params) {
      const found = readDelta(params)
      const entry = found === null ? undefined : known.get(found.itemId)
      if (found === null || entry === undefined) return
      entry.output = (entry.output + found.delta).slice(-OUTPUT_CHARS)
      const now = clock.monotonicMs()
      if (now - entry.shownAtMs < OUTPUT_EVERY_MS) return
      entry.shownAtMs = now
      entry.view = { ...entry.view, status: 'in_progress', content: outputContent(entry.output, null) }
      show(entry, 'updated')
    },
    allowed(itemId) {
      const entry = known.get(itemId)
      if (entry === undefined || entry.view.status !== 'pending') return
      entry.view = { ...entry.view, status: 'in_progress' }
      show(entry, 'updated')
    },
    changesOf(itemId) {
      const item = known.get(itemId)?.item
      return item?.type === 'fileChange' ? item.changes : null
    },
    takeMcpCall(server, tool, args) {
      for (const entry of known.values()) {
        const { item } = entry
        if (item.type !== 'mcpToolCall' || entry.asked || item.status !== 'inProgress') continue
        if (item.server !== server || item.tool !== tool || !isDeepStrictEqual(item.arguments ?? null, args ?? null)) {
          continue
        }
        entry.asked = true
        return item.id
      }
      return null
    },
    turnOf: (itemId) => known.get(itemId)?.turnId ?? null,
  }
}
