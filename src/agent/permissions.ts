/** Asking the person, by way of the client. */
import type { PermissionOption, ToolCallUpdate } from '@agentclientprotocol/sdk'

import { PermissionAnswer } from './protocol.ts'
import type { Peer } from './rpc.ts'
import type { AgentTool, PlannedCall } from './tools/index.ts'

export type PermissionOutcome = { kind: 'allowed' } | { kind: 'denied'; told: string }

const OPTIONS: PermissionOption[] = [
  { optionId: 'allow_once', name: 'Allow', kind: 'allow_once' },
  { optionId: 'reject_once', name: 'Reject', kind: 'reject_once' },
]

/**
 * Resolves with the person's answer; anything but the one "allow" is a refusal. Waits as long as the person takes:
 * `signal` ends it.
 */
export async function askPermission(
  peer: Peer,
  request: { sessionId: string; toolCallId: string; tool: AgentTool; call: PlannedCall; rawInput: unknown },
  signal: AbortSignal,
): Promise<PermissionOutcome> {
  const { call, tool } = request
  const toolCall: ToolCallUpdate = {
    toolCallId: request.toolCallId,
    title: call.title,
    name: tool.name,
    kind: tool.kind,
    status: 'pending',
    locations: call.locations.map((path) => ({ path })),
    rawInput: request.rawInput,
    content: [...call.preview],
    _meta: { wheelhouse: { action: call.action } },
  }
  const params = { sessionId: request.sessionId, toolCall, options: OPTIONS }
  const answer = PermissionAnswer.safeParse(await peer.request('session/request_permission', params, signal))
  if (!answer.success) return { kind: 'denied', told: 'The answer to the permission request could not be read.' }
  const { outcome, _meta: meta } = answer.data
  if (outcome.outcome === 'cancelled') return { kind: 'denied', told: 'The permission request was cancelled.' }
  if (outcome.optionId === 'allow_once') return { kind: 'allowed' }
  const reason = meta?.wheelhouse?.reason ?? ''
  return { kind: 'denied', told: `Denied by the person${reason === '' ? '' : `: ${reason}`}.` }
}
