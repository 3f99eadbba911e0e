/**
 * What Claude Code asks about its tools. Its hook is answered at once by "ask", which brings the question that the policy
 * decides; an allow hands the input back as it came, and never takes a suggestion of the program's.
 */
import { trustedName } from '../shared/content-channel.ts'
import { keepNewest } from '../shared/keep-newest.ts'
import { mcpServerOf } from '../shared/permission-gate.ts'
import type { Conversation, QuestionAnswer, WireId } from '../shared/types.ts'
import { actionOf } from './action.ts'
import type { Control } from './control.ts'
import { FormAnswer } from '../../../../shared/questions.ts'
import { readAsking } from './asking.ts'
import { ASK_TOOL, pathsOf, readInput, toolKind } from './tools.ts'
import type { Transcript } from './transcript.ts'
import { CanUseTool, HookCallback } from './wire.ts'

/** The name that our hook goes by. */
export const HOOK = 'ask'

const ASK = {
  continue: true,
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'ask' },
} as const

const UNANSWERED = { behavior: 'deny', message: 'The person did not answer. Go on without it, or ask in your message.' }

const NOT_SUPPORTED = 'Not supported by this client'

export interface Questions {
  asked(id: WireId, subtype: string, request: Readonly<Record<string, unknown>>): void
  /** This call ran: false, and nobody was asked about it. */
  wasAsked(toolCallId: string): boolean
}

export interface QuestionsParts {
  conversation: Conversation
  control: Pick<Control, 'respond' | 'refuse'>
  transcript: Pick<Transcript, 'allowed' | 'declined'>
  cwd: string
}

export function createQuestions({ conversation, control, transcript, cwd }: QuestionsParts): Questions {
  const asked = new Set<string>()
  /** Where each call's shell stands: a command may have moved it. */
  const folders = new Map<string, string>()
  const forgetAsked = keepNewest(asked, conversation.limits.refusalsRemembered)
  const forgetFolders = keepNewest(folders, conversation.limits.toolCalls)

  function hook(id: WireId, request: unknown): void {
    const read = HookCallback.safeParse(request)
    if (!read.success || read.data.callback_id !== HOOK) return void control.refuse(id, NOT_SUPPORTED).catch(ignore)
    const { input, tool_use_id: toolCallId } = read.data
    if (typeof toolCallId === 'string' && input.cwd !== undefined) {
      folders.set(toolCallId, input.cwd)
      forgetFolders()
    }
    control.respond(id, ASK).catch(ignore)
  }

  function permission(id: WireId, request: unknown): void {
    const read = CanUseTool.safeParse(request)
    if (!read.success) return void control.refuse(id, 'Not a question about a tool').catch(ignore)
    const { tool_name: tool, input, tool_use_id: toolCallId } = read.data
    const folder = folders.get(toolCallId) ?? cwd
    folders.delete(toolCallId)
    asked.add(toolCallId)
    forgetAsked()
    if (tool === ASK_TOOL) return inWords(id, toolCallId, input)
    conversation.permission({
      wireId: id,
      toolCallId,
      tool,
      mcpServer: mcpServerOf(trustedName(tool)),
      kind: toolKind(tool),
      locations: pathsOf(readInput(input)),
      ...actionOf(tool, input, folder),
      ours: true,
      canAllow: true,
      answerable: true,
      async answer(answer: QuestionAnswer) {
        if (answer.kind !== 'allow') transcript.declined(toolCallId)
        await control.respond(id, answer.kind === 'allow' ? { behavior: 'allow', updatedInput: input } : denial(answer))
        if (answer.kind === 'allow') transcript.allowed(toolCallId)
      },
    })
  }

  function inWords(id: WireId, toolCallId: string, input: unknown): void {
    const asking = readAsking(input)
    conversation.interaction({
      wireId: id,
      request: asking === null ? null : { kind: 'question', toolCallId, body: asking.form },
      reply(answered) {
        const answer = FormAnswer.safeParse(answered?.body)
        if (asking === null || !answer.success) {
          transcript.declined(toolCallId)
          return control.respond(id, UNANSWERED)
        }
        transcript.allowed(toolCallId)
        return control.respond(id, { behavior: 'allow', updatedInput: asking.answered(answer.data) })
      },
    })
  }

  return {
    asked(id, subtype, request) {
      if (subtype === 'hook_callback') hook(id, request)
      else if (subtype === 'can_use_tool') permission(id, request)
      else control.refuse(id, NOT_SUPPORTED).catch(ignore)
    },
    wasAsked: (toolCallId) => asked.delete(toolCallId),
  }
}

/** What the model reads as the outcome of its call. */
function denial(answer: Exclude<QuestionAnswer, { kind: 'allow' }>): { behavior: 'deny'; message: string } {
  const told = answer.kind === 'refuse' ? answer.reason : null
  const because = answer.by === 'person' ? 'The person said no to this.' : 'This was not allowed.'
  return { behavior: 'deny', message: told === null ? because : `${because} Reason: ${told}` }
}

function ignore(): void {
  // The session ends, and with it the question.
}
