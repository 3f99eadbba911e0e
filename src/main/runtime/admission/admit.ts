/**
 * The transaction that admits a run: lease, submission, intent, run, turn, transcript and event, or nothing of it. Of two
 * callers that race for a session, here or in another process, exactly one gets through.
 */
import { AppError } from '../../../shared/errors.ts'
import type { ErrorCode } from '../../../shared/errors.ts'
import type { PromptInput } from '../../../shared/vocabulary.ts'
import type { Tx } from '../../platform/types.ts'
import type { RuntimeContext } from '../context.ts'
import { usable } from '../inputs/inputs.ts'
import { isLease } from '../leases/keeper.ts'
import type { Lease } from '../leases/keeper.ts'
import { readTranscript } from '../sessions/history.ts'
import { titleFromPrompt } from '../sessions/titles.ts'
import type { IntentRequest } from '../store/intents.ts'
import type { Admission, ExecutionSpec, RunRow } from '../types.ts'
import type { Snapshot } from './snapshot.ts'

export interface Submission {
  sessionId: string
  /** `submit`, or `retry:<intentId>`. */
  scope: string
  keyHash: string | null
  fingerprint: string
}

/** What is to be admitted, beside its submission. */
export interface Candidate {
  submission: Submission
  snapshot: Snapshot
  /** The text that the agent gets. */
  text: string
  literal: boolean
  /** False: the transcript says nothing of it. */
  conversation: boolean
  /** What the run is admitted with, in this order, and the files of it that the agent gets. */
  inputs: { ids: readonly string[]; files: readonly PromptInput[] }
  /** A new intent, or the next attempt at one. */
  intent: { kind: 'new'; request: IntentRequest } | { kind: 'retry'; run: RunRow }
}

export type AdmitOutcome =
  | { kind: 'admitted'; spec: ExecutionSpec; lease: Lease; admission: Admission }
  | { kind: 'replayed'; admission: Admission }
  | { kind: 'busy'; code: Extract<ErrorCode, 'session_busy' | 'session_run_active'> }
  | { kind: 'orphan' }

/**
 * The run that an earlier submission with this key made, or null.
 * @throws AppError `idempotency_conflict` (`data`: `{ runId }`), `idempotency_run_missing`.
 */
export function findReplay({ tables }: Pick<RuntimeContext, 'tables'>, submission: Submission): Admission | null {
  if (submission.keyHash === null) return null
  const found = tables.intents.findSubmission(submission.sessionId, submission.keyHash)
  if (found === null) return null
  const run = found.runId === null ? null : tables.runs.get(found.runId)
  if (run === null) {
    throw new AppError('idempotency_run_missing', 'The run of this submission is gone. Nothing was started.')
  }
  if (found.fingerprint !== submission.fingerprint || found.scope !== submission.scope) {
    throw new AppError('idempotency_conflict', 'This key was used for something else already.', {
      detail: run.id,
      data: { runId: run.id },
    })
  }
  return admissionOf(run, true)
}

function admissionOf(run: RunRow, replayed: boolean): Admission {
  return { sessionId: run.sessionId, runId: run.id, intentId: run.intentId, state: run.state, replayed }
}

/** One try. @throws AppError as `findReplay`; `session_not_found`; `retry_not_latest`; what the store throws. */
export function admit(ctx: RuntimeContext, candidate: Candidate): Promise<AdmitOutcome> {
  return ctx.store.writeTx((tx) => admitIn(ctx, tx, candidate))
}

/** The same inside somebody else's transaction. The run still has to be started once that has committed. */
export function admitIn(ctx: RuntimeContext, tx: Tx, candidate: Candidate): AdmitOutcome {
  const { tables, keeper, ids, failpoints, store, changes } = ctx
  const { submission, intent } = candidate
  const { sessionId } = submission
  const replay = findReplay(ctx, submission)
  if (replay !== null) return { kind: 'replayed', admission: replay }
  const session = tables.sessions.get(sessionId)
  if (session === null) {
    throw new AppError('session_not_found', 'This session no longer exists.', { detail: sessionId })
  }
  const active = tables.runs.active(sessionId).length > 0
  const held = tables.leases.get(sessionId)
  if (held !== null && keeper.isValid(held))
    return { kind: 'busy', code: active ? 'session_run_active' : 'session_busy' }
  if (active) return { kind: 'orphan' }

  const runId = ids.next()
  const lease = keeper.take(tx, { sessionId, purpose: 'execution', runId })
  if (!isLease(lease)) return { kind: 'busy', code: 'session_busy' }
  const spec = writeAdmission(ctx, tx, candidate, runId)
  if (intent.kind === 'new' && candidate.conversation && session.title === '') {
    const { text, inputs } = candidate
    tables.sessions.setTitle(
      sessionId,
      titleFromPrompt(text.trim() === '' ? (inputs.files[0]?.filename ?? '') : text),
      'prompt',
    )
  }
  tables.sessions.touch(sessionId, ctx.clock.nowMs())
  failpoints.hit('admit.before_commit')
  store.afterCommit(tx, () => {
    failpoints.hit('admit.after_commit')
    changes.tell({ kind: 'run', sessionId, runId })
    changes.tell({ kind: 'session', sessionId })
  })
  const { intentId } = spec
  return { kind: 'admitted', spec, lease, admission: { sessionId, runId, intentId, state: 'created', replayed: false } }
}

