import { readEvent } from '../events.ts'
import type { SessionEvent, TypedEvent } from '../events.ts'
import { isTerminal } from '../vocabulary.ts'
import type { DecisionItem, RunView, ToolItem, TranscriptItem } from './view.ts'

/** A run of which nothing is known but its id: what a log looks like whose beginning was pruned. */
export function emptyRun(runId: string): RunView {
  return {
    runId,
    turnId: null,
    intentId: '',
    attempt: 1,
    retryOf: null,
    source: 'desktop',
    mode: 'agent',
    provider: null,
    model: null,
    prompt: '',
    inputs: [],
    state: 'created',
    startWaitsFor: null,
    items: [],
    artifacts: [],
    plan: [],
    retry: null,
    usage: null,
    error: null,
    stopReason: null,
    sideEffects: 'none',
    partialOutput: false,
    recovered: false,
    createdAt: 0,
    startedAt: null,
    finishedAt: null,
    firstSeq: 0,
    lastSeq: 0,
  }
}

/** The view after all of the run's events, ascending by `seq`. Unknown types are passed over. */
export function projectRun(runId: string, events: readonly SessionEvent[]): RunView {
  return extendRun(emptyRun(runId), events)
}

/**
 * The view after `events` more. What did not change keeps its identity, so that a window redraws only what did. Events at
 * or below `lastSeq`, and those of other runs, are passed over: applying twice is the same as once.
 */
export function extendRun(view: RunView, events: readonly SessionEvent[]): RunView {
  let next: RunView | null = null
  for (const event of events) {
    if (event.runId !== view.runId || event.seq <= (next ?? view).lastSeq) continue
    next ??= { ...view, items: [...view.items] }
    if (next.firstSeq === 0) next.firstSeq = event.seq
    next.lastSeq = event.seq
    if (event.state !== null) moveTo(next, event)
    const typed = readEvent(event)
    if (typed !== null) apply(next, typed)
  }
  return next ?? view
}

function moveTo(view: RunView, event: SessionEvent): void {
  if (event.state === null) return
  view.state = event.state
  if (event.state === 'running') {
    view.startedAt ??= event.at
    view.startWaitsFor = null
    view.retry = null
  }
  if (isTerminal(event.state)) {
    view.finishedAt = event.at
    view.startWaitsFor = null
    view.retry = null
  } else {
    view.finishedAt = null
  }
}

function apply(view: RunView, event: TypedEvent): void {
  switch (event.type) {
    case 'run_created': {
      const { intentId, attempt, retryOf, source, mode, provider, model, turnId, prompt, inputs = [] } = event.data
      Object.assign(view, {
        intentId,
        attempt,
        retryOf,
        source,
        mode,
        provider,
        model,
        turnId,
        prompt,
        inputs,
        createdAt: event.at,
      })
      return
    }
    case 'run_retrying': {
      const { attempt, maxAttempts, reasonCode, retryAfterMs, message } = event.data
      view.retry = { attempt, maxAttempts, reasonCode, retryAfterMs, message, at: event.at }
      return
    }
    case 'run_reopened':
      Object.assign(view, { error: null, stopReason: null, recovered: false })
      return
    case 'run_finished':
    case 'run_recovered': {
      const { error, stopReason, sideEffects, partialOutput } = event.data
      Object.assign(view, { error, stopReason, sideEffects, partialOutput, recovered: event.type === 'run_recovered' })
      closeOpenTools(view, event.at)
      return
    }
    case 'output_text':
      view.retry = null
      return appendText(view, 'text', event.data.messageId, event.data.text, event)
    case 'output_thought':
      return appendText(view, 'thought', event.data.messageId, event.data.text, event)
    case 'user_steered':
      view.items.push({ kind: 'steer', seq: event.seq, text: event.data.text, at: event.at })
      return
    case 'tool_started':
    case 'tool_updated':
    case 'tool_finished':
      view.retry = null
      return upsertTool(view, event)
    case 'plan_updated':
      view.plan = event.data.entries
      return
    case 'usage_updated':
      view.usage = event.data.usage
      return
    case 'notice': {
      const { code, message, level = 'info' } = event.data
      if (code === 'start_waits') view.startWaitsFor = message
      else view.items.push({ kind: 'notice', seq: event.seq, code, message, level, at: event.at })
      return
    }
    case 'artifact_published':
      view.artifacts = [...view.artifacts, event.data]
      return
    case 'artifact_failed': {
      const { code, message, filename } = event.data
      const text = filename === null ? message : `${filename}: ${message}`
      view.items.push({ kind: 'notice', seq: event.seq, code, message: text, level: 'warning', at: event.at })
      return
    }
    case 'decision_requested': {
      const { cut: _cut, ...asked } = event.data
      const decision: DecisionItem = {
        ...asked,
        createdAt: event.at,
        status: 'pending',
        answer: null,
        by: null,
        settledAt: null,
        told: null,
      }
      view.items.push({ kind: 'decision', seq: event.seq, decision })
      return
    }
    case 'decision_resolved':
      return settle(view, event.data.decisionId, (decision) => ({
        ...decision,
        status: event.data.status,
        answer: event.data.answer,
        by: event.data.by,
        settledAt: event.at,
      }))
    case 'decision_told':
      return settle(view, event.data.decisionId, (decision) => ({ ...decision, told: event.data.how }))
    default:
      // Facts of the session, its inputs and deliveries: no part of the run's own view.
      return
  }
}

