/** One run, from its admission to its last row. Everything it waits for is bounded, and it ends in exactly one way. */
import { AppError } from '../../../shared/errors.ts'
import type { RunState } from '../../../shared/vocabulary.ts'
import { withDeadline } from '../../platform/index.ts'
import type { RuntimeContext } from '../context.ts'
import type { Artifacts } from '../artifacts/artifacts.ts'
import type { DecisionService } from '../decisions/service.ts'
import type { Lease } from '../leases/keeper.ts'
import type { Execution, ExecutionSpec, PermissionDecision } from '../types.ts'
import type { ActiveRun, RunRegistry, Wish } from './active.ts'
import { createEnding } from './ending.ts'
import { createIntake } from './intake.ts'
import { followExecution, launch } from './launch.ts'
import type { RunEnd } from './launch.ts'
import type { Slots } from './slots.ts'
import { transition } from './transition.ts'
import { aborted, createDeadline } from './waits.ts'
import type { Attached } from '../recovery/remote.ts'

const ANSWER_TRIES = 3

export interface RunDeps {
  ctx: RuntimeContext
  registry: RunRegistry
  slots: Slots
  decisions: DecisionService
  artifacts: Pick<Artifacts, 'offered'>
}

/**
 * Registers an admitted run, or one that goes on elsewhere and was attached to, and sees it through. Returns at once; `gone`
 * settles at its end.
 */
