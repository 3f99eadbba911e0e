/** Turns what an executor says into events, facts and transcript. Synchronous, in wire order; never throws. */
import type { Usage } from '../../../shared/vocabulary.ts'
import type { Clock, Log } from '../../platform/types.ts'
import type { ChangeBus } from '../events/hub.ts'
import type { RunStream } from '../events/writer.ts'
import type { Tables } from '../store/index.ts'
import type { RunFacts } from '../store/runs.ts'
import type { ExecutionSink, ExecutionUpdate, PermissionRequest, QuestionRequest } from '../types.ts'
import type { ArtifactOffer } from '../artifacts/artifacts.ts'
import { cleanTitle } from '../sessions/titles.ts'
import { createCollector } from './collector.ts'
import type { Collector } from './collector.ts'
import { FAILURES } from './failures.ts'
import { factsAfter, NO_FACTS } from './facts.ts'

const USAGE_EVERY_MS = 1_000

/** What the run and the decisions do with an update that is more than an event. */
export interface IntakeHandlers {
  accepted(workerId: string): void
  permission(request: PermissionRequest): void
  question(request: QuestionRequest): void
  withdrawn(requestId: string, why: string): void
  artifact(offer: ArtifactOffer): void
  /** The run goes on elsewhere. */
  remote(): void
  /** Answers the decision's id, or null for a request that needed none. */
  decisionOf(requestId: string): string | null
}

export interface Intake {
  sink: ExecutionSink
  facts(): RunFacts
  collector: Collector
  looked(): void
  allowed(toolCallId: string, by: { reason: string; ruleId: string | null }): void
  /** Writes what was held back, and drops whatever comes later. */
  close(): void
}

export interface IntakeDeps {
  clock: Clock
  log: Log
  tables: Tables
  changes: ChangeBus
  stream: RunStream
  runId: string
  sessionId: string
  handlers: IntakeHandlers
  /** Of a run that began before this process had it: what is known of it. */
  earlier: { facts: RunFacts; collector: Collector } | null
}

