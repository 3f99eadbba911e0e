import { assertNever } from '../../shared/errors.ts'
import type { PermissionAction } from '../../shared/vocabulary.ts'
import { FORM_BYTES, QuestionForm, formText } from '../../shared/questions.ts'
import type { ExecutionSink, ExecutionUpdate, PermissionDecision } from '../runtime/index.ts'
import type { InteractionPort, PermissionPolicy, PermissionRequest, PermissionRules } from '../workers/index.ts'

/** Servers of Wheelhouse's own: every tool of theirs is allowed without asking. */
const OWN_SERVERS = ['wheelhouse'] as const

const MAX_TITLE = 200

/**
 * A worker's permissions, handed to whichever run has borrowed it. The runtime alone judges; this only carries questions
 * and answers, so that a worker which outlives a run never answers into the wrong one.
 */
export interface PermissionDesk {
  readonly policy: PermissionPolicy
  /** Questions in words go the same way; links and wider rights are declined. */
  readonly interactions: InteractionPort
  /** The run whose sink gets the questions from now on; null between runs: whatever is asked then is refused. */
  lend(sink: ExecutionSink | null): void
  /** False: nobody waits for that answer any more. */
  answer(requestId: string, decision: PermissionDecision): boolean
}

export function createPermissionDesk(rules: Pick<PermissionRules, 'mode' | 'sandbox'>): PermissionDesk {
  const waiting = new Map<string, (decision: PermissionDecision) => void>()
  const askedBy = new Map<string, ExecutionSink>()
  let current: ExecutionSink | null = null
  const whole: PermissionRules = { ...rules, allowKinds: [], allowMcpServers: OWN_SERVERS, unattended: false }

  const sinkOf = (requestId: string): ExecutionSink | undefined => {
    const sink = askedBy.get(requestId)
    askedBy.delete(requestId)
    return sink
  }

  /** A refusal where nobody is there, and where the agent takes it back. */
  function answerTo(requestId: string, update: ExecutionUpdate, signal: AbortSignal): Promise<PermissionDecision> {
    const sink = current
    if (sink === null) return Promise.resolve({ allow: false, by: 'cancelled', reason: null })
    if (signal.aborted) return Promise.resolve({ allow: false, by: 'withdrawn', reason: null })
    return new Promise((resolve) => {
      const settle = (decision: PermissionDecision): void => {
        waiting.delete(requestId)
        signal.removeEventListener('abort', onAbort)
        resolve(decision)
      }
      const onAbort = (): void => {
        sink.push({ kind: 'permission_withdrawn', requestId, why: 'agent' })
        settle({ allow: false, by: 'withdrawn', reason: null })
      }
      signal.addEventListener('abort', onAbort, { once: true })
      waiting.set(requestId, settle)
      askedBy.set(requestId, sink)
      sink.push(update)
    })
  }

  return {
    policy: {
      rules: () => whole,
      decide: (request, signal) =>
        answerTo(request.requestId, { kind: 'permission', request: { ...request, title: titleOf(request) } }, signal),
      told(requestId, how) {
        const sink = sinkOf(requestId)
        if (how !== 'withdrawn') sink?.push({ kind: 'answer_told', requestId, how })
      },
    },
    interactions: {
      async ask({ requestId, kind, toolCallId, body }, signal) {
        const read = kind === 'question' || kind === 'form' ? QuestionForm.safeParse(body) : null
        if (read?.success !== true || Buffer.byteLength(JSON.stringify(read.data)) > FORM_BYTES) {
          return { kind: 'declined' }
        }
        const form = read.data
        const request = { requestId, toolCallId: toolCallId ?? '', title: shortened(formText(form)), form }
        const decision = await answerTo(requestId, { kind: 'question', request }, signal)
        return decision.form === undefined ? { kind: 'declined' } : { kind: 'answered', body: decision.form }
      },
      told: (requestId, how) => sinkOf(requestId)?.push({ kind: 'answer_told', requestId, how }),
    },
    lend(sink) {
      current = sink
      if (sink !== null) return
      for (const settle of waiting.values()) settle({ allow: false, by: 'cancelled', reason: null })
    },
    answer(requestId, decision) {
      const settle = waiting.get(requestId)
      settle?.(decision)
      return settle !== undefined
    },
  }
}

function titleOf(request: PermissionRequest): string {
  return shortened(titleOfAction(request.action, request.tool))
}

function shortened(text: string): string {
  const title = text.replace(/\s+/g, ' ').trim()
  return title.length > MAX_TITLE ? `${title.slice(0, MAX_TITLE - 1)}…` : title
}

function titleOfAction(action: PermissionAction, tool: string): string {
  switch (action.kind) {
    case 'command':
      return action.command
    case 'edit': {
      const [first, ...others] = action.changes
      if (first === undefined) return tool
      const verb = first.newText === null ? 'Delete' : first.oldText === null ? 'Create' : 'Edit'
      return others.length === 0 ? `${verb} ${first.path}` : `${verb} ${first.path} and ${others.length} more`
    }
    case 'mcp':
      return `${action.server}: ${action.tool}`
    case 'other':
      return action.text === '' ? tool : action.text
    default:
      return assertNever(action)
  }
}