function writeAdmission(ctx: RuntimeContext, tx: Tx, candidate: Candidate, runId: string): ExecutionSpec {
  const { tables, ids, clock, writer } = ctx
  const { submission, snapshot, text, literal, intent, inputs } = candidate
  const { sessionId, keyHash, fingerprint, scope } = submission
  const { policy } = snapshot
  const at = clock.nowMs()
  const intentId = intent.kind === 'new' ? ids.next() : intent.run.intentId
  if (intent.kind === 'new') {
    const { source, entrySource } = policy
    const { request } = intent
    tables.intents.insert({ id: intentId, sessionId, source, entrySource, fingerprint, request, policy, createdAt: at })
  }
  const attempt = tables.runs.latestAttempt(intentId) + 1
  const retryOf = intent.kind === 'retry' ? intent.run.id : null
  if (intent.kind === 'retry' && intent.run.attempt !== attempt - 1) {
    throw new AppError('retry_not_latest', 'A newer attempt exists. Retry that one.')
  }
  tables.runs.insert({ id: runId, sessionId, intentId, attempt, retryOf, policy, at })
  if (keyHash !== null) tables.intents.remember({ sessionId, scope, keyHash, fingerprint, intentId, runId, at })

  const attached = inputs.ids
    .map((id) => (intent.kind === 'new' ? usable(tables, { sessionId, id, intentId }) : tables.inputs.get(id)))
    .filter((input) => input !== null)
  const shown = attached.map(({ id, kind, filename, mediaType, bytes }) => ({
    inputId: id,
    kind,
    filename,
    mediaType,
    bytes,
  }))
  tables.inputs.use(
    runId,
    attached.map(({ id }) => id),
  )

  const turnId = candidate.conversation ? ids.next() : null
  const earlier = retryOf === null ? null : tables.transcript.promptEntry(retryOf)
  const entries =
    turnId === null
      ? []
      : tables.transcript.openTurn(
          { id: turnId, sessionId, intentId, runId },
          [
            { kind: 'turn_start', body: { runId, attempt } },
            {
              kind: 'user',
              body: {
                text,
                ...(shown.length === 0 ? {} : { inputs: shown }),
                ...(earlier === null ? {} : { retryOf: earlier }),
              },
            },
          ],
          at,
        )
  const emit = writer.emitIn(tx, sessionId)
  emit({
    runId,
    type: 'run_created',
    state: 'created',
    data: {
      intentId,
      attempt,
      retryOf,
      source: policy.source,
      entrySource: policy.entrySource,
      mode: policy.mode,
      provider: policy.connectionId,
      model: policy.modelId,
      turnId,
      prompt: text,
      ...(shown.length === 0 ? {} : { inputs: shown }),
    },
    dedupeKey: `created:${runId}`,
  })
  for (const { id } of attached) {
    // It keeps the run that attached it first.
    if (tables.inputs.attach(id, runId, at)) emit({ runId: null, type: 'input_attached', data: { inputId: id, runId } })
  }
  for (const root of snapshot.missingRoots) {
    const message = `${root} does not exist and is left out of this run.`
    emit({ runId, type: 'notice', data: { code: 'root_missing', message, level: 'warning' } })
  }
  const session = tables.sessions.get(sessionId)
  if (session === null) throw new AppError('session_not_found', 'This session no longer exists.')
  return {
    sessionId,
    runId,
    intentId,
    attempt,
    agentId: session.agentId,
    prompt: { text, inputs: inputs.files, clientMessageId: entries[1]?.id ?? runId, literal },
    policy,
    // A fork's agent was not there; once it took a prompt, it remembers by itself.
    history:
      tables.forks.facts(sessionId) === null || tables.runs.anyAccepted(sessionId)
        ? null
        : readTranscript(ctx, sessionId),
  }
}
