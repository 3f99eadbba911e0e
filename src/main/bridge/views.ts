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
import { isTerminal } from '../../shared/vocabulary.ts'
import type { AgentExecutor, AgentReadiness, Agents, SessionRuntimes, WorkerOverview } from '../executor/index.ts'
import type { DecisionRow, DraftRow, Runtime, RunRow, SessionRow } from '../runtime/index.ts'

export interface Views {
  session(row: SessionRow): SessionView
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

  const stateOf = (row: SessionRow, active: RunRow | null, ended: RunRow | null): SessionState => {
    if (executor.isHeld(row.id)) return 'held'
    if (active !== null) {
      const { state } = runtime.sessions.inspect(row.id)
      if (state === 'orphaned' || state === 'recovery_failed' || state === 'reserved') return 'recovering'
      if (active.state === 'created' || active.state === 'queued') return 'starting'
      return active.state === 'waiting_for_approval' || active.state === 'waiting_for_question' ? 'waiting' : 'running'
    }
    return ended?.state === 'failed' || ended?.state === 'timed_out' ? 'failed' : 'idle'
  }

  /** A run that cannot be read spoils its own session, not the list that it stands in. */
  const latestOf = (sessionId: string): ReturnType<Runtime['runs']['latest']> & { damaged: boolean } => {
    try {
      return { ...runtime.runs.latest(sessionId), damaged: false }
    } catch (error) {
      if (!isDamage(error)) throw error
      return { active: null, ended: null, damaged: true }
    }
  }

  const views: Views = {
    session(row) {
      const { active, ended, damaged } = latestOf(row.id)
      return {
        id: row.id,
        title: row.title,
        agentId: row.agentId,
        workDir: row.workDir,
        extraDirs: [...row.extraDirs],
        mode: row.mode ?? 'agent',
        choice: row.choice,
        choiceLabel: runtimes.labelOf(row.agentId, row.choice),
        rehearsal: runtimes.isRehearsal(row.choice),
        ...(row.sandbox ? { sandbox: true as const } : {}),
        configRev: row.rev,
        state: damaged ? 'failed' : stateOf(row, active, ended),
        activeRun:
          active === null || isTerminal(active.state)
            ? null
            : { runId: active.id, state: active.state, startedAt: active.startedAt, createdAt: active.createdAt },
        lastRun:
          ended === null || ended.finishedAt === null
            ? null
            : {
                runId: ended.id,
                state: ended.state,
                finishedAt: ended.finishedAt,
                errorCode: ended.error?.code ?? null,
              },
        pendingDecisions: runtime.sessions.pendingDecisions(row.id),
        headSeq: row.headSeq,
        createdAt: row.createdAt,
        updatedAt: row.updatedAt,
        archivedAt: row.archivedAt,
      }
    },
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
    ...(typeof agent.profile?.remark === 'string' ? { remark: agent.profile.remark } : {}),
  }
}
