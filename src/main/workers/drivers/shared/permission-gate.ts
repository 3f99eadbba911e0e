/**
 * From an agent's question to its answer. What is not allowed by a rule or by the policy is refused; a refusal is recorded
 * before its answer is written; an answer is given once. The agent is only ever told "once".
 */
import { createHash } from 'node:crypto'
import type { ToolKind } from '../../../../shared/vocabulary.ts'
import type { Clock, Ids, Log } from '../../../platform/types.ts'
import type { Limits } from '../../limits.ts'
import type { DecidedBy, PermissionDecision, PermissionRequest, Redactor, Refusal, SessionConfig } from '../../types.ts'
import { exactAction } from './action.ts'
import { shownId, trustedName } from './content-channel.ts'
import { keepNewest } from './keep-newest.ts'
import type { Question, QuestionAnswer, WireId } from './types.ts'
import type { UpdateQueue } from './update-queue.ts'

/** A turn's refusals, as they will stand on its result. */
export interface RefusalList {
  add(refusal: Refusal): void
}

export interface GateParts {
  cfg: SessionConfig
  clock: Clock
  ids: Ids
  log: Log
  limits: Limits
  redactor: Redactor
  updates: UpdateQueue
  /** Null: the policy may be asked. Else why not. Asked again before an allow is sent. */
  refuseBecause(question: Question): DecidedBy | null
  /** Where refusals of this moment belong. */
  turnRefusals(): RefusalList | null
  /** More refusals wait to be written than the agent reads. */
  flooded(): void
}

export interface PermissionGate {
  ask(question: Question): void
  withdraw(wireId: WireId): void
  /** Ends every open decision for this reason. */
  abortAll(by: DecidedBy): void
  observed(toolCallId: string, tool: string, kind: ToolKind): void
  /** Resolves when no decision is in flight. */
  idle(): Promise<void>
  readonly unrecorded: number
}

interface Open {
  question: Question
  abort: AbortController
  endedBy: DecidedBy | null
}

type Verdict =
  | { allow: true; by: DecidedBy }
  | { allow: false; by: DecidedBy; reason: string | null; cancelled: boolean }

const ENDED: ReadonlySet<DecidedBy> = new Set(['withdrawn', 'cancelled'])