export function startRun(
  deps: RunDeps,
  admitted: { spec: ExecutionSpec; lease: Lease; attached?: Attached },
): ActiveRun {
  const { ctx, registry, slots, decisions, artifacts } = deps
  const { clock, log, store, tables, keeper, hub, changes, writer, timing } = ctx
  const { spec, lease, attached } = admitted
  const { runId, sessionId } = spec
  const wished = new AbortController()
  let wish: Wish | null = null
  let state: RunState = attached?.run.state ?? 'created'
  let accepted = attached !== undefined
  let remote = attached !== undefined
  let closing = false
  let resolveRunning: (execution: Execution | null) => void = () => undefined
  let resolveAccepted: () => void = () => undefined
  const running = new Promise<Execution | null>((resolve) => (resolveRunning = resolve))
  const acceptance = new Promise<void>((resolve) => (resolveAccepted = resolve))

  const stream = writer.open({
    lease,
    runId,
    onOverflow: () => end({ kind: 'failure', raw: { message: '', code: 'event_backlog_full' } }),
  })
  const deadline = createDeadline(clock, spec.policy.maxRunMs, () => end({ kind: 'deadline' }))
  const intake = createIntake({
    clock,
    log,
    tables,
    changes,
    stream,
    runId,
    sessionId,
    handlers: {
      accepted: (workerId) => void becomeRunning(workerId),
      permission: (request) => void decisions.requested(run, request),
      question: (request) => void decisions.asked(run, request),
      withdrawn: (requestId) => void decisions.withdrawn(run, requestId),
      artifact: (offer) => artifacts.offered(run, offer),
      remote: () => (remote = true),
      decisionOf: (requestId) => decisions.idOf(run, requestId),
    },
    earlier: attached === undefined ? null : { facts: attached.run, collector: attached.collector },
  })
  const letGo = new AbortController()

  function moved(to: RunState): void {
    state = to
    if (to === 'running') deadline.resume()
    else deadline.pause()
    changes.tell({ kind: 'run', sessionId, runId })
  }

  const moveIn: ActiveRun['moveIn'] = (tx, emit, to, reason) => {
    transition(tables, emit, { runId, to, reason, at: clock.nowMs() })
    store.afterCommit(tx, () => moved(to))
  }

  /** Commits `running` before the agent's first word is told. A run that is being stopped never shows it. */
  async function becomeRunning(workerId: string): Promise<void> {
    if (accepted) return
    accepted = true
    try {
      await ending.persist(() =>
        stream.commit((tx, emit) => {
          tables.runs.accept(runId, workerId)
          if (!wished.signal.aborted && !closing) moveIn(tx, emit, 'running', null)
        }),
      )
      resolveAccepted()
    } catch (error) {
      resolveAccepted()
      if (!lease.lost.aborted) fail(error)
    }
  }

  function fail(error: unknown): void {
    log.error('A run cannot go on.', { error, runId })
    const code = error instanceof AppError ? error.code : 'run_failed'
    end({ kind: 'failure', raw: { message: error instanceof Error ? error.message : '', code } })
  }

  function end(next: Wish): void {
    // A failure of our own beats a wish; of two wishes the first counts.
    if (wish === null || (next.kind === 'failure' && wish.kind !== 'failure')) wish = next
    wished.abort()
  }

  const ending = createEnding({ ctx, stream, lease, runId, sessionId })

  async function outcome(): Promise<RunEnd> {
    using place = await takePlace()
    if (place === null) return { by: 'wish' }
    const started = await launch({
      ctx,
      spec,
      sink: intake.sink,
      wished: wished.signal,
      wasAccepted: () => accepted,
      facts: intake.facts,
      announceRetry: (retry) => intake.sink.push({ kind: 'retrying', ...retry }),
    })
    if (started.kind !== 'started') return started.kind === 'failed' ? { by: 'failure', raw: started.raw } : started.end
    const { execution } = started
    if (!accepted) await becomeRunning(execution.workerRef)
    await acceptance
    // Awaited here: the slot is given back when this function returns.
    return await follow(execution)
  }

  /** What its process was asked and told before is taken up first: an answer reaches the agent before its next word is read. */
  async function takeUp({ execution, connect }: Attached): Promise<RunEnd> {
    if (state === 'running') deadline.resume()
    const following = follow(execution)
    decisions.rehydrate(run)
    connect(intake.sink)
    return following
  }

  function follow(execution: Execution): Promise<RunEnd> {
    resolveRunning(execution)
    return followExecution(
      {
        ctx,
        wished: wished.signal,
        graceMs: () => (wish?.kind === 'shutdown' ? wish.graceMs : timing.cancelGraceMs),
        async onStop() {
          await stream
            .commit((tx, emit) => moveIn(tx, emit, 'cancelling', wish?.kind ?? null))
            .catch((error: unknown) => log.warn('Could not record that a run is being stopped.', { error, runId }))
          decisions.cancelBound(run)
        },
      },
      execution,
    )
  }

  /** A slot to run in, or null: the run was stopped while it waited in line. */
  async function takePlace(): Promise<Disposable | null> {
    const place = slots.take()
    if ('slot' in place) {
      if (!wished.signal.aborted) return place.slot
      place.slot[Symbol.dispose]()
      return null
    }
    await stream.commit((tx, emit) => moveIn(tx, emit, 'queued', null))
    const slot = await Promise.race([place.turn, aborted(wished.signal)])
    if (slot !== undefined) return slot
    place.leave()
    void place.turn.then((late) => late[Symbol.dispose]())
    return null
  }

  async function handOver(execution: Execution, requestId: string, decision: PermissionDecision): Promise<void> {
    const isPointless = (): boolean => closing || (wished.signal.aborted && decision.by !== 'cancelled')
    for (let tries = 1; !isPointless(); tries++) {
      try {
        await withDeadline(clock, timing.answerLimitMs, undefined, () => execution.answer(requestId, decision))
        return
      } catch (error) {
        log.warn('An answer did not reach the agent.', { error, runId, tries })
        if (wished.signal.aborted) return
        if (tries === ANSWER_TRIES) {
          return end({ kind: 'failure', raw: { message: '', code: 'decision_undeliverable', phase: 'approval' } })
        }
        await clock.sleep(timing.answerRetryMs)
      }
    }
  }

  async function drive(): Promise<void> {
    const lost = aborted(lease.lost)
    const chosen = await Promise.race([
      (attached === undefined ? outcome() : takeUp(attached)).catch((error: unknown): RunEnd => {
        if (!(error instanceof AppError)) log.error('A run broke.', { error, runId })
        const code = error instanceof AppError ? error.code : 'run_failed'
        return { by: 'failure', raw: { message: '', code, phase: 'admission' } }
      }),
      lost.then(() => null),
      aborted(letGo.signal).then(() => 'let_go' as const),
    ])
    closing = true
    intake.close()
    if (chosen === null) return abandon()
    if (chosen === 'let_go') return keeper.release(lease)
    try {
      await ending.finish(ending.choose(chosen, { spec, wish, facts: intake.facts(), collector: intake.collector }))
    } catch (error) {
      log.error('The end of a run is left to recovery.', { error, runId })
      if (lease.lost.aborted) return abandon()
      await keeper.release(lease)
    }
  }

  /** The lease is gone: what the agent still does is taken away, and nothing more is written. */
  async function abandon(): Promise<void> {
    hub.ownershipLost(sessionId)
    wished.abort()
    // It is another's now, and goes on.
    if (remote) return
    const execution = await Promise.race([running, clock.sleep(0).then(() => null)])
    await execution?.kill().catch((error: unknown) => log.error('A lost run could not be ended.', { error, runId }))
  }

  const run: ActiveRun = {
    spec,
    lease,
    stream,
    state: () => state,
    closing: () => closing || wished.signal.aborted,
    running,
    moveIn,
    allowed: intake.allowed,
    looked: intake.looked,
    isRemote: () => remote,
    detach: () => letGo.abort(),
    async hand(requestId: string, decision: PermissionDecision) {
      const execution = await running
      if (execution !== null) await handOver(execution, requestId, decision)
    },
    end,
    gone: Promise.resolve(),
  }
  registry.add(run)
  const gone = drive()
    .catch((error: unknown) => log.error('A run ended badly.', { error, runId }))
    .finally(() => {
      resolveRunning(null)
      deadline[Symbol.dispose]()
      stream.close()
      decisions.forget(run)
      registry.remove(run)
      changes.tell({ kind: 'run', sessionId, runId })
      changes.tell({ kind: 'session', sessionId })
    })
  return Object.assign(run, { gone })
}
