/**
 * The answering side: a question is settled once, by whoever is first. An answer is committed first and handed over
 * second: no answer reaches an agent that is not on disk, and each reaches it once.
 */
import { AppError } from '../../../shared/errors.ts'
import type { Actor, Answer, RunState } from '../../../shared/vocabulary.ts'
import type { Tx } from '../../platform/types.ts'
import type { RuntimeContext } from '../context.ts'
import type { Emit } from '../events/draft.ts'
import type { ActiveRun, RunRegistry } from '../execution/active.ts'
import { UNANSWERED } from '../execution/terminal.ts'
import type { Settlement } from '../store/decisions.ts'
import type { DecisionOutcome, DecisionRow } from '../types.ts'
import type { BoundRequests } from './bound.ts'
import { ruleFor, settledEvent } from './card.ts'
import { createExpiry } from './expiry.ts'
import { decisionFrom, fitted, outcomeOf } from './outcome.ts'

const MAX_RULES = 500
const POLICY: Actor = { via: 'policy', connection: null }

export interface Answering {
  /** The agent waits for the answer from now on, as long as the question lasts. */
  bind(run: ActiveRun, row: DecisionRow): void
  /** Tells the subscribers. */
  tell(row: DecisionRow): void
  /** Where a run stands with the questions that are open now. */
  stateAfter(runId: string): RunState
  /** Settles by the owner itself, and hands over what came of it. False: somebody settled it before. */
  settleHere(run: ActiveRun, row: DecisionRow, settlement: Settlement): Promise<boolean>
  /** @throws AppError `decision_not_found`. */
  find(decisionId: string): DecisionRow
  /** See `DecisionService`, as for the rest. */
  resolve(request: { decisionId: string; answer: Answer; by: Actor }, signal?: AbortSignal): Promise<DecisionOutcome>
  cancelBound(run: ActiveRun): void
  rehydrate(run: ActiveRun): void
  sync(): void
  stop(): void
}

