import type {
  AgentView,
  DecisionView,
  Draft,
  SessionState,
  SessionView,
  WorkerView,
} from '../../shared/bridge/index.ts'
import { joinCommandLine } from '../../shared/command-line.ts'
import { AppError } from '../../shared/errors.ts'
import type { AgentExecutor, AgentReadiness, Agents, SessionRuntimes, WorkerOverview } from '../executor/index.ts'
import { mapInSlices } from '../platform/index.ts'
import type { DecisionRow, DraftRow, Runtime, SessionBrief, SessionRow } from '../runtime/index.ts'

/** So many sessions are put together at once: a few milliseconds. */
const SLICE = 100

export interface Views {
  session(row: SessionRow): SessionView
  /** In their order. */
  sessions(rows: readonly SessionRow[]): Promise<SessionView[]>
  decision(row: DecisionRow): DecisionView
  /** Without those whose session cannot be read: they must not hide the others. */
  decisions(rows: readonly DecisionRow[]): DecisionView[]
  worker(worker: WorkerOverview): WorkerView
}

/** What the systems know, in the contract's shapes: the only place where the two are put together. */
export function createViews(deps: {
  runtime: Runtime
  executor: AgentExecutor
  runtimes: SessionRuntimes
  agents: Agents
}): Views {
  const { runtime, executor, runtimes } = deps

  const stateOf = ({ damaged, active, ended, sessionId }: SessionBrief, held: boolean): SessionState => {
    if (damaged) return 'failed'
    if (held) return 'held'
    if (active !== null) {
      const { state } = runtime.sessions.inspect(sessionId)
      if (state === 'orphaned' || state === 'recovery_failed' || state === 'reserved') return 'recovering'
      if (active.state === 'created' || active.state === 'queued') return 'starting'
      return active.state === 'waiting_for_approval' || active.state === 'waiting_for_question' ? 'waiting' : 'running'
    }
    return ended?.state === 'failed' || ended?.state === 'timed_out' ? 'failed' : 'idle'
  }

  const sessionView = (row: SessionRow, brief: SessionBrief, held: boolean, label: string): SessionView => ({
    id: row.id,
    title: row.title,
    agentId: row.agentId,
    workDir: row.workDir,
    extraDirs: [...row.extraDirs],
    mode: row.mode ?? 'agent',
    choice: row.choice,
    choiceLabel: label,
    rehearsal: runtimes.isRehearsal(row.choice),
    ...(row.sandbox ? { sandbox: true as const } : {}),
    configRev: row.rev,
    state: stateOf(brief, held),
    activeRun: brief.active,
    lastRun: brief.ended,
    pendingDecisions: brief.pendingDecisions,
    headSeq: row.headSeq,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    archivedAt: row.archivedAt,
  })

  /** Many sessions run on few models, and each label is looked for in the whole catalog. */
  const createLabels = (): ((row: SessionRow) => string) => {
    const known = new Map<string, string>()
    return ({ agentId, choice }) => {
      const key = JSON.stringify([agentId, choice.connectionId, choice.modelId])
      const label = known.get(key) ?? runtimes.labelOf(agentId, choice)
      known.set(key, label)
      return label
    }
  }

  /** What all of them need is read once. */
  const sessionViews = (rows: readonly SessionRow[]): SessionView[] => {
    const briefs = new Map(runtime.sessions.briefs(rows.map(({ id }) => id)).map((brief) => [brief.sessionId, brief]))
    const held = executor.held()
    const labelOf = createLabels()
    return rows.flatMap((row) => {
      const brief = briefs.get(row.id)
      return brief === undefined ? [] : [sessionView(row, brief, held.has(row.id), labelOf(row))]
    })
  }

  const views: Views = {
    session(row) {
      const [view] = sessionViews([row])
      if (view === undefined) throw new AppError('internal', 'A session was not told.', { detail: row.id })
      return view
    },
    sessions: (rows) => mapInSlices(rows, SLICE, sessionViews),
    decision(row) {
      const session = runtime.sessions.get(row.sessionId)
      return {
        decisionId: row.id,
        kind: row.kind,
        toolCallId: row.toolCallId,
        tool: row.tool,
        toolKind: row.toolKind,
        title: row.title,
        action: row.action,
        complete: row.complete,
        risk: row.risk,
        riskReason: row.riskReason,
        ...(row.ruleId === null ? {} : { ruleId: row.ruleId }),
        options: [...row.options],
        paths: [...row.paths],
        createdAt: row.createdAt,
        expiresAt: row.expiresAt,
        status: row.status,
        answer: row.answer,
        by: row.by,
        settledAt: row.settledAt,
        told: row.told,
        ...(row.wholeBytes === null ? {} : { wholeBytes: row.wholeBytes }),
        sessionId: row.sessionId,
        runId: row.runId,
        sessionTitle: session.title,
        agentId: session.agentId,
        workDir: session.workDir,
        refusalReason: executor.refusalReason(row.sessionId) ?? 'in_answer',
      }
    },
    decisions: (rows) =>
      rows.flatMap((row) => {
        try {
          return [views.decision(row)]
        } catch (error) {
          if (!isDamage(error)) throw error
          return []
        }
      }),
    worker(worker) {
      return { ...worker, sessionTitle: worker.sessionId === null ? null : titleOf(runtime, worker.sessionId) }
    },
  }
  return views
}

const isDamage = (error: unknown): boolean => error instanceof AppError && error.code === 'database_corrupt'

/** Null: the session is gone; a worker may outlive its row. */
export function titleOf(runtime: Pick<Runtime, 'sessions'>, sessionId: string): string | null {
  try {
    return runtime.sessions.get(sessionId).title
  } catch {
    return null
  }
}

export function draftView(row: DraftRow): Draft {
  return { rev: row.rev, text: row.text, inputIds: [...row.inputIds], queued: row.queued }
}

/** Without a login of its own an agent still works for a connection. */
function isUsable({ client }: AgentReadiness['agent'], { failed }: NonNullable<AgentReadiness['preflight']>): boolean {
  return failed === null || (failed.name === 'login' && client !== null)
}

export function agentView({ agent, preflight }: AgentReadiness): AgentView {
  return {
    id: agent.id,
    label: agent.label,
    available: preflight === null ? agent.id === 'builtin' : isUsable(agent, preflight),
    version: preflight?.version ?? null,
    path: preflight?.path ?? null,
    checks: (preflight?.checks ?? []).map((check) => ({
      id: check.name,
      label: check.name,
      status: check.status,
      message: check.message,
      hint: check.hint ?? null,
    })),
    unchecked: preflight === null,
    ...(agent.id.startsWith('acp:') && agent.profile !== null
      ? { commandLine: joinCommandLine([agent.profile.command, ...agent.profile.args]) }
      : {}),
    ...(agent.project === undefined ? {} : { project: agent.project }),
    ...(typeof agent.profile?.remark === 'string' ? { remark: agent.profile.remark } : {}),
  }
}
