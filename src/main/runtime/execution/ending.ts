/** How a run ends: the end is chosen once, kept while its last work is done, and written until it is durable. */
import { AppError, assertNever } from '../../../shared/errors.ts'
import type { TerminalState } from '../../../shared/vocabulary.ts'
import { withDeadline } from '../../platform/index.ts'
import type { RuntimeContext } from '../context.ts'
import type { RunStream } from '../events/writer.ts'
import type { Lease } from '../leases/keeper.ts'
import type { PreparedEnd, RunFacts } from '../store/runs.ts'
import type { ExecutionSpec, RawFailure } from '../types.ts'
import type { Wish } from './active.ts'
import { toErrorInfo } from './classify.ts'
import type { Collector } from './collector.ts'
import { worse } from './facts.ts'
import type { RunEnd } from './launch.ts'
import { predecessors } from './machine.ts'
import { persist } from './persist.ts'
import { writeTerminal } from './terminal.ts'

export interface Ending {
  choose(
    end: RunEnd,
    run: { spec: ExecutionSpec; wish: Wish | null; facts: RunFacts; collector: Collector },
  ): PreparedEnd
  /**
   * Writes the end and releases the lease with it. Asked again for the same state it is a success.
   * @throws AppError `run_terminal_conflict`, `lease_lost`, `persistence_failed`, `database_corrupt`.
   */
  finish(end: PreparedEnd): Promise<void>
  /** Writes with the patience of an end. */
  persist(write: () => Promise<void>): Promise<void>
}

export interface EndingDeps {
  ctx: RuntimeContext
  stream: RunStream
  lease: Lease
  runId: string
  sessionId: string
}

export function createEnding({ ctx, stream, lease, runId, sessionId }: EndingDeps): Ending {
  const { clock, log, store, tables, keeper, changes, failpoints, timing, endWork, secrets, capabilityOf } = ctx
  let finishing: { state: TerminalState; done: Promise<void> } | null = null

  const write = (step: () => Promise<void>): Promise<void> =>
    persist(step, {
      clock,
      log,
      signal: lease.lost,
      pendingMs: timing.persistPendingMs,
      onPending: (error) => log.error('The end of a run is not durable yet.', { error, code: error.code, runId }),
    })

  /** A crash between the end and its last row must not turn a finished run into a failed one. */
  async function prepare(end: PreparedEnd): Promise<void> {
    await write(() =>
      stream.commit((tx, emit) => {
        if (!tables.runs.prepare(runId, end, predecessors('terminalizing'), clock.nowMs())) return
        emit({ runId, type: 'run_state', state: 'terminalizing', data: { reason: null } })
        failpoints.hit('prepare.before_commit')
        store.afterCommit(tx, () => failpoints.hit('prepare.after_commit'))
      }),
    )
  }

  function writeEnd(end: PreparedEnd): Promise<void> {
    return write(() =>
      stream.commit((tx, emit) => {
        const settled = writeTerminal(tables, emit, {
          runId,
          sessionId,
          end,
          from: [...predecessors('terminalizing'), 'terminalizing'],
          event: 'run_finished',
          by: { via: 'policy', connection: null },
          at: clock.nowMs(),
          capabilityOf,
          failpoint: (name) => failpoints.hit(name),
        })
        store.afterCommit(tx, () => {
          failpoints.hit('terminal.after_commit')
          for (const decisionId of settled) changes.tell({ kind: 'decision', sessionId, decisionId })
        })
        keeper.releaseIn(tx, lease)
        failpoints.hit('terminal.before_commit')
      }),
    )
  }

  async function run(end: PreparedEnd): Promise<void> {
    if (endWork?.pending(runId) === true) {
      await prepare(end)
      await withDeadline(clock, timing.endWorkMs, lease.lost, (signal) =>
        endWork.settle({ sessionId, runId, workerRef: null }, signal),
      ).catch((error: unknown) => log.warn("A run's last work did not succeed.", { error, runId }))
    }
    await writeEnd(end)
  }

  return {
    persist: write,
    choose(end, { spec, wish, facts, collector }) {
      const whole = end.by === 'executor' ? end.end.assistant?.text : undefined
      const { state, stopReason, raw } = nameOf(end, wish)
      const known = end.by === 'wish' && end.killed === true ? worse(facts.sideEffects, 'unknown') : facts.sideEffects
      const scene = {
        sideEffects: known,
        partialOutput: facts.partialOutput,
        runId,
        intentId: spec.intentId,
        attempt: spec.attempt,
        phase: 'model' as const,
        redact: (text: string) => secrets.redact(text),
      }
      return {
        state,
        stopReason,
        error: raw === null ? null : toErrorInfo(raw, scene),
        assistant: collector.answer(whole),
        tools: collector.tools(),
        sideEffects: known,
        partialOutput: facts.partialOutput,
      }
    },
    async finish(end) {
      if (finishing !== null && finishing.state !== end.state) {
        throw new AppError('run_terminal_conflict', 'This run has ended in another way already.', {
          detail: `${finishing.state}, not ${end.state}`,
        })
      }
      finishing ??= { state: end.state, done: run(end) }
      await finishing.done
    },
  }
}

interface NamedEnd {
  state: TerminalState
  stopReason: string | null
  raw: RawFailure | null
}

const named = (state: TerminalState, code: string, stopReason: string | null = null): NamedEnd => ({
  state,
  stopReason,
  raw: { message: '', code },
})

/** The executor's own report wins over a wish, but not over a failure of ours. */
function nameOf(end: RunEnd, wish: Wish | null): NamedEnd {
  if (wish?.kind === 'failure') return { state: 'failed', stopReason: null, raw: wish.raw }
  if (end.by === 'failure') return { state: 'failed', stopReason: null, raw: end.raw }
  if (end.by === 'wish') return ofWish(wish)
  const { outcome, stopReason = null, error } = end.end
  switch (outcome) {
    case 'completed':
      if (stopReason === 'refusal') return named('failed', 'content_rejected', stopReason)
      return { state: 'completed', stopReason, raw: null }
    case 'incomplete':
      return named('incomplete', 'run_incomplete', stopReason)
    case 'cancelled':
      return { ...ofWish(wish), stopReason }
    case 'failed':
      if (error === undefined && stopReason === 'refusal') return named('failed', 'content_rejected', stopReason)
      return { state: 'failed', stopReason, raw: error ?? { message: '' } }
    default:
      return assertNever(outcome)
  }
}

function ofWish(wish: Wish | null): NamedEnd {
  return wish?.kind === 'deadline' ? named('timed_out', 'run_timed_out') : named('cancelled', 'run_cancelled')
}