export function createIntake(deps: IntakeDeps): Intake {
  const { clock, log, tables, changes, stream, runId, sessionId, handlers, earlier } = deps
  const collector = earlier?.collector ?? createCollector()
  const allowedBy = new Map<string, { reason: string; ruleId: string | null }>()
  let facts = earlier?.facts ?? NO_FACTS
  let closed = false
  let lateTold = false
  let usage: { latest: Usage; timer: Disposable } | null = null
  let usageAtMs = Number.NEGATIVE_INFINITY

  function learn(update: ExecutionUpdate): void {
    const next = factsAfter(facts, update)
    if (next === facts) return
    facts = next
    stream.note(facts)
  }

  function take(update: ExecutionUpdate): void {
    learn(update)
    switch (update.kind) {
      case 'accepted':
        return handlers.accepted(update.workerId)
      case 'output':
      case 'thought':
        return takeText(update)
      case 'tool':
        return takeTool(update)
      case 'plan':
        return stream.push({ runId, type: 'plan_updated', data: { entries: [...update.entries] } })
      case 'usage':
        return takeUsage(update.usage)
      case 'title':
        return takeTitle(update.title)
      case 'commands':
        return changes.tell({ kind: 'commands', sessionId, commands: update.commands })
      case 'notice': {
        const { code, message, level } = update
        const data = { code, message, ...(level === undefined ? {} : { level }) }
        return stream.push({ runId, type: 'notice', data })
      }
      case 'permission':
        return handlers.permission(update.request)
      case 'question':
        return handlers.question(update.request)
      case 'permission_withdrawn':
        return handlers.withdrawn(update.requestId, update.why)
      case 'answer_told':
        return takeTold(update.requestId, update.how)
      case 'retrying':
        return takeRetrying(update)
      case 'remote':
        return takeRemote(update)
      case 'artifact': {
        const { kind: _kind, artifactKind, ...offer } = update
        return handlers.artifact({ ...offer, ...(artifactKind === undefined ? {} : { kind: artifactKind }) })
      }
    }
  }

  function takeText({ kind, messageId, text }: Extract<ExecutionUpdate, { kind: 'output' | 'thought' }>): void {
    if (text === '') return
    if (kind === 'output') collector.output(messageId, text)
    stream.push({ runId, type: kind === 'output' ? 'output_text' : 'output_thought', data: { messageId, text } })
  }

  function takeTool(update: Extract<ExecutionUpdate, { kind: 'tool' }>): void {
    collector.tool(update)
    const { phase, toolCallId, tool, name, title, status, paths, content, interrupted } = update
    const by = allowedBy.get(toolCallId)
    stream.push(
      {
        runId,
        type: `tool_${phase}`,
        data: {
          toolCallId,
          tool,
          name,
          title,
          status,
          paths: [...paths],
          content: [...content],
          ...(by === undefined ? {} : { allowedBy: by }),
          ...(interrupted === undefined ? {} : { interrupted }),
        },
      },
      { urgent: phase !== 'updated' },
    )
    if (phase === 'finished') allowedBy.delete(toolCallId)
  }

  /** At most once a second: agents report it with every token. */
  function takeUsage(latest: Usage): void {
    const waitMs = usageAtMs + USAGE_EVERY_MS - clock.monotonicMs()
    if (usage !== null) usage.latest = latest
    else if (waitMs <= 0) pushUsage(latest)
    else usage = { latest, timer: clock.after(waitMs, flushUsage) }
  }

  function flushUsage(): void {
    if (usage === null) return
    usage.timer[Symbol.dispose]()
    const { latest } = usage
    usage = null
    pushUsage(latest)
  }

  function pushUsage(latest: Usage): void {
    usageAtMs = clock.monotonicMs()
    const apply = (): void => tables.records.putUsage(runId, latest, clock.nowMs())
    stream.push({ runId, type: 'usage_updated', data: { usage: latest } }, { apply })
  }

  function takeTitle(raw: string): void {
    const title = cleanTitle(raw)
    const session = tables.sessions.get(sessionId)
    if (title === '' || session === null || session.titleBy === 'person' || session.title === title) return
    const apply = (): void => {
      // A person may have named it since.
      if (tables.sessions.get(sessionId)?.titleBy !== 'person') tables.sessions.setTitle(sessionId, title, 'agent')
    }
    stream.push({ runId: null, type: 'title_changed', data: { title, by: 'agent' } }, { apply })
  }

  function takeTold(requestId: string, how: 'sent' | 'lost'): void {
    const decisionId = handlers.decisionOf(requestId)
    if (decisionId === null) return
    const apply = (): void => void tables.decisions.markTold(decisionId, how, clock.nowMs())
    stream.push({ runId, type: 'decision_told', data: { decisionId, how }, dedupeKey: `told:${decisionId}` }, { apply })
  }

  /** On disk before anything that follows it: from then on the run is more than this process. */
  function takeRemote({ kind: _kind, ...remote }: Extract<ExecutionUpdate, { kind: 'remote' }>): void {
    handlers.remote()
    const apply = (): void => {
      tables.records.putRemote(runId, remote, clock.nowMs())
      tables.runs.setRemote(runId)
    }
    const { driver, remoteId, state, terminal, canCancel } = remote
    const data = { driver, remoteId, state, terminal, canCancel }
    stream.push({ runId, type: 'run_remote', data }, { apply, urgent: true })
  }

  function takeRetrying(update: Extract<ExecutionUpdate, { kind: 'retrying' }>): void {
    const { attempt, maxAttempts, reasonCode, retryAfterMs } = update
    const failure = Object.entries(FAILURES).find(([code]) => code === reasonCode)?.[1]
    const progress = {
      attempt,
      maxAttempts,
      reasonCode,
      retryAfterMs,
      phase: update.phase ?? null,
      continues: update.continues ?? false,
      messageKey: `run.error.${reasonCode}`,
      message: update.message ?? failure?.message ?? '',
    }
    const apply = (): void => tables.runs.setProgress(runId, progress)
    stream.push({ runId, type: 'run_retrying', data: progress }, { apply })
  }

  return {
    sink: {
      push(update) {
        if (closed) {
          if (!lateTold) log.warn('An executor went on talking after its end.', { runId, kind: update.kind })
          lateTold = true
          return
        }
        try {
          take(update)
        } catch (error) {
          log.error('An update of a run could not be taken.', { error, runId, kind: update.kind })
        }
      },
    },
    facts: () => facts,
    collector,
    looked: () => learn({ kind: 'artifact' }),
    allowed: (toolCallId, by) => void allowedBy.set(toolCallId, by),
    close() {
      flushUsage()
      closed = true
    },
  }
}
