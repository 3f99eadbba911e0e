/**
 * The permissions that agents ask for. Policy judges each once; what it does not settle waits for a person, for anybody
 * else's withdrawal, or for its end.
 */
import { join } from 'node:path'
import type { Actor, Answer } from '../../../shared/vocabulary.ts'
import type { RuntimeContext } from '../context.ts'
import type { ActiveRun, RunRegistry } from '../execution/active.ts'
import type { DecisionOutcome, DecisionQuery, DecisionRow } from '../types.ts'
import { createAnswering } from './answering.ts'
import { createAsking } from './asking.ts'
import type { Asking } from './asking.ts'
import { createBoundRequests } from './bound.ts'
import { actionText } from './card.ts'

const PREVIEW_CHARS = 32 * 1024
const PREVIEW_BYTES = 64 * 1024 * 1024

export interface DecisionService extends Asking {
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
  const { files, paths, tables } = ctx
  const bound = createBoundRequests()
  const answering = createAnswering(ctx, registry, bound)
  const asking = createAsking(ctx, bound, answering)

  return {
    ...asking,
    idOf: bound.idOf,
    forget: bound.forget,
    waiting: bound.any,
    cancelBound: answering.cancelBound,
    rehydrate: answering.rehydrate,
    sync: answering.sync,
    resolve: answering.resolve,
    pending: (sessionId) => tables.decisions.pending(sessionId),
    history: tables.decisions.list,
    get: (decisionId) => tables.decisions.get(decisionId),
    replayAt: (sessionId, atMs) => tables.decisions.openAt(sessionId, atMs),
    async preview(decisionId, offset) {
      const { blob, action } = answering.find(decisionId)
      const bytes = blob === null ? null : await files.read(join(paths.blobs, blob), { maxBytes: PREVIEW_BYTES })
      const whole = bytes === null ? actionText(action) : Buffer.from(bytes).toString('utf8')
      const text = whole.slice(offset, offset + PREVIEW_CHARS)
      const end = offset + text.length
      return { text, bytes: Buffer.byteLength(whole), next: end < whole.length ? end : null }
    },
    stop: answering.stop,
  }
}
