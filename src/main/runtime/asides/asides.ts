/**
 * Questions beside a conversation. An aside has an agent of its own that reads and changes nothing, and leaves no row and no
 * event: what it says goes to whoever asked, and to nobody else.
 */
import { AppError } from '../../../shared/errors.ts'
import { takeSnapshot } from '../admission/snapshot.ts'
import type { SnapshotDeps } from '../admission/snapshot.ts'
import type { RuntimeContext } from '../context.ts'
import { plain } from '../events/cut.ts'
import { toErrorInfo } from '../execution/classify.ts'
import { createCollector } from '../execution/collector.ts'
import { NO_FACTS } from '../execution/facts.ts'
import { toRawFailure } from '../execution/launch.ts'
import { aborted } from '../execution/waits.ts'
import { within } from '../../platform/index.ts'
import { evaluate, onDisk } from '../policy/index.ts'
import { readTranscript } from '../sessions/history.ts'
import type {
  ErrorInfo,
  Execution,
  ExecutionEnd,
  ExecutionSpec,
  ExecutionUpdate,
  PermissionDecision,
  PermissionRequest,
  SessionRow,
} from '../types.ts'

const MAX_TEXT_BYTES = 256 * 1024
const MAX_AT_ONCE = 4
const LONGEST_MS = 5 * 60_000
const KILL_MS = 5_000

export type AsideUpdate = Extract<ExecutionUpdate, { kind: 'output' | 'thought' | 'tool' | 'notice' | 'retrying' }>

export interface AsideEnd {
  outcome: ExecutionEnd['outcome']
  /** All that it said. */
  text: string
  /** Why it did not complete. */
  error: ErrorInfo | null
}

export interface Asides {
  /**
   * Resolves when it has ended; its agent is gone within 5 s of the signal.
   * @throws AppError `aside_busy`, `session_not_found`, `prompt_invalid`, `runtime_stopping`, what the snapshot throws; the
   *   reason of `signal`.
   */
  ask(
    request: { sessionId: string; text: string },
    onUpdate: (update: AsideUpdate) => void,
    signal?: AbortSignal,
  ): Promise<AsideEnd>
  /** Resolves when none is under way any more. */
  ended(): Promise<void>
}

export interface AsideDeps {
  ctx: RuntimeContext
  snapshots: SnapshotDeps
  refuseWhenStopping: () => void
  stopping: AbortSignal
}

