import { AppError } from '../../../shared/errors.ts'
import { isTerminal } from '../../../shared/vocabulary.ts'
import type { RuntimeContext } from '../context.ts'
import { plain } from '../events/cut.ts'
import type { ActiveRun } from '../execution/active.ts'
import type { Inputs } from '../inputs/inputs.ts'
import type { Lease } from '../leases/keeper.ts'
import type { Recovery } from '../recovery/attempt.ts'
import type { Admission, ExecutionSpec, RetryRequest, RunRow, SessionRow, SubmitRequest } from '../types.ts'
import { admit, findReplay } from './admit.ts'
import type { Candidate, Submission } from './admit.ts'
import { hashKey, retryFingerprint, submissionFingerprint } from './fingerprint.ts'
import { takeSnapshot } from './snapshot.ts'
import type { SnapshotDeps } from './snapshot.ts'

const MAX_TEXT_BYTES = 256 * 1024
const MAX_ATTEMPTS = 20
const MAX_INPUTS = 20
/** Shown in the transcript like any prompt: the agent had the first one, and remembers what it did. */
export const CONTINUE_PROMPT = 'Please continue where you left off.'

export interface Admissions {
  /**
   * Admits a run and starts it; answers once it is durable, long before it ends. With a key that was used before, the
   * same run again.
   * @throws AppError `runtime_stopping`, `prompt_invalid`, `session_not_found`, `session_busy`, `session_run_active`,
   *   `worker_still_alive`, `detached_remote_execution`, `idempotency_*`, `input_unavailable`, `input_attached_elsewhere`,
   *   what the snapshot throws.
   */
  submit(request: SubmitRequest, signal?: AbortSignal): Promise<Admission>
  /**
   * A new attempt at a run that has ended. If the agent had taken the prompt, it is asked to continue.
   * @throws AppError as `submit`; `run_not_found`, `retry_not_latest`, `retry_limit`, `retry_needs_decision`.
   */
  retry(request: RetryRequest, signal?: AbortSignal): Promise<Admission>
  /** The run that `submit` or `retry` with these arguments would answer again; null: there is none. Admits nothing. */
  lookup(request: SubmitRequest | RetryRequest): Admission | null
}

export interface AdmissionDeps {
  ctx: RuntimeContext
  snapshots: SnapshotDeps
  recovery: Recovery
  inputs: Pick<Inputs, 'forPrompt'>
  isHeld: (sessionId: string) => boolean
  refuseWhenStopping: () => void
  start: (admitted: { spec: ExecutionSpec; lease: Lease }) => ActiveRun
}

