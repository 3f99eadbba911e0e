/** Each notification to whom it concerns. What is not named here is dropped unread. */
import type { Conversation } from '../shared/types.ts'
import type { ItemLog } from './item-log.ts'
import type { ModeProof } from './mode-proof.ts'
import { httpStatusOf, retryOf } from './outcome.ts'
import type { UsageMeter } from './outcome.ts'
import type { RuntimeChoice } from './runtime-choice.ts'
import type { ThreadFamily } from './thread-family.ts'
import type { Turns } from './turns.ts'
import { ErrorNote, NameNote, PlanNote, ResolvedNote, SettingsNote, TurnNote, UsageNote } from './wire.ts'

export interface NotificationParts {
  conversation: Conversation
  threadId: string
  family: ThreadFamily
  items: ItemLog
  turns: Turns
  proof: ModeProof
  runtime: RuntimeChoice
  meter: UsageMeter
}

export function createNotifications(parts: NotificationParts): (method: string, params: unknown) => void {
  const { conversation, threadId, family, items, turns, proof, runtime, meter } = parts
  let retries = 0

  function settings(params: unknown): void {
    const note = SettingsNote.safeParse(params)
    if (!note.success || note.data.threadId !== threadId) return
    const told = note.data.threadSettings
    runtime.told(told.model, told.effort)
    proof.told(told)
  }

  function turn(params: unknown, then: (turn: TurnNote['turn']) => void): void {
    const note = TurnNote.safeParse(params)
    if (!note.success || note.data.threadId !== threadId) return
    retries = 0
    then(note.data.turn)
  }

  /** A thread that works for our turn is a sub-agent's: what it asks is asked of us. */
  function adopt(params: unknown): void {
    const note = TurnNote.safeParse(params)
    const root = note.success ? note.data.turn.rootTurnId : null
    if (note.success && typeof root === 'string' && root === conversation.turn?.agentTurnId) {
      family.add(note.data.threadId)
    }
  }

  function usage(params: unknown): void {
    const note = UsageNote.safeParse(params)
    if (!note.success || note.data.threadId !== threadId) return
    const { total, last, modelContextWindow } = note.data.tokenUsage
    const spent = meter.note(total, last, modelContextWindow ?? null)
    if (turns.isCurrent(note.data.turnId)) conversation.content({ kind: 'usage', usage: spent })
  }

  /** Its `additionalDetails` hold raw model output, and stay unread. */
  function retrying(params: unknown): void {
    const note = ErrorNote.safeParse(params)
    if (!note.success || note.data.threadId !== threadId || !note.data.willRetry) return
    if (!turns.isCurrent(note.data.turnId)) return
    retries += 1
    const told = retryOf(note.data.error.message)
    conversation.content({
      kind: 'retrying',
      attempt: told?.attempt ?? retries,
      maxAttempts: told?.maxAttempts ?? null,
      httpStatus: httpStatusOf(note.data.error),
      retryAfterMs: 0,
    })
  }

  function plan(params: unknown): void {
    const note = PlanNote.safeParse(params)
    if (!note.success || note.data.threadId !== threadId) return
    conversation.content({
      kind: 'plan',
      entries: note.data.plan.map(({ step, status }) => ({
        content: step,
        status: status === 'inProgress' ? 'in_progress' : status,
        priority: null,
      })),
    })
  }

  return (method, params) => {
    switch (method) {
      case 'item/agentMessage/delta':
      case 'item/plan/delta':
        return items.agentText(params)
      case 'item/reasoning/summaryTextDelta':
        return items.thought(params)
      case 'item/commandExecution/outputDelta':
        return items.output(params)
      case 'item/started':
        return items.started(params)
      case 'item/completed':
        return items.completed(params)
      case 'turn/started':
        adopt(params)
        return turn(params, ({ id }) => turns.noteStarted(id))
      case 'turn/completed':
        return turn(params, turns.noteCompleted)
      case 'turn/plan/updated':
        return plan(params)
      case 'thread/settings/updated':
        return settings(params)
      case 'thread/tokenUsage/updated':
        return usage(params)
      case 'thread/name/updated': {
        const note = NameNote.safeParse(params)
        if (!note.success || note.data.threadId !== threadId || note.data.threadName === undefined) return
        return conversation.content({ kind: 'title', title: note.data.threadName })
      }
      case 'serverRequest/resolved': {
        const note = ResolvedNote.safeParse(params)
        if (!note.success || !family.has(note.data.threadId)) return
        return conversation.withdraw(note.data.requestId)
      }
      case 'error':
        return retrying(params)
      default:
    }
  }
}