export function createAsides({ ctx, snapshots, refuseWhenStopping, stopping }: AsideDeps): Asides {
  const { clock, ids, log, tables } = ctx
  const current = new Map<string, Promise<unknown>>()

  async function specOf(session: SessionRow, text: string, signal: AbortSignal): Promise<ExecutionSpec> {
    const asked = { source: session.createdVia, requestedMode: null }
    const { policy } = await takeSnapshot(snapshots, session, asked, signal)
    return {
      sessionId: session.id,
      // These name no row.
      runId: ids.next(),
      intentId: ids.next(),
      attempt: 1,
      agentId: session.agentId,
      prompt: { text, inputs: [], clientMessageId: ids.next(), literal: false },
      policy: { ...policy, mode: 'plan', forced: false, sandbox: 'read_only' },
      history: readTranscript(ctx, session.id),
      aside: true,
    }
  }

  async function run(
    session: SessionRow,
    text: string,
    onUpdate: (update: AsideUpdate) => void,
    signal: AbortSignal,
  ): Promise<AsideEnd> {
    const spec = await specOf(session, text, signal)
    const late = new AbortController()
    using _limit = clock.after(LONGEST_MS, () =>
      late.abort(new AppError('run_timed_out', 'The question took longer than five minutes.')),
    )
    const over = AbortSignal.any([signal, late.signal])
    const turn = openTurn(ctx, spec, onUpdate)
    const starting = ctx.executor.start(spec, turn.sink, over)
    starting.then(turn.started, () => undefined)
    try {
      const execution = await Promise.race([starting, aborted(over)])
      const end = execution === undefined ? undefined : await Promise.race([execution.ended, aborted(over)])
      if (end !== undefined) return endOf(spec, end, turn.text(end))
    } catch (error) {
      if (!over.aborted) return endOf(spec, { outcome: 'failed', error: toRawFailure(error) }, turn.text())
    } finally {
      turn.close()
    }
    await takeAway(starting)
    if (signal.aborted) throw signal.reason
    return endOf(spec, { outcome: 'failed', error: toRawFailure(late.signal.reason) }, turn.text())
  }

  async function takeAway(starting: Promise<Execution>): Promise<void> {
    const gone = starting.then(
      (execution) => execution.kill(),
      () => 'gone' as const,
    )
    const left = await within(clock, KILL_MS, gone).catch(() => null)
    if (left !== 'gone') log.error('The agent of an aside may still live.', {})
  }

  function endOf(spec: ExecutionSpec, end: ExecutionEnd, text: string): AsideEnd {
    const { outcome, error } = end
    if (outcome === 'completed') return { outcome, text, error: null }
    const { runId, intentId, attempt } = spec
    const redact = (secret: string): string => ctx.secrets.redact(secret)
    const scene = { ...NO_FACTS, runId, intentId, attempt, phase: 'model' as const, redact }
    const code = outcome === 'cancelled' ? 'run_cancelled' : outcome === 'incomplete' ? 'run_incomplete' : 'run_failed'
    return { outcome, text, error: toErrorInfo(error ?? { message: '', code }, scene) }
  }

  return {
    async ask({ sessionId, text: typed }, onUpdate, signal) {
      refuseWhenStopping()
      const text = plain(typed)
      signal?.throwIfAborted()
      if (text.trim() === '' || Buffer.byteLength(text) > MAX_TEXT_BYTES) {
        throw new AppError('prompt_invalid', 'A question needs some text, of at most 256 KiB.')
      }
      const session = tables.sessions.get(sessionId)
      if (session === null) {
        throw new AppError('session_not_found', 'This session no longer exists.', { detail: sessionId })
      }
      if (current.has(sessionId) || current.size >= MAX_AT_ONCE) {
        throw new AppError('aside_busy', 'Another question is being answered. Wait for it.')
      }
      const both = signal === undefined ? stopping : AbortSignal.any([signal, stopping])
      const answer = run(session, text, onUpdate, both)
      current.set(
        sessionId,
        answer.catch(() => undefined),
      )
      try {
        return await answer
      } finally {
        current.delete(sessionId)
      }
    },
    async ended() {
      await Promise.all(current.values())
    },
  }
}

/** Takes what the agent of one aside says and asks. */
function openTurn(ctx: RuntimeContext, spec: ExecutionSpec, onUpdate: (update: AsideUpdate) => void) {
  const { log, tables, paths } = ctx
  const collector = createCollector()
  let resolveStarted: (execution: Execution) => void = () => undefined
  const execution = new Promise<Execution>((resolve) => (resolveStarted = resolve))
  let closed = false

  /** Nobody is asked: what policy would not allow by itself is refused. */
  function answer(request: PermissionRequest): void {
    const { requestId, kind, tool, action, complete, locations } = request
    const rules = tables.rules.for(spec.sessionId, spec.policy.roots[0] ?? '')
    const call = { kind, toolName: tool, action, complete, locations }
    const verdict = evaluate(spec.policy, call, { dataDir: paths.dataDir, rules, ...onDisk })
    const allow = verdict.effect === 'allow'
    const reason = allow ? null : 'A question beside the conversation changes nothing and asks nobody.'
    tell(requestId, { allow, by: 'policy', reason })
  }

  function tell(requestId: string, decision: PermissionDecision): void {
    execution
      .then((running) => running.answer(requestId, decision))
      .catch((error: unknown) => log.warn('An aside was not answered.', { error, sessionId: spec.sessionId }))
  }

  return {
    started: (running: Execution) => resolveStarted(running),
    text: (end?: ExecutionEnd) => collector.answer(end?.assistant?.text)?.text ?? '',
    close() {
      closed = true
    },
    sink: {
      push(update: ExecutionUpdate): void {
        if (closed) return
        try {
          switch (update.kind) {
            case 'permission':
              return answer(update.request)
            case 'question':
              return tell(update.request.requestId, { allow: false, by: 'policy', reason: null })
            case 'output':
              collector.output(update.messageId, update.text)
              return onUpdate(update)
            case 'thought':
            case 'tool':
            case 'notice':
            case 'retrying':
              return onUpdate(update)
            default:
              // What belongs to a conversation (titles, usage, files) has none here.
              return
          }
        } catch (error) {
          log.error('An update of an aside could not be taken.', { error, kind: update.kind })
        }
      },
    },
  }
}