export function createAdmissions(deps: AdmissionDeps): Admissions {
  const { ctx, snapshots, recovery, inputs: attachments, isHeld, refuseWhenStopping, start } = deps
  const { clock, tables, timing } = ctx

  function submissionOf(request: SubmitRequest): Submission {
    const { sessionId, inputs = [], requestedMode = null, failover, conversation } = request
    const fingerprint = submissionFingerprint({
      text: plain(request.text),
      inputIds: inputs,
      requestedMode,
      ...(failover === undefined ? {} : { failover }),
      ...(conversation === undefined ? {} : { conversation }),
    })
    return { sessionId, scope: 'submit', keyHash: hashKey(request.key), fingerprint }
  }

  function retryOf(request: RetryRequest): { run: RunRow; submission: Submission } {
    const run = tables.runs.get(request.runId)
    if (run === null) throw new AppError('run_not_found', 'This run no longer exists.', { detail: request.runId })
    const { sessionId, intentId } = run
    const fingerprint = retryFingerprint(run.id)
    return { run, submission: { sessionId, scope: `retry:${intentId}`, keyHash: hashKey(request.key), fingerprint } }
  }

  function sessionOf(sessionId: string): SessionRow {
    const session = tables.sessions.get(sessionId)
    if (session === null) {
      throw new AppError('session_not_found', 'This session no longer exists.', { detail: sessionId })
    }
    refuseHeld(sessionId)
    return session
  }

  function refuseHeld(sessionId: string): void {
    if (!isHeld(sessionId)) return
    throw new AppError('worker_still_alive', "The session's last agent has not ended yet. Settle that first.")
  }

  /** Tries until the session is free, if the caller wants to wait for it. */
  async function admitAndStart(candidate: Candidate, wait: boolean, signal?: AbortSignal): Promise<Admission> {
    const { sessionId } = candidate.submission
    const deadlineMs = clock.monotonicMs() + (wait ? timing.admissionWaitMs : 0)
    for (;;) {
      refuseWhenStopping()
      signal?.throwIfAborted()
      refuseHeld(sessionId)
      const outcome = await admit(ctx, candidate)
      switch (outcome.kind) {
        case 'admitted':
          start(outcome)
          return outcome.admission
        case 'replayed':
          return outcome.admission
        case 'orphan':
          if ((await reconcile(sessionId)) === 'again') continue
          break
        case 'busy':
          if (clock.monotonicMs() >= deadlineMs) throw busy(outcome.code)
      }
      if (clock.monotonicMs() >= deadlineMs) throw busy('session_busy')
      await clock.sleep(timing.admissionPollMs, signal)
    }
  }

  async function reconcile(sessionId: string): Promise<'again' | 'busy'> {
    const outcome = await recovery.recover(sessionId, 'admission')
    if (outcome === 'kept') {
      throw new AppError('detached_remote_execution', "This session's run goes on elsewhere.", { detail: sessionId })
    }
    return outcome === 'skipped' ? 'busy' : 'again'
  }

  return {
    async submit(request, signal) {
      refuseWhenStopping()
      const {
        inputs = [],
        requestedMode = null,
        source,
        wait = false,
        literal = false,
        failover,
        conversation,
      } = request
      const text = plain(request.text)
      if ((text.trim() === '' && inputs.length === 0) || Buffer.byteLength(text) > MAX_TEXT_BYTES) {
        throw new AppError('prompt_invalid', 'A prompt needs some text, of at most 256 KiB.')
      }
      if (inputs.length > MAX_INPUTS || new Set(inputs).size < inputs.length) {
        throw new AppError('prompt_invalid', 'A prompt has at most 20 attachments, each of them once.')
      }
      const submission = submissionOf(request)
      const replay = findReplay(ctx, submission)
      if (replay !== null) return replay
      const session = sessionOf(request.sessionId)
      const { id: sessionId, workDir } = session
      const files = await attachments.forPrompt({ sessionId, workDir, ids: inputs, intentId: null })
      const snapshot = await takeSnapshot(snapshots, session, { source, requestedMode, failover }, signal)
      const intent = {
        kind: 'new' as const,
        request: {
          text,
          inputIds: [...inputs],
          requestedMode,
          literal,
          ...(failover === undefined ? {} : { failover }),
          ...(conversation === undefined ? {} : { conversation }),
        },
      }
      const candidate = {
        submission,
        snapshot,
        text,
        literal,
        intent,
        inputs: { ids: inputs, files },
        conversation: conversation !== false,
      }
      return admitAndStart(candidate, wait, signal)
    },
    async retry(request, signal) {
      refuseWhenStopping()
      const { run, submission } = retryOf(request)
      const replay = findReplay(ctx, submission)
      if (replay !== null) return replay
      const session = sessionOf(run.sessionId)
      if (!isTerminal(run.state)) throw busy('session_run_active')
      if (tables.runs.latestAttempt(run.intentId) !== run.attempt) {
        throw new AppError('retry_not_latest', 'A newer attempt exists. Retry that one.')
      }
      if (run.attempt >= MAX_ATTEMPTS) throw new AppError('retry_limit', 'This was tried 20 times. Ask anew.')
      if (run.error?.retryMode === 'decision_required' && request.acknowledgeSideEffects !== true) {
        throw new AppError(
          'retry_needs_decision',
          'The last attempt may have changed something. Say that it may go on.',
        )
      }
      const earlier = tables.intents.get(run.intentId)
      if (earlier === null) throw new AppError('run_not_found', 'What was asked is gone.', { detail: run.intentId })
      const { source } = request
      const { requestedMode, literal, inputIds, failover } = earlier.request
      const snapshot = await takeSnapshot(snapshots, session, { source, requestedMode, failover }, signal)
      const text = run.accepted ? CONTINUE_PROMPT : earlier.request.text
      // An agent that took the prompt has its files too.
      const wanted = run.accepted ? [] : inputIds
      const { id: sessionId, workDir } = session
      const files = await attachments.forPrompt({ sessionId, workDir, ids: wanted, intentId: run.intentId })
      const intent = { kind: 'retry' as const, run }
      const inputs = { ids: inputIds, files }
      const conversation = earlier.request.conversation !== false
      return admitAndStart({ submission, snapshot, text, literal, intent, inputs, conversation }, false, signal)
    },
    lookup: (request) => findReplay(ctx, 'runId' in request ? retryOf(request).submission : submissionOf(request)),
  }
}

function busy(code: 'session_busy' | 'session_run_active'): AppError {
  return code === 'session_run_active'
    ? new AppError(code, 'This session has a run under way. Wait for it, or stop it.')
    : new AppError(code, 'This session is in use. Try again in a moment.')
}
