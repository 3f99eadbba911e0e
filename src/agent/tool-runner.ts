/** Carries one tool call from its announcement over the person's answer to its result, and tells the client each step. */
import type { ToolCall, ToolCallUpdate } from '@agentclientprotocol/sdk'

import { askPermission } from './permissions.ts'
import type { ModeId } from './protocol.ts'
import type { Peer } from './rpc.ts'
import type { AgentTool, PlannedCall, ShownContent, ToolOutcome, Workspace } from './tools/index.ts'
import { shownText, ToolError } from './tools/index.ts'

/** What the model is told of a call. */
export interface ToolResult {
  text: string
  /** The tool could not do it. */
  failed: boolean
}

export interface ToolRunner {
  /** Never throws for what a tool or a person refuses. @throws the abort's reason once `signal` is aborted. */
  run(tool: AgentTool, input: unknown, modelCallId: string, signal: AbortSignal): Promise<ToolResult>
  /** A call that never got as far as a tool: its input was malformed, or there is no such tool. */
  reportInvalid(call: { name: string; input: unknown; modelCallId: string; message: string }): Promise<void>
}

export function createToolRunner(deps: {
  peer: Peer
  sessionId: string
  workspace: Workspace
  mode(): ModeId
  /** Ids already shown in this session: a model may use one twice, a client must not see it twice. */
  shownIds: Set<string>
}): ToolRunner {
  const { peer, sessionId, workspace } = deps

  function freshId(modelCallId: string): string {
    let id = modelCallId
    for (let n = 2; deps.shownIds.has(id); n += 1) id = `${modelCallId}-${n}`
    deps.shownIds.add(id)
    return id
  }

  const announce = (call: ToolCall): Promise<void> =>
    peer.notify('session/update', { sessionId, update: { sessionUpdate: 'tool_call', ...call } })
  const update = (change: ToolCallUpdate): Promise<void> =>
    peer.notify('session/update', { sessionId, update: { sessionUpdate: 'tool_call_update', ...change } })

  async function fail(toolCallId: string, text: string): Promise<ToolResult> {
    await update({ toolCallId, status: 'failed', content: [shownText(text)], rawOutput: text })
    return { text, failed: true }
  }

  async function plan(tool: AgentTool, input: unknown): Promise<PlannedCall | ToolError> {
    try {
      return await tool.plan(input, workspace)
    } catch (thrown) {
      if (thrown instanceof ToolError) return thrown
      return new ToolError(`${tool.name} failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
    }
  }

  async function execute(call: PlannedCall, toolCallId: string, signal: AbortSignal): Promise<ToolOutcome> {
    try {
      return await call.run(signal, (text) => void update({ toolCallId, content: [shownText(text)] }))
    } catch (thrown) {
      const text = signal.aborted ? 'Cancelled.' : thrown instanceof Error ? thrown.message : String(thrown)
      return { text, shown: [...call.preview, shownText(text)], end: 'tool_failed' }
    }
  }

  return {
    async run(tool, input, modelCallId, signal) {
      const toolCallId = freshId(modelCallId)
      const parsed = tool.input.safeParse(input)
      const planned = parsed.success ? await plan(tool, parsed.data) : new ToolError('The input does not fit the tool.')
      const facts = { toolCallId, name: tool.name, kind: tool.kind, rawInput: input }
      if (planned instanceof ToolError) {
        await announce({ ...facts, title: tool.name, status: 'pending' })
        return fail(toolCallId, planned.message)
      }
      await announce({
        ...facts,
        title: planned.title,
        status: 'pending',
        locations: planned.locations.map((path) => ({ path })),
        content: [...planned.preview],
      })
      if (deps.mode() !== 'anything') {
        const asked = { sessionId, toolCallId, tool, call: planned, rawInput: input }
        const answer = await askPermission(peer, asked, signal).catch(async (thrown: unknown) => {
          await fail(toolCallId, signal.aborted ? 'Cancelled.' : 'The permission could not be asked for.')
          throw thrown
        })
        // A person's word is no error of the tool: it goes to the model as it is.
        if (answer.kind === 'denied') return { ...(await fail(toolCallId, answer.told)), failed: false }
      }
      signal.throwIfAborted()
      await update({ toolCallId, status: 'in_progress' })
      const outcome = await execute(planned, toolCallId, signal)
      const shown: readonly ShownContent[] = outcome.shown.length === 0 ? planned.preview : outcome.shown
      await update({
        toolCallId,
        status: outcome.end === 'done' ? 'completed' : 'failed',
        content: [...shown],
        rawOutput: outcome.rawOutput ?? outcome.text,
      })
      return { text: outcome.text, failed: outcome.end === 'tool_failed' }
    },
    async reportInvalid({ name, input, modelCallId, message }) {
      const toolCallId = freshId(modelCallId)
      await announce({ toolCallId, title: name, name, kind: 'other', status: 'pending', rawInput: input })
      await fail(toolCallId, message)
    },
  }
}

/** A result in the form that a conversation keeps. */
export function toModelOutput(result: ToolResult): { type: 'text' | 'error-text'; value: string } {
  return { type: result.failed ? 'error-text' : 'text', value: result.text }
}
