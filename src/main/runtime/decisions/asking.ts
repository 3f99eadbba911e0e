/** The asking side: each request is judged by policy once, and becomes a card where a person has to say. */
import { join } from 'node:path'
import type { Actor, Answer } from '../../../shared/vocabulary.ts'
import type { RuntimeContext } from '../context.ts'
import type { ActiveRun } from '../execution/active.ts'
import { persist } from '../execution/persist.ts'
import { evaluate, onDisk } from '../policy/index.ts'
import type { DecisionRow, PermissionRequest, QuestionRequest } from '../types.ts'
import type { Answering } from './answering.ts'
import type { BoundRequests } from './bound.ts'
import { makeCard, makeQuestion, requestedEvent, settledEvent } from './card.ts'
import type { Card, CardFacts } from './card.ts'
import { decisionFrom } from './outcome.ts'

const MAX_PENDING = 32
const POLICY: Actor = { via: 'policy', connection: null }

export interface Asking {
  /** An agent asks. Never rejects. */
  requested(run: ActiveRun, request: PermissionRequest): Promise<void>
  /** An agent asks in words: no policy judges that. Never rejects. */
  asked(run: ActiveRun, request: QuestionRequest): Promise<void>
  /** The agent took its question back. Never rejects. */
  withdrawn(run: ActiveRun, requestId: string): Promise<void>
}

export function createAsking(ctx: RuntimeContext, bound: BoundRequests, answering: Answering): Asking {
  const { clock, ids, log, store, files, paths, tables, timing } = ctx
  /** Requests whose row is being written: what follows them waits for it. */
  const asking = new Map<string, Promise<void>>()

  /** What follows a request waits until it was put. */
  function put(run: ActiveRun, requestId: string, how: () => Promise<void>): Promise<void> {
    const key = `${run.spec.runId} ${requestId}`
    const asked = guarded(run, requestId, how).finally(() => asking.delete(key))
    asking.set(key, asked)
    return asked
  }

  async function guarded(run: ActiveRun, requestId: string, how: () => Promise<void>): Promise<void> {
    try {
      if ((await run.running) === null) return
      await how()
    } catch (error) {
      if (run.lease.lost.aborted || run.closing()) return
      log.error('A permission could not be put to anybody.', { error, runId: run.spec.runId })
      await run.hand(requestId, {
        allow: false,
        by: 'policy',
        reason: 'Wheelhouse could not save the question.',
      })
    }
  }

  /** A repeated request of a worker finds its row. */
  async function isKnown(run: ActiveRun, requestId: string): Promise<boolean> {
    const earlier = tables.decisions.byRequest(run.spec.runId, requestId)
    if (earlier === null) return false
    if (earlier.status !== 'pending') await run.hand(requestId, decisionFrom(earlier))
    return true
  }

  const factsOf = ({ spec }: ActiveRun): CardFacts => ({
    id: ids.next(),
    sessionId: spec.sessionId,
    runId: spec.runId,
    createdAt: clock.nowMs(),
    ttlMs: spec.policy.decisionTtlMs,
  })

  async function judge(run: ActiveRun, request: PermissionRequest): Promise<void> {
    const { spec } = run
    const { requestId } = request
    if (await isKnown(run, requestId)) return
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
      { dataDir: paths.dataDir, rules, ...onDisk },
    )
    const looks = request.kind === 'read' || request.kind === 'search' || request.kind === 'think'
    if (verdict.effect === 'allow' && looks) {
      run.allowed(request.toolCallId, { reason: verdict.reason, ruleId: verdict.ruleId ?? null })
      return run.hand(requestId, { allow: true, by: 'policy', reason: null })
    }
    const card = makeCard(request, verdict, factsOf(run))
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
        emit(requestedEvent(row), settledEvent(row, { status: 'resolved', answer, by: POLICY }))
        store.afterCommit(tx, () => {
          bound.remember(run, row)
          answering.tell(row)
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
        run.moveIn(tx, emit, answering.stateAfter(run.spec.runId), null)
        store.afterCommit(tx, () => {
          answering.bind(run, row)
          answering.tell(row)
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

  async function takeBack(run: ActiveRun, row: DecisionRow): Promise<void> {
    const by: Actor = { via: 'agent', connection: null }
    try {
      await write(run, async () => {
        await answering.settleHere(run, row, { status: 'withdrawn', answer: null, by })
      })
    } catch (error) {
      log.warn('A withdrawn question is left to the end of its run.', { error, decisionId: row.id })
    }
  }

  return {
    requested: (run, request) => put(run, request.requestId, () => judge(run, request)),
    asked: (run, request) =>
      put(run, request.requestId, async () => {
        if (!(await isKnown(run, request.requestId))) await ask(run, makeQuestion(request, factsOf(run)))
      }),
    async withdrawn(run, requestId) {
      await asking.get(`${run.spec.runId} ${requestId}`)
      const id = bound.awaited(run, requestId)
      const row = id === null ? null : tables.decisions.get(id)
      if (row !== null && bound.claim(run, requestId)) await takeBack(run, row)
    },
  }
}