export function createPermissionGate(parts: GateParts): PermissionGate {
  const { cfg, clock, ids, log, limits, redactor, updates } = parts
  const open = new Map<string, Open>()
  const remembered = new Set<string>()
  const forgetOldest = keepNewest(remembered, limits.refusalsRemembered)
  const waiters: (() => void)[] = []
  let inFlight = 0
  let writing = 0
  let unrecorded = 0

  function record(toolCallId: string, tool: string, by: DecidedBy): void {
    if (toolCallId !== '') {
      const key = createHash('sha256').update(toolCallId).digest('base64')
      if (remembered.has(key)) return
      remembered.add(key)
      forgetOldest()
    }
    const refusal: Refusal = {
      workerId: cfg.workerId,
      toolCallId: shownId(toolCallId, redactor, limits),
      tool: redactor.sanitize(tool),
      by,
      atMs: clock.nowMs(),
    }
    parts.turnRefusals()?.add(refusal)
    try {
      cfg.refusals.record(refusal)
    } catch (error) {
      unrecorded += 1
      log.warn('a refusal could not be recorded', { error })
    }
  }

  function requestOf(question: Question): PermissionRequest {
    const { action, complete } = exactAction(question.action, redactor, limits)
    const locations = question.locations.slice(0, limits.locations)
    return {
      requestId: ids.next(),
      toolCallId: shownId(question.toolCallId, redactor, limits),
      tool: trustedName(question.tool) ?? '',
      kind: question.kind,
      locations: locations.map((path) => redactor.exact(path).slice(0, limits.locationBytes)),
      action,
      complete: complete && question.complete && locations.length === question.locations.length,
    }
  }

  function byRule(question: Question): DecidedBy | null {
    const { allowKinds, allowMcpServers } = cfg.policy.rules()
    if (allowKinds.includes(question.kind)) return 'rule'
    const server = question.mcpServer ?? mcpServerOf(trustedName(question.tool))
    return server !== null && allowMcpServers.includes(server) ? 'rule' : null
  }

  async function decided(entry: Open, request: PermissionRequest): Promise<PermissionDecision | null> {
    const { abort } = entry
    const gone = new Promise<null>((resolve) => {
      abort.signal.addEventListener('abort', () => resolve(null), { once: true })
    })
    using _timer = clock.after(limits.decisionMs, () => {
      entry.endedBy ??= 'expired'
      abort.abort()
    })
    // Awaited here: the timer ends with this function.
    return await Promise.race([cfg.policy.decide(request, abort.signal), gone])
  }

  async function askPolicy(entry: Open, request: PermissionRequest): Promise<Verdict> {
    let decision: PermissionDecision | null
    try {
      decision = await decided(entry, request)
    } catch (error) {
      log.warn('the policy did not decide', { error: redactor.error(error) })
      decision = null
      entry.endedBy ??= 'bounds'
    }
    if (entry.endedBy !== null || decision === null) {
      const by = entry.endedBy ?? 'bounds'
      return { allow: false, by, reason: null, cancelled: ENDED.has(by) }
    }
    if (decision.allow) return { allow: true, by: decision.by }
    const reason = decision.reason === null ? null : redactor.exact(decision.reason).slice(0, limits.reasonChars)
    return { allow: false, by: decision.by, reason, cancelled: ENDED.has(decision.by) }
  }

  /** An allow is judged once more: the turn may have ended, or the mode been left, while the person thought. */
  function settled(question: Question, verdict: Verdict): Verdict {
    if (!verdict.allow) return verdict
    const now = parts.refuseBecause(question)
    if (now !== null) return { allow: false, by: now, reason: null, cancelled: true }
    return question.canAllow ? verdict : { allow: false, by: 'bounds', reason: null, cancelled: false }
  }

  async function answer(question: Question, given: Verdict): Promise<'sent' | 'lost'> {
    const verdict = settled(question, given)
    const tool = trustedName(question.tool) ?? ''
    if (!verdict.allow) record(question.toolCallId, tool, verdict.by)
    updates.push({
      kind: 'permission',
      toolCallId: shownId(question.toolCallId, redactor, limits),
      tool: redactor.sanitize(tool),
      toolKind: question.kind,
      allowed: verdict.allow,
      by: verdict.by,
    })
    writing += 1
    if (writing > limits.busy) parts.flooded()
    try {
      await question.answer(answerOf(question, verdict))
      return 'sent'
    } catch {
      return 'lost'
    } finally {
      writing -= 1
    }
  }

  async function decide(question: Question): Promise<void> {
    const key = keyOf(question.wireId)
    const entry: Open = { question, abort: new AbortController(), endedBy: null }
    open.set(key, entry)
    const request = requestOf(question)
    inFlight += 1
    try {
      const verdict = await askPolicy(entry, request)
      open.delete(key)
      const how = await answer(question, verdict)
      cfg.policy.told(request.requestId, entry.endedBy === 'withdrawn' ? 'withdrawn' : how)
    } catch (error) {
      log.error('a permission failed', { error })
    } finally {
      open.delete(key)
      inFlight -= 1
      if (inFlight === 0) for (const wake of waiters.splice(0)) wake()
    }
  }

  const refuse = (by: DecidedBy, cancelled = false): Verdict => ({ allow: false, by, reason: null, cancelled })

  /** What needs no one's decision. */
  function atOnce(question: Question): Verdict | null {
    const because = parts.refuseBecause(question)
    if (because !== null) return refuse(because)
    if (!question.answerable) return refuse('bounds', true)
    const rule = byRule(question)
    if (rule !== null) return { allow: true, by: rule }
    if (cfg.policy.rules().unattended) return refuse('unattended')
    return open.size >= limits.decisions || open.has(keyOf(question.wireId)) ? refuse('bounds') : null
  }

  return {
    ask(question) {
      const given = atOnce(question)
      if (given === null) void decide(question)
      else void answer(question, given)
    },
    withdraw(wireId) {
      const entry = open.get(keyOf(wireId))
      if (entry === undefined) return
      entry.endedBy ??= 'withdrawn'
      entry.abort.abort()
    },
    abortAll(by) {
      for (const entry of open.values()) {
        entry.endedBy ??= by
        entry.abort.abort()
      }
    },
    observed(toolCallId, tool, kind) {
      const before = remembered.size
      record(toolCallId, trustedName(tool) ?? '', 'agent')
      if (toolCallId !== '' && remembered.size === before) return
      updates.push({
        kind: 'permission',
        toolCallId: shownId(toolCallId, redactor, limits),
        tool: redactor.sanitize(trustedName(tool) ?? ''),
        toolKind: kind,
        allowed: false,
        by: 'agent',
      })
    },
    idle: () => (inFlight === 0 ? Promise.resolve() : new Promise((resolve) => waiters.push(resolve))),
    get unrecorded() {
      return unrecorded
    },
  }
}

/** 1 and "1" are two ids. */
function keyOf(wireId: WireId): string {
  return `${typeof wireId}:${wireId}`
}

function answerOf(question: Question, verdict: Verdict): QuestionAnswer {
  if (verdict.allow) return { kind: 'allow' }
  if (verdict.cancelled || !question.answerable) return { kind: 'cancelled', by: verdict.by }
  return { kind: 'refuse', by: verdict.by, reason: verdict.reason }
}

/** `mcp__<server>__<tool>`: the server, or null. A server's name holds no `__`. */
export function mcpServerOf(tool: string | null): string | null {
  const match = tool === null ? null : /^mcp__(.+?)__.+$/.exec(tool)
  return match?.[1] ?? null
}