function appendText(view: RunView, kind: 'text' | 'thought', messageId: string, text: string, event: TypedEvent): void {
  const last = view.items.at(-1)
  if (last !== undefined && last.kind === kind && last.messageId === messageId) {
    view.items[view.items.length - 1] = { ...last, text: last.text + text }
    return
  }
  view.items.push({ kind, seq: event.seq, messageId, text, at: event.at })
}

function upsertTool(
  view: RunView,
  event: Extract<TypedEvent, { type: 'tool_started' | 'tool_updated' | 'tool_finished' }>,
): void {
  const { toolCallId, tool, name, title, status, paths, content, allowedBy } = event.data
  const at = findLast(view.items, (item) => item.kind === 'tool' && item.toolCallId === toolCallId)
  const before = at < 0 ? undefined : view.items[at]
  const known = before?.kind === 'tool' ? before : undefined
  const item: ToolItem = {
    kind: 'tool',
    seq: known?.seq ?? event.seq,
    toolCallId,
    tool,
    name: name ?? known?.name ?? null,
    title: title === '' ? (known?.title ?? '') : title,
    status,
    paths: paths.length > 0 ? paths : (known?.paths ?? []),
    content: content.length > 0 ? content : (known?.content ?? []),
    allowedBy: allowedBy ?? known?.allowedBy ?? null,
    startedAt: known?.startedAt ?? event.at,
    finishedAt: event.type === 'tool_finished' ? event.at : null,
  }
  if (known === undefined) view.items.push(item)
  else view.items[at] = item
}

/** A tool that was open when its run ended will bring no more news. */
function closeOpenTools(view: RunView, at: number): void {
  for (const [index, item] of view.items.entries()) {
    if (item.kind === 'tool' && item.finishedAt === null)
      view.items[index] = { ...item, status: 'failed', finishedAt: at }
  }
}

function settle(view: RunView, decisionId: string, change: (decision: DecisionItem) => DecisionItem): void {
  const at = findLast(view.items, (item) => item.kind === 'decision' && item.decision.decisionId === decisionId)
  const item = view.items[at]
  if (item?.kind === 'decision') view.items[at] = { ...item, decision: change(item.decision) }
}

function findLast(items: readonly TranscriptItem[], fits: (item: TranscriptItem) => boolean): number {
  for (let index = items.length - 1; index >= 0; index--) {
    const item = items[index]
    if (item !== undefined && fits(item)) return index
  }
  return -1
}