export function createAnswering(ctx: RuntimeContext, registry: RunRegistry, bound: BoundRequests): Answering {
  const { clock, ids, log, store, tables, changes, writer, failpoints, timing } = ctx
  const expiry = createExpiry({ clock, due: expireDue })

  function bind(run: ActiveRun, row: DecisionRow): void {
    bound.await(run, row)
    if (row.expiresAt !== null) expiry.consider(row.expiresAt)
  }

  function tell(row: DecisionRow): void {
    changes.tell({ kind: 'decision', sessionId: row.sessionId, decisionId: row.id })
    changes.tell({ kind: 'session', sessionId: row.sessionId })
  }

  /** False: somebody settled it before. Rules and event go with it. */
  function settleIn(tx: Tx, emit: Emit, row: DecisionRow, settlement: Settlement): boolean {
    const at = clock.nowMs()
    if (!tables.decisions.settle(row.id, settlement, at)) return false
    const { answer } = settlement
    if (settlement.status === 'resolved' && answer !== null && 'option' in answer) {
      const projectDir = tables.sessions.get(row.sessionId)?.workDir ?? ''
      const rule = ruleFor(row, answer.option, { id: ids.next(), projectDir, createdAt: at })
      if (rule !== null && tables.rules.count(rule) < MAX_RULES) {
        tables.rules.put(rule)
        store.afterCommit(tx, () => changes.tell({ kind: 'rules' }))
      }
    }
    emit(settledEvent(row, settlement))
    store.afterCommit(tx, () => tell(row))
    return true
  }

  function stateAfter(runId: string): RunState {
    const pending = tables.decisions.pendingOfRun(runId)
    if (pending.length === 0) return 'running'
    return pending.some(({ kind }) => kind === 'approval') ? 'waiting_for_approval' : 'waiting_for_question'
  }

  function moveOn(run: ActiveRun, tx: Tx, emit: Emit): void {
    if (!run.closing()) run.moveIn(tx, emit, stateAfter(run.spec.runId), null)
  }

  async function settleHere(run: ActiveRun, row: DecisionRow, settlement: Settlement): Promise<boolean> {
    const won = await run.stream.commit((tx, emit) => {
      const settled = settleIn(tx, emit, row, settlement)
      if (settled) moveOn(run, tx, emit)
      return settled
    })
    if (won && settlement.status === 'resolved') failpoints.hit('decision.after_commit')
    if (won && settlement.status !== 'withdrawn' && bound.claim(run, row.requestId)) {
      void run.hand(row.requestId, decisionFrom({ ...row, ...settlement }))
    }
    return won
  }

  function find(decisionId: string): DecisionRow {
    const row = tables.decisions.get(decisionId)
    if (row !== null) return row
    throw new AppError('decision_not_found', 'This question no longer exists.', { detail: decisionId })
  }

  function openOf(run: ActiveRun): { requestId: string; row: DecisionRow }[] {
    return bound.allAwaited(run).flatMap(({ requestId, decisionId }) => {
      const row = tables.decisions.get(decisionId)
      return row === null ? [] : [{ requestId, row }]
    })
  }

  function expireDue(): number | null {
    const now = clock.nowMs()
    let next: number | null = null
    for (const run of registry.all()) {
      for (const { row } of openOf(run)) {
        if (row.status !== 'pending' || row.expiresAt === null) continue
        if (row.expiresAt > now) next = Math.min(next ?? row.expiresAt, row.expiresAt)
        else void expire(run, row)
      }
    }
    return next
  }

  async function expire(run: ActiveRun, row: DecisionRow): Promise<void> {
    try {
      await settleHere(run, row, { status: 'timed_out', answer: UNANSWERED, by: POLICY })
    } catch (error) {
      log.warn('An expired question could not be settled yet.', { error, decisionId: row.id })
      expiry.consider(clock.nowMs() + timing.scanMs)
    }
  }

  function sync(): void {
    for (const run of registry.all()) {
      for (const { requestId, row } of openOf(run)) {
        if (row.status === 'pending' || run.closing() || !bound.claim(run, requestId)) continue
        run.stream
          .commit((tx, emit) => moveOn(run, tx, emit))
          .catch((error: unknown) => log.warn('A run is still shown as waiting.', { error, runId: run.spec.runId }))
        tell(row)
        void run.hand(requestId, decisionFrom(row))
      }
    }
  }

  return {
    bind,
    tell,
    stateAfter,
    settleHere,
    find,
    async resolve({ decisionId, answer, by }, signal) {
      const row = find(decisionId)
      const given = fitted(row, answer)
      if (given === null) throw new AppError('decision_value_invalid', 'This question does not offer that answer.')
      if (row.status !== 'pending') return outcomeOf(row)
      const run = registry.get(row.runId)
      const state = tables.runs.get(row.runId)?.state
      if (run?.closing() === true || state === 'cancelling' || state === 'terminalizing') {
        throw new AppError('run_ending', 'The run is ending: nobody waits for this answer any more.')
      }
      signal?.throwIfAborted()
      const settlement: Settlement = { status: 'resolved', answer: given, by }
      const won =
        run === null
          ? await writer.commitSession(row.sessionId, (tx, emit) => settleIn(tx, emit, row, settlement))
          : await settleHere(run, row, settlement)
      if (won && run === null) failpoints.hit('decision.after_commit')
      return won ? { kind: 'resolved' } : outcomeOf(find(decisionId))
    },
    cancelBound(run) {
      for (const { requestId } of openOf(run)) {
        if (bound.claim(run, requestId)) void run.hand(requestId, { allow: false, by: 'cancelled', reason: null })
      }
    },
    rehydrate(run) {
      const { runId, sessionId } = run.spec
      for (const row of tables.decisions.ofRun(runId)) {
        if (row.sessionId !== sessionId) {
          throw new AppError('decision_identity_conflict', 'A question of this run belongs to another session.', {
            detail: row.id,
          })
        }
        if (row.status === 'pending') bind(run, row)
        else if (row.status === 'resolved' && row.appliedAt === null) bound.await(run, row)
        else bound.remember(run, row)
      }
      sync()
    },
    sync,
    stop: () => expiry[Symbol.dispose](),
  }
}
