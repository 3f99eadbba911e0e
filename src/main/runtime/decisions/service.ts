/**
 * The permissions that agents ask for. Policy judges each once; what it does not settle waits for a person, for anybody
 * else's withdrawal, or for its end. An answer is committed first and handed over second: no answer reaches an agent that
 * is not on disk, and each reaches it once.
 */
import { join } from 'node:path'
import { AppError, assertNever } from '../../../shared/errors.ts'
import type { Actor, Answer, RunState } from '../../../shared/vocabulary.ts'
import type { Tx } from '../../platform/types.ts'
import type { RuntimeContext } from '../context.ts'
import type { Emit } from '../events/draft.ts'
import type { ActiveRun, RunRegistry } from '../execution/active.ts'
import { persist } from '../execution/persist.ts'
import { UNANSWERED } from '../execution/terminal.ts'
import { evaluate, followLinks } from '../policy/index.ts'
import type { Settlement } from '../store/decisions.ts'
import type { DecisionOutcome, DecisionQuery, DecisionRow, PermissionDecision, PermissionRequest } from '../types.ts'
import { actionText, makeCard, requestedEvent, ruleFor } from './card.ts'
import type { Card } from './card.ts'
import { createExpiry } from './expiry.ts'

const MAX_PENDING = 32
const MAX_RULES = 500
const PREVIEW_CHARS = 32 * 1024
const POLICY: Actor = { via: 'policy', connection: null }

export interface DecisionService {
  /** An agent asks. Never rejects. */
  requested(run: ActiveRun, request: PermissionRequest): Promise<void>
  /** The agent took its question back. Never rejects. */
  withdrawn(run: ActiveRun, requestId: string): Promise<void>
  idOf(run: ActiveRun, requestId: string): string | null
  /** The run is being stopped: nobody will answer what it still asks. Its rows are settled with its end. */
  cancelBound(run: ActiveRun): void
  forget(run: ActiveRun): void
  /**
   * Takes up the questions of a run that was executed before this process had it: what is open waits on, what was answered
   * meanwhile is handed over. Twice is the same as once. @throws AppError `decision_identity_conflict`.
   */
  rehydrate(run: ActiveRun): void
  /** Hands over what was answered by another process. */
  sync(): void
  /** Whether an agent of this process waits for an answer. */
  waiting(): boolean
  /**
   * A person's answer. Of two, the first counts, and the other learns who was faster.
   * @throws AppError `decision_not_found`, `decision_value_invalid`, `run_ending`; what the store throws: it is still open then.
   */
  resolve(request: { decisionId: string; answer: Answer; by: Actor }, signal?: AbortSignal): Promise<DecisionOutcome>
  pending(sessionId: string | null): DecisionRow[]
  /** Newest first, of one session or of all. */
  history(query: DecisionQuery): DecisionRow[]
  get(decisionId: string): DecisionRow | null
  /** What was open at an instant (wall clock). */
  replayAt(sessionId: string, atMs: number): DecisionRow[]
  /** A page of the whole action. `offset` and `next` in UTF-16 units. @throws AppError `decision_not_found`, `file_failed`. */
  preview(decisionId: string, offset: number): Promise<{ text: string; bytes: number; next: number | null }>
  stop(): void
}

