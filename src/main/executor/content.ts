import type { ExecutionUpdate } from '../runtime/index.ts'
import type { ContentItem } from '../workers/index.ts'

const PUBLISH = 'mcp__wheelhouse__publish_artifact'

/** One item of the worker's ordered channel in the runtime's words; null: nothing that the log keeps. */
export function toUpdate(item: ContentItem): ExecutionUpdate | null {
  switch (item.kind) {
    case 'text':
      if (item.role === 'user') return null
      return { kind: item.role === 'agent' ? 'output' : 'thought', messageId: item.messageId, text: item.text }
    case 'tool': {
      const { toolCallId, phase, tool, name, title, status, paths, content } = item
      // What an agent publishes it only reads: nothing changes by it.
      const kind = name === PUBLISH ? 'read' : tool
      return { kind: 'tool', toolCallId, phase, tool: kind, name, title, status, paths, content }
    }
    case 'plan':
      return { kind: 'plan', entries: item.entries }
    case 'usage':
      return { kind: 'usage', usage: item.usage }
    case 'title':
      return { kind: 'title', title: item.title }
    case 'commands':
      return { kind: 'commands', commands: item.commands }
    case 'gap':
      return {
        kind: 'notice',
        code: 'content_gap',
        message: `The agent sent more than could be kept: ${item.bytes} bytes are missing here.`,
        level: 'warning',
      }
    case 'retrying':
      return {
        kind: 'retrying',
        attempt: item.attempt,
        maxAttempts: item.maxAttempts,
        reasonCode: item.httpStatus === null ? 'network_unavailable' : `http_${item.httpStatus}`,
        retryAfterMs: item.retryAfterMs,
        continues: true,
      }
    default:
      return item satisfies never
  }
}
