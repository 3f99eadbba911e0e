/** Brings a run's prompt to an agent, and follows it to its end. */
import { AppError } from '../../../shared/errors.ts'
import type { RunPhase } from '../../../shared/events.ts'
import type { RuntimeContext } from '../context.ts'
import type { RunFacts } from '../store/runs.ts'
import { RawFailure } from '../types.ts'
import type { Execution, ExecutionEnd, ExecutionSink, ExecutionSpec } from '../types.ts'
import { toErrorInfo } from './classify.ts'
import { FAILURES } from './failures.ts'
import { aborted } from './waits.ts'
import { within } from '../../platform/index.ts'

const START_TRIES = 3
const RETRY_WAITS_MS = [1_000, 4_000]

/** How a run came to its end, before anybody decides what it is called. `killed`: nobody knows what was left undone. */
export type RunEnd =
  | { by: 'wish'; killed?: boolean }
  | { by: 'executor'; end: ExecutionEnd }
  | { by: 'failure'; raw: RawFailure }

type Started =
  | { kind: 'started'; execution: Execution }
  | { kind: 'failed'; raw: RawFailure }
  | { kind: 'stopped'; end: RunEnd }

export interface RetryNotice {
  attempt: number
  maxAttempts: number
  reasonCode: string
  retryAfterMs: number
  phase: RunPhase
  message: string
}

export interface LaunchDeps {
  ctx: RuntimeContext
  spec: ExecutionSpec
  sink: ExecutionSink
  wished: AbortSignal
  wasAccepted: () => boolean
  facts: () => RunFacts
  announceRetry: (retry: RetryNotice) => void
}

/**
 * Starts the executor, three times in all, while the failure is one that passes and no agent has taken the prompt. From
 * then on only the agent itself tries again.
 */
export async function launch(deps: LaunchDeps): Promise<Started> {
  const { ctx, spec, wished, wasAccepted, announceRetry } = deps
  for (let tries = 1; ; tries++) {
    const started = await startOnce(deps)
    if (started.kind !== 'failed') return started
    const info = describe(deps, started.raw)
    if (wasAccepted() || info.retryMode !== 'automatic' || tries === START_TRIES) return started
    const waitMs = started.raw.retryAfterMs ?? jitter(ctx, RETRY_WAITS_MS[tries - 1] ?? 4_000)
    announceRetry({
      attempt: tries + 1,
      maxAttempts: START_TRIES,
      reasonCode: info.code,
      retryAfterMs: waitMs,
      phase: info.phase,
      message: info.message,
    })
    await ctx.clock.sleep(waitMs, wished).catch(() => undefined)
    if (wished.aborted) return { kind: 'stopped', end: { by: 'wish' } }
    ctx.log.info('A start is tried again.', { runId: spec.runId, tries: tries + 1, code: info.code })
  }
}

function describe({ ctx, spec, facts }: LaunchDeps, raw: RawFailure) {
  const { runId, intentId, attempt } = spec
  const redact = (text: string): string => ctx.secrets.redact(text)
  return toErrorInfo(raw, { ...facts(), runId, intentId, attempt, phase: 'admission', redact })
}

/** 20 % to either side, so that runs that failed together do not come back together. */
function jitter(ctx: RuntimeContext, ms: number): number {
  const [byte = 128] = ctx.ids.bytes(1)
  return Math.round(ms * (0.8 + (0.4 * byte) / 255))
}

async function startOnce({ ctx, spec, sink, wished }: LaunchDeps): Promise<Started> {
  const { clock, executor, timing } = ctx
  if (wished.aborted) return { kind: 'stopped', end: { by: 'wish' } }
  const giveUp = new AbortController()
  const starting = Promise.resolve()
    .then(() => executor.start(spec, sink, giveUp.signal))
    .then(
      (execution): Started => ({ kind: 'started', execution }),
      (error: unknown): Started => ({ kind: 'failed', raw: toRawFailure(error) }),
    )
  const first = await within(clock, timing.startLimitMs, Promise.race([starting, aborted(wished)]))
  if (first !== null && first !== undefined && !wished.aborted) return first

  giveUp.abort(new AppError('aborted', 'The run was stopped while its agent started.'))
  if (first === null) {
    void starting.then((late) => killLate(ctx, spec, late))
    return { kind: 'failed', raw: { message: '', code: 'worker_start_timeout', phase: 'admission' } }
  }
  const settled = await within(clock, timing.cancelGraceMs + timing.killGraceMs, starting)
  if (settled === null) {
    void starting.then((late) => killLate(ctx, spec, late))
    return { kind: 'stopped', end: { by: 'wish', killed: true } }
  }
  const gone = await killLate(ctx, spec, settled)
  return { kind: 'stopped', end: gone ? { by: 'wish' } : { by: 'wish', killed: true } }
}

/** An execution that came too late is taken away. False: something of it may still live. */
async function killLate({ clock, log, timing }: RuntimeContext, spec: ExecutionSpec, late: Started): Promise<boolean> {
  if (late.kind !== 'started') return true
  try {
    return (await within(clock, timing.killGraceMs, late.execution.kill())) === 'gone'
  } catch (error) {
    log.error('A worker that started too late could not be ended.', { error, runId: spec.runId })
    return false
  }
}

/** What an executor threw, in the words of a failure. */
export function toRawFailure(error: unknown): RawFailure {
  if (!(error instanceof AppError)) return { message: '', code: 'run_failed' }
  const { code, message, detail } = error
  const more = RawFailure.omit({ message: true }).safeParse(error.data)
  const known = Object.hasOwn(FAILURES, code)
  return {
    message: known ? '' : message,
    ...(detail === undefined ? {} : { detail }),
    code,
    ...(more.success ? more.data : {}),
  }
}

export interface FollowDeps {
  ctx: RuntimeContext
  wished: AbortSignal
  graceMs: () => number
  /** Before the agent is asked to stop: the state is committed, and nobody is left waiting for an answer. */
  onStop: () => Promise<void>
}

/** The executor's own report, or none: it did not come although it was asked and then taken away. */
export async function followExecution(deps: FollowDeps, execution: Execution): Promise<RunEnd> {
  const { ctx, wished, graceMs, onStop } = deps
  const { clock, log, timing } = ctx
  const report = execution.ended.then((end): RunEnd => ({ by: 'executor', end }))
  const first = await Promise.race([report, aborted(wished)])
  if (first !== undefined) return first

  await onStop()
  execution.cancel().catch((error: unknown) => log.warn('An agent could not be asked to stop.', { error }))
  const answer = await within(clock, graceMs(), report)
  if (answer !== null) return answer

  const killed = execution.kill().then(
    (): RunEnd => ({ by: 'wish', killed: true }),
    (error: unknown): RunEnd => {
      log.error('An agent could not be taken away.', { error })
      return { by: 'wish', killed: true }
    },
  )
  await within(clock, timing.killGraceMs, killed)
  return { by: 'wish', killed: true }
}
