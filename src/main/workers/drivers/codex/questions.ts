/**
 * What the app-server asks. Tool calls go to the policy, questions and forms to whoever takes interactions, and the rest
 * is not answered. A refusal is always `decline`: the model is told and goes on; nothing is ever allowed for longer than
 * once.
 */
import type { PermissionAction, ToolKind } from '../../../../shared/vocabulary.ts'
import type { Conversation, QuestionAnswer, RpcPeer, WireId } from '../shared/types.ts'
import { unwrapCommand } from './command-text.ts'
import { changeKind, changedPaths, editChanges } from './file-change.ts'
import { DECLINED } from './interactions.ts'
import type { Interactions } from './interactions.ts'
import type { ItemLog } from './item-log.ts'
import { mcpToolName } from './items.ts'
import {
  CommandQuestion,
  Elicitation,
  FileChangeQuestion,
  Named,
  PermissionsQuestion,
  UserInputQuestion,
} from './wire.ts'

const METHOD_NOT_FOUND = -32_601

export interface QuestionsParts {
  conversation: Conversation
  peer: Pick<RpcPeer, 'respond' | 'respondError'>
  items: ItemLog
  interactions: Interactions
  isFamily(threadId: string): boolean
  /** A refusal's reason goes into the running turn. */
  tellReason(reason: string): void
}

interface Asked {
  wireId: WireId
  toolCallId: string
  tool: string
  mcpServer?: string
  kind: ToolKind
  locations?: readonly string[]
  action: PermissionAction
  complete: boolean
  ours: boolean
  canAllow?: boolean
  allow: unknown
}

export function createQuestions(parts: QuestionsParts): (wireId: WireId, method: string, params: unknown) => void {
  const { conversation, peer, items, interactions, isFamily } = parts

  function ask(asked: Asked, decline: unknown): void {
    const { wireId } = asked
    conversation.permission({
      wireId,
      toolCallId: asked.toolCallId,
      tool: asked.tool,
      mcpServer: asked.mcpServer ?? null,
      kind: asked.kind,
      locations: asked.locations ?? [],
      action: asked.action,
      complete: asked.complete,
      ours: asked.ours,
      canAllow: asked.canAllow ?? true,
      answerable: true,
      async answer(answer: QuestionAnswer) {
        await peer.respond(wireId, answer.kind === 'allow' ? asked.allow : decline)
        if (answer.kind === 'allow') items.allowed(asked.toolCallId)
        if (answer.kind === 'refuse' && answer.reason !== null) parts.tellReason(answer.reason)
      },
    })
  }

  const decided = (asked: Omit<Asked, 'allow'>): void =>
    ask({ ...asked, allow: { decision: 'accept' } }, { decision: 'decline' })

  /** What cannot be read is nobody's question: refused and recorded. */
  function unreadable(wireId: WireId, tool: string, kind: ToolKind, params: unknown): void {
    const told = Named.safeParse(params)
    const toolCallId = told.success ? told.data.itemId : ''
    const action = { kind: 'other', text: '' } as const
    decided({ wireId, toolCallId, tool, kind, action, complete: false, ours: false })
  }

  function command(wireId: WireId, params: unknown): void {
    const read = CommandQuestion.safeParse(params)
    if (!read.success) return unreadable(wireId, 'commandExecution', 'execute', params)
    const asked = read.data
    const shown = asked.command ?? null
    const plain = shown !== null && asked.kind === 'command' && isAbsent(asked.networkApprovalContext)
    decided({
      wireId,
      toolCallId: asked.itemId,
      tool: 'commandExecution',
      kind: 'execute',
      action: plain
        ? { kind: 'command', ...unwrapCommand(shown), cwd: asked.cwd ?? '' }
        : { kind: 'other', text: otherText(asked) },
      // Rights that are asked along with the command are not in its text.
      complete: plain && isAbsent(asked.additionalPermissions),
      ours: isFamily(asked.threadId),
      canAllow: canAccept(asked.availableDecisions),
    })
  }

  function fileChange(wireId: WireId, params: unknown): void {
    const read = FileChangeQuestion.safeParse(params)
    if (!read.success) return unreadable(wireId, 'fileChange', 'edit', params)
    const { threadId, itemId, grantRoot } = read.data
    const changes = items.changesOf(itemId)
    const edits = editChanges(changes ?? [])
    decided({
      wireId,
      toolCallId: itemId,
      tool: 'fileChange',
      kind: changes === null ? 'edit' : changeKind(changes),
      locations: changedPaths(changes ?? []),
      action: { kind: 'edit', changes: edits.changes },
      // Without its item nobody knows the patch; with a root it would be allowed for more than this patch.
      complete: changes !== null && changes.length > 0 && edits.exact && isAbsent(grantRoot),
      ours: isFamily(threadId),
    })
  }

  function elicitation(wireId: WireId, params: unknown): void {
    const read = Elicitation.safeParse(params)
    if (!read.success) return void peer.respond(wireId, DECLINED).catch(ignore)
    const { _meta: meta, serverName, threadId } = read.data
    const tool = meta?.tool_name
    if (meta?.codex_approval_kind !== 'mcp_tool_call' || tool === undefined) {
      return interactions.elicitation(wireId, read.data, params, isFamily(threadId))
    }
    ask(
      {
        wireId,
        toolCallId: items.takeMcpCall(serverName, tool, meta.tool_params) ?? '',
        tool: mcpToolName(serverName, tool),
        mcpServer: serverName,
        kind: 'other',
        action: { kind: 'mcp', server: serverName, tool, input: JSON.stringify(meta.tool_params ?? null, null, 2) },
        complete: true,
        ours: isFamily(threadId),
        // Never with `persist`: that would allow it for longer than once.
        allow: { action: 'accept', content: {}, _meta: null },
      },
      DECLINED,
    )
  }

  return (wireId, method, params) => {
    switch (method) {
      case 'item/commandExecution/requestApproval':
        return command(wireId, params)
      case 'item/fileChange/requestApproval':
        return fileChange(wireId, params)
      case 'mcpServer/elicitation/request':
        return elicitation(wireId, params)
      case 'item/permissions/requestApproval': {
        const read = PermissionsQuestion.safeParse(params)
        return interactions.permissions(wireId, read.success && isFamily(read.data.threadId) ? read.data : null)
      }
      case 'item/tool/requestUserInput': {
        const read = UserInputQuestion.safeParse(params)
        return interactions.userInput(wireId, read.success && isFamily(read.data.threadId) ? read.data : null)
      }
      default:
        void peer.respondError(wireId, METHOD_NOT_FOUND, 'Not supported by this client').catch(ignore)
    }
  }
}

/** Absent, or among those offered: strings and objects. */
function canAccept(decisions: readonly unknown[] | null | undefined): boolean {
  return decisions === null || decisions === undefined || decisions.includes('accept')
}

function isAbsent(value: unknown): boolean {
  return value === null || value === undefined
}

function otherText(asked: CommandQuestion): string {
  const network = asked.networkApprovalContext
  const parts = [asked.reason, asked.command, isAbsent(network) ? null : `network: ${JSON.stringify(network)}`]
  return parts.filter((part) => typeof part === 'string' && part !== '').join('\n')
}

function ignore(): void {
  // The session ends, and with it the question.
}