export function createDecisionService(ctx: RuntimeContext, registry: RunRegistry): DecisionService {
  const { clock, ids, log, store, files, paths, tables, changes, writer, failpoints, timing } = ctx
  /** Requests of running agents that have not got their answer, by run: request id to decision id. */
  const open = new Map<string, Map<string, string>>()
  /** Every request that became a row, for the word that its answer arrived. */
  const known = new Map<string, Map<string, string>>()
  /** Requests whose row is being written: what follows them waits for it. */
  const asking = new Map<string, Promise<void>>()
  const expiry = createExpiry({ clock, due: expireDue })

  function bind(run: ActiveRun, row: DecisionRow): void {
    remember(open, run, row)
    remember(known, run, row)
    if (row.expiresAt !== null) expiry.consider(row.expiresAt)
  }

  function remember(map: typeof open, run: ActiveRun, row: DecisionRow): void {
    const own = map.get(run.spec.runId) ?? new Map<string, string>()
    map.set(run.spec.runId, own.set(row.requestId, row.id))
  }

  /** True for the one caller that may hand over the answer. */
  function claim(run: ActiveRun, requestId: string): boolean {
    return open.get(run.spec.runId)?.delete(requestId) === true
  }

  function requested(run: ActiveRun, request: PermissionRequest): Promise<void> {
    const key = `${run.spec.runId} ${request.requestId}`
    const asked = put(run, request).finally(() => asking.delete(key))
    asking.set(key, asked)
    return asked
  }

  async function put(run: ActiveRun, request: PermissionRequest): Promise<void> {
    try {
      if ((await run.running) === null) return
      await judge(run, request)
    } catch (error) {
      if (run.lease.lost.aborted || run.closing()) return
      log.error('A permission could not be put to anybody.', { error, runId: run.spec.runId })
      await run.hand(request.requestId, {
        allow: false,
        by: 'policy',
        reason: 'Wheelhouse could not save the question.',
      })
    }
  }

  async function judge(run: ActiveRun, request: PermissionRequest): Promise<void> {
    const { spec } = run
    const { requestId } = request
    const earlier = tables.decisions.byRequest(spec.runId, requestId)
    if (earlier !== null) {
      if (earlier.status !== 'pending') await run.hand(requestId, decisionFrom(earlier))
      return
    }
    const rules = tables.rules.for(spec.sessionId, spec.policy.roots[0] ?? '')
    const verdict = evaluate(
      spec.policy,
      {
        kind: request.kind,
        toolName: request.tool,
        action: request.action,
        complete: request.complete,
        locations: request.locations,
      },
      { dataDir: paths.dataDir, rules, follow: followLinks },
    )
    const looks = request.kind === 'read' || request.kind === 'search' || request.kind === 'think'
    if (verdict.effect === 'allow' && looks) {
      run.allowed(request.toolCallId, { reason: verdict.reason, ruleId: verdict.ruleId ?? null })
      return run.hand(requestId, { allow: true, by: 'policy', reason: null })
    }
    const card = makeCard(request, verdict, {
      id: ids.next(),
      sessionId: spec.sessionId,
      runId: spec.runId,
      createdAt: clock.nowMs(),
      ttlMs: spec.policy.decisionTtlMs,
    })
    if (verdict.effect === 'ask') return ask(run, card)
    const allow = verdict.effect === 'allow'
    if (allow) run.allowed(request.toolCallId, { reason: verdict.reason, ruleId: verdict.ruleId ?? null })
    await recordVerdict(run, card, allow)
    await run.hand(requestId, { allow, by: 'policy', reason: allow ? null : verdict.reason })
  }

  const write = (run: ActiveRun, step: () => Promise<void>): Promise<void> =>
    persist(step, {
      clock,
      log,
      signal: run.lease.lost,
      pendingMs: timing.persistPendingMs,
      onPending: (error) => log.error('A question of an agent is not durable yet.', { error, runId: run.spec.runId }),
    })

  /** On record, asked and answered in one. */
  async function recordVerdict(run: ActiveRun, card: Card, allow: boolean): Promise<void> {
    await keepWhole(card)
    const answer: Answer = { option: allow ? 'allow_once' : 'reject_once' }
    const { row } = card
    await write(run, () =>
      run.stream.commit((tx, emit) => {
        tables.decisions.insert({ ...row, status: 'resolved', answer, by: POLICY, settledAt: row.createdAt })
        emit(requestedEvent(row))
        emitSettled(emit, row, { status: 'resolved', answer, by: POLICY })
        store.afterCommit(tx, () => {
          remember(known, run, row)
          tell(row)
        })
      }),
    )
  }

  async function ask(run: ActiveRun, card: Card): Promise<void> {
    await keepWhole(card)
    const { row } = card
    let refused: string | null = null
    await write(run, () =>
      run.stream.commit((tx, emit) => {
        refused = refusalOf(run)
        if (refused !== null) return
        tables.decisions.insert(row)
        emit(requestedEvent(row))
        run.moveIn(tx, emit, 'waiting_for_approval', null)
        store.afterCommit(tx, () => {
          bind(run, row)
          tell(row)
        })
      }),
    )
    if (refused !== null) await run.hand(row.requestId, { allow: false, by: 'policy', reason: refused })
  }

  function refusalOf(run: ActiveRun): string | null {
    const state = tables.runs.get(run.spec.runId)?.state
    const live = state === 'running' || state === 'waiting_for_approval' || state === 'waiting_for_question'
    if (!live || run.closing()) return 'run_ending'
    return tables.decisions.pendingOfRun(run.spec.runId).length >= MAX_PENDING ? 'too_many_decisions' : null
  }

  async function keepWhole({ whole }: Card): Promise<void> {
    if (whole !== null) await files.write(join(paths.blobs, whole.sha256), whole.text)
  }

  function tell(row: DecisionRow): void {
    changes.tell({ kind: 'decision', sessionId: row.sessionId, decisionId: row.id })
    changes.tell({ kind: 'session', sessionId: row.sessionId })
  }

  function emitSettled(emit: Emit, row: DecisionRow, { status, answer, by }: Settlement): void {
    emit({
      runId: row.runId,
      type: 'decision_resolved',
      data: { decisionId: row.id, status, answer, by },
      dedupeKey: `settled:${row.id}`,
    })
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
    emitSettled(emit, row, settlement)
    store.afterCommit(tx, () => tell(row))
    return true
  }

  /** Where a run stands once one of its questions is settled. */
  function stateAfter(runId: string): RunState {
    const pending = tables.decisions.pendingOfRun(runId)
    if (pending.length === 0) return 'running'
    return pending.some(({ kind }) => kind === 'approval') ? 'waiting_for_approval' : 'waiting_for_question'
  }

  function moveOn(run: ActiveRun, tx: Tx, emit: Emit): void {
    if (!run.closing()) run.moveIn(tx, emit, stateAfter(run.spec.runId), null)
  }

  /** Settles by the owner itself, and hands over what came of it. */
  async function settleHere(run: ActiveRun, row: DecisionRow, settlement: Settlement): Promise<boolean> {
    const won = await run.stream.commit((tx, emit) => {
      const settled = settleIn(tx, emit, row, settlement)
      if (settled) moveOn(run, tx, emit)
      return settled
    })
    if (won && settlement.status === 'resolved') failpoints.hit('decision.after_commit')
    if (won && settlement.status !== 'withdrawn' && claim(run, row.requestId)) {
      void run.hand(row.requestId, decisionFrom({ ...row, ...settlement }))
    }
    return won
  }

  async function resolve(
    { decisionId, answer, by }: { decisionId: string; answer: Answer; by: Actor },
    signal?: AbortSignal,
  ): Promise<DecisionOutcome> {
    const row = find(decisionId)
    const fits = 'option' in answer ? row.options.includes(answer.option) : row.kind === 'question'
    if (!fits) throw new AppError('decision_value_invalid', 'This question does not offer that answer.')
    if (row.status !== 'pending') return outcomeOf(row)
    const run = registry.get(row.runId)
    const state = tables.runs.get(row.runId)?.state
    if (run?.closing() === true || state === 'cancelling' || state === 'terminalizing') {
      throw new AppError('run_ending', 'The run is ending: nobody waits for this answer any more.')
    }
    signal?.throwIfAborted()
    const settlement: Settlement = { status: 'resolved', answer, by }
    const won =
      run === null
        ? await writer.commitSession(row.sessionId, (tx, emit) => settleIn(tx, emit, row, settlement))
        : await settleHere(run, row, settlement)
    if (won && run === null) failpoints.hit('decision.after_commit')
    return won ? { kind: 'resolved' } : outcomeOf(find(decisionId))
  }

  function find(decisionId: string): DecisionRow {
    const row = tables.decisions.get(decisionId)
    if (row === null)
      throw new AppError('decision_not_found', 'This question no longer exists.', { detail: decisionId })
    return row
  }

  function openOf(run: ActiveRun): { requestId: string; row: DecisionRow }[] {
    return [...(open.get(run.spec.runId) ?? [])].flatMap(([requestId, id]) => {
      const row = tables.decisions.get(id)
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

  function rehydrate(run: ActiveRun): void {
    const { runId, sessionId } = run.spec
    for (const row of tables.decisions.ofRun(runId)) {
      if (row.sessionId !== sessionId) {
        throw new AppError('decision_identity_conflict', 'A question of this run belongs to another session.', {
          detail: row.id,
        })
      }
      remember(known, run, row)
      if (row.status === 'pending') bind(run, row)
      else if (row.status === 'resolved' && row.appliedAt === null) remember(open, run, row)
    }
    sync()
  }

  function sync(): void {
    for (const run of registry.all()) {
      for (const { requestId, row } of openOf(run)) {
        if (row.status === 'pending' || run.closing() || !claim(run, requestId)) continue
        run.stream
          .commit((tx, emit) => moveOn(run, tx, emit))
          .catch((error: unknown) => log.warn('A run is still shown as waiting.', { error, runId: run.spec.runId }))
        tell(row)
        void run.hand(requestId, decisionFrom(row))
      }
    }
  }

  async function expire(run: ActiveRun, row: DecisionRow): Promise<void> {
    try {
      await settleHere(run, row, { status: 'timed_out', answer: UNANSWERED, by: POLICY })
    } catch (error) {
      log.warn('An expired question could not be settled yet.', { error, decisionId: row.id })
      expiry.consider(clock.nowMs() + timing.scanMs)
    }
  }

  return {
    requested,
    async withdrawn(run, requestId) {
      await asking.get(`${run.spec.runId} ${requestId}`)
      const id = open.get(run.spec.runId)?.get(requestId)
      const row = id === undefined ? null : tables.decisions.get(id)
      if (row === null || !claim(run, requestId)) return
      const by: Actor = { via: 'agent', connection: null }
      try {
        await write(run, async () => void (await settleHere(run, row, { status: 'withdrawn', answer: null, by })))
      } catch (error) {
        log.warn('A withdrawn question is left to the end of its run.', { error, decisionId: row.id })
      }
    },
    idOf: (run, requestId) => known.get(run.spec.runId)?.get(requestId) ?? null,
    cancelBound(run) {
      for (const { requestId } of openOf(run)) {
        if (claim(run, requestId)) void run.hand(requestId, { allow: false, by: 'cancelled', reason: null })
      }
    },
    forget(run) {
      open.delete(run.spec.runId)
      known.delete(run.spec.runId)
    },
    rehydrate,
    sync,
    waiting: () => [...open.values()].some((requests) => requests.size > 0),
    resolve,
    pending: (sessionId) => tables.decisions.pending(sessionId),
    history: tables.decisions.list,
    get: (decisionId) => tables.decisions.get(decisionId),
    replayAt: (sessionId, atMs) => tables.decisions.openAt(sessionId, atMs),
    async preview(decisionId, offset) {
      const row = find(decisionId)
      const bytes =
        row.blob === null ? null : await files.read(join(paths.blobs, row.blob), { maxBytes: 64 * 1024 * 1024 })
      const whole = bytes === null ? actionText(row.action) : Buffer.from(bytes).toString('utf8')
      const text = whole.slice(offset, offset + PREVIEW_CHARS)
      const end = offset + text.length
      return { text, bytes: Buffer.byteLength(whole), next: end < whole.length ? end : null }
    },
    stop: () => expiry[Symbol.dispose](),
  }
}

function outcomeOf(row: DecisionRow): DecisionOutcome {
  const atMs = row.settledAt ?? 0
  if (row.status === 'resolved' && row.answer !== null && row.by !== null) {
    return { kind: 'already_resolved', answer: row.answer, by: row.by, atMs }
  }
  return {
    kind: 'closed',
    status: row.status === 'timed_out' || row.status === 'withdrawn' ? row.status : 'cancelled',
    atMs,
  }
}

/** A settled row as the agent is told it. */
function decisionFrom(row: Pick<DecisionRow, 'status' | 'answer' | 'by'>): PermissionDecision {
  const { status, answer, by } = row
  const option = answer !== null && 'option' in answer ? answer.option : null
  const reason = answer !== null && 'option' in answer ? (answer.reason ?? null) : null
  switch (status) {
    case 'timed_out':
      return { allow: false, by: 'expired', reason: 'Nobody answered in time.' }
    case 'withdrawn':
      return { allow: false, by: 'withdrawn', reason: null }
    case 'cancelled':
    case 'pending':
      return { allow: false, by: 'cancelled', reason: null }
    case 'resolved': {
      const allow = option === 'allow_once' || option === 'allow_session' || option === 'allow_project'
      return { allow, by: by?.via === 'policy' ? 'policy' : 'person', reason }
    }
    default:
      return assertNever(status)
  }
}
