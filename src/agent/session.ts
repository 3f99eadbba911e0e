/** One conversation: its folder, its mode, its history, and at most one turn at a time. */
import type { SessionModeState } from '@agentclientprotocol/sdk'
import type { PromptResponse } from '@agentclientprotocol/sdk/unstable'
import type { ModelMessage } from 'ai'

import type { History } from './history.ts'
import { composeInstructions } from './instructions.ts'
import type { ModelSource } from './model.ts'
import type { ContentBlock, ModeId } from './protocol.ts'
import { MODES } from './protocol.ts'
import type { Peer } from './rpc.ts'
import { RPC, RpcError } from './rpc.ts'
import { createToolRunner } from './tool-runner.ts'
import type { AgentTool, Workspace } from './tools/index.ts'
import { runTurn } from './turn.ts'

export interface Session {
  readonly id: string
  modes(): SessionModeState
  setMode(mode: ModeId): void
  /** @throws RpcError: a turn is running already, no model was given, or the model failed. */
  prompt(content: readonly ContentBlock[]): Promise<PromptResponse>
  /** Ends the turn, if there is one; its prompt then resolves `cancelled` within a second. */
  cancel(): void
}

export function createSession(deps: {
  peer: Peer
  id: string
  workspace: Workspace
  history: History
  models: ModelSource
  tools: readonly AgentTool[]
}): Session {
  const { peer, id, workspace, history, tools } = deps
  let mode: ModeId = 'ask'
  let turn: AbortController | null = null
  const runner = createToolRunner({ peer, sessionId: id, workspace, mode: () => mode, shownIds: shownCallIds(history) })

  return {
    id,
    modes: () => ({ currentModeId: mode, availableModes: [...MODES] }),
    setMode: (next) => {
      mode = next
    },
    async prompt(content) {
      if (turn !== null) throw new RpcError(RPC.invalidRequest, 'A turn of this session is running.')
      const loading = deps.models.load()
      if (loading === null) throw new RpcError(RPC.authRequired, 'Authentication required: no model route was given.')
      const running = new AbortController()
      turn = running
      try {
        const model = await loading
        const instructions = await composeInstructions(workspace.cwd, mode)
        const message = toUserMessage(content)
        const turnDeps = { peer, sessionId: id, model, history, instructions, tools, runner }
        const { stopReason, usage } = await runTurn(turnDeps, message, running.signal)
        return { stopReason, ...(usage === null ? {} : { usage }) }
      } finally {
        turn = null
      }
    },
    cancel() {
      turn?.abort(new Error('The turn was cancelled.'))
    },
  }
}

/** Shows a loaded conversation again, oldest first, as ACP asks of `session/load`. */
export async function replay(peer: Peer, sessionId: string, history: History): Promise<void> {
  const send = (update: object): Promise<void> => peer.notify('session/update', { sessionId, update })
  const chunk = (role: 'user' | 'agent', n: number, text: string): Promise<void> =>
    send({ sessionUpdate: `${role}_message_chunk`, messageId: `replay-${n}`, content: { type: 'text', text } })
  const shown = new Set<string>()
  for (const [n, message] of history.messages.entries()) {
    if (typeof message.content === 'string') {
      await chunk(message.role === 'user' ? 'user' : 'agent', n, message.content)
      continue
    }
    for (const part of message.content) {
      if (part.type === 'text') await chunk(message.role === 'user' ? 'user' : 'agent', n, part.text)
      if (part.type === 'tool-call' && !shown.has(part.toolCallId)) {
        shown.add(part.toolCallId)
        const call = { toolCallId: part.toolCallId, title: part.toolName, name: part.toolName, rawInput: part.input }
        await send({ sessionUpdate: 'tool_call', ...call, status: 'completed' })
      }
      if (part.type === 'tool-result' && 'value' in part.output && typeof part.output.value === 'string') {
        const content = [{ type: 'content', content: { type: 'text', text: part.output.value } }]
        const status = part.output.type === 'error-text' ? 'failed' : 'completed'
        await send({ sessionUpdate: 'tool_call_update', toolCallId: part.toolCallId, status, content })
      }
    }
  }
}

function shownCallIds(history: History): Set<string> {
  const ids = new Set<string>()
  for (const { content } of history.messages) {
    if (typeof content === 'string') continue
    for (const part of content) if (part.type === 'tool-call') ids.add(part.toolCallId)
  }
  return ids
}

function toUserMessage(content: readonly ContentBlock[]): ModelMessage {
  return {
    role: 'user',
    content: content.map((block) => {
      switch (block.type) {
        case 'text':
          return { type: 'text', text: block.text }
        case 'image':
          return { type: 'file', data: block.data, mediaType: block.mimeType }
        case 'resource_link':
          return { type: 'text', text: `[${block.name}](${block.uri})` }
        case 'resource':
          return { type: 'text', text: `${block.resource.uri}:\n${block.resource.text ?? '(not text)'}` }
        default:
          return block satisfies never
      }
    }),
  }
}
