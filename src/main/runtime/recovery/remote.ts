/** Runs that go on elsewhere: what proves it, and how one is taken up again by whoever finds it without an owner. */
import { readEvent } from '../../../shared/events.ts'
import type { SessionEvent } from '../../../shared/events.ts'
import { AppError } from '../../../shared/errors.ts'
import { withDeadline } from '../../platform/index.ts'
import type { RuntimeContext } from '../context.ts'
import { pagesOfRun } from '../events/run-pages.ts'
import { createCollector } from '../execution/collector.ts'
import type { Collector } from '../execution/collector.ts'
import type { Lease } from '../leases/keeper.ts'
import type { RemoteRow } from '../store/records.ts'
import type { Execution, ExecutionSink, ExecutionSpec, ExecutionUpdate, RemoteRef, RunRow } from '../types.ts'

/** A run that somebody executes already: nothing is started for it, and it takes none of the places here. */
export interface Attached {
  run: RunRow
  execution: Execution
  /** What was said since the attachment, and from now on. */
  connect(sink: ExecutionSink): void
  /** What the log has of the run so far. */
  collector: Collector
}

export type StartAttached = (admitted: { spec: ExecutionSpec; lease: Lease; attached: Attached }) => void

export interface RemoteRuns {
  /** Null: nobody here can attach to it. */
  evidence(runId: string): RemoteRow | null
  /** Executes the run from here on. @throws AppError `lease_lost`, and what the executor throws. */
  reattach(run: RunRow, lease: Lease, remote: RemoteRow): Promise<void>
  /** The answer and the tools as the log has them. */
  collected(runId: string): Promise<Collector>
}

export function createRemoteRuns(ctx: RuntimeContext, startAttached: StartAttached): RemoteRuns {
  const { clock, store, tables, keeper, executor, timing } = ctx

  function specOf(run: RunRow): ExecutionSpec {
    const intent = tables.intents.get(run.intentId)
    const policy = tables.runs.policy(run.id)
    const session = tables.sessions.get(run.sessionId)
    if (intent === null || policy === null || session === null) {
      throw new AppError('run_not_found', 'What was asked is gone.', { detail: run.id })
    }
    const { text, literal } = intent.request
    return {
      sessionId: run.sessionId,
      runId: run.id,
      intentId: run.intentId,
      attempt: run.attempt,
      agentId: session.agentId,
      prompt: { text, inputs: [], clientMessageId: run.id, literal },
      policy,
      history: null,
    }
  }

  async function collected(runId: string): Promise<Collector> {
    const collector = createCollector()
    for await (const page of pagesOfRun(ctx, runId)) for (const event of page) collect(collector, event)
    return collector
  }

  return {
    evidence: (runId) => (executor.attach === undefined ? null : tables.records.remote(runId)),
    collected,
    async reattach(run, lease, remote) {
      const { attach } = executor
      if (attach === undefined) throw new AppError('remote_stop_unsupported', 'Nobody here can follow this run.')
      const spec = specOf(run)
      const relay = createRelay()
      const execution = await withDeadline(clock, timing.attemptMs, lease.lost, (signal) =>
        attach(remoteRef(run, remote), relay.sink, signal),
      )
      const collector = await collected(run.id)
      const owned = await store.writeTx((tx) => keeper.executeIn(tx, lease))
      const attached = { run, execution, connect: relay.connect, collector }
      startAttached({ spec, lease: owned, attached })
    },
  }
}

function collect(collector: Collector, raw: SessionEvent): void {
  const event = readEvent(raw)
  switch (event?.type) {
    case 'output_text':
      collector.output(event.data.messageId, event.data.text)
      return
    case 'tool_started':
    case 'tool_updated':
    case 'tool_finished': {
      const { toolCallId, tool, name, title, status, paths, content } = event.data
      const phase = event.type === 'tool_started' ? 'started' : event.type === 'tool_updated' ? 'updated' : 'finished'
      collector.tool({ kind: 'tool', phase, toolCallId, tool, name, title, status, paths, content })
      return
    }
    default:
  }
}

export function remoteRef(run: Pick<RunRow, 'id' | 'sessionId'>, remote: RemoteRow): RemoteRef {
  const { driver, remoteId, state, cursor } = remote
  return { sessionId: run.sessionId, runId: run.id, driver, remoteId, state, cursor }
}

/** Keeps what is said before anybody listens. */
function createRelay(): { sink: ExecutionSink; connect(to: ExecutionSink): void } {
  const waiting: ExecutionUpdate[] = []
  let target: ExecutionSink | null = null
  return {
    sink: {
      push(update) {
        if (target === null) waiting.push(update)
        else target.push(update)
      },
    },
    connect(to) {
      for (const update of waiting.splice(0)) to.push(update)
      target = to
    },
  }
}
