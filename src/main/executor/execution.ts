import { AppError } from '../../shared/errors.ts'
import type { Execution, ExecutionEnd, ExecutionSink, ExecutionSpec } from '../runtime/index.ts'
import type { CloseOptions, PromptResult } from '../workers/index.ts'
import { toRawFailure } from './failures.ts'
import type { WorkerPool } from './pool.ts'
import type { LiveWorker, Parts } from './types.ts'

/** Taken away means within the runtime's five seconds. */
const KILL: CloseOptions = { closeStdinMs: 0, termGraceMs: 1_500, confirmMs: 2_000 }

/** Hands the prompt to a borrowed worker and carries the turn to its end. The worker goes back before `ended` settles. */
export function executePrompt(
  parts: Parts,
  pool: Pick<WorkerPool, 'giveBack' | 'release'>,
  worker: LiveWorker,
  spec: ExecutionSpec,
  sink: ExecutionSink,
): Execution {
  const { session, desk, sessionId } = worker
  const forgetStrips = tellStrips(parts, worker, sink)
  const exchangeBefore = parts.providers.lastExchange(sessionId)?.n ?? 0
  parts.providers.allowFailover(worker.workerId, spec.policy.failover !== 'off')
  const untold = tellOfFallbacks(parts, sessionId, sink)
  worker.lend({ sink, runId: spec.runId })
  sink.push({ kind: 'accepted', workerId: worker.workerId, agentSessionId: session.id })

  const run = async (): Promise<ExecutionEnd> => {
    try {
      return toEnd(await session.prompt(spec.prompt), sink)
    } catch (thrown) {
      if (!(thrown instanceof AppError))
        parts.log.error('a turn failed unexpectedly', { runId: spec.runId, error: thrown })
      const exchange = parts.providers.lastExchange(sessionId)
      const own = exchange !== null && exchange.n > exchangeBefore ? exchange : null
      return { outcome: 'failed', error: toRawFailure(thrown, own) }
    }
  }

  const ended = run().then((end) => {
    untold()
    forgetStrips()
    worker.lend(null)
    pool.giveBack(worker)
    return end
  })

  return {
    workerRef: worker.workerId,
    answer(requestId, decision) {
      desk.answer(requestId, decision)
      return Promise.resolve()
    },
    ...(session.steer === undefined
      ? {}
      : { steer: (text: string, signal: AbortSignal) => steer(worker, text, signal) }),
    async cancel() {
      await session.cancel()
    },
    async kill() {
      const outcome = await pool.release(worker, KILL)
      return outcome.kind
    },
    ended,
  }
}

/** Who answered in place of the Provider that the session chose: said once each a run. */
function tellOfFallbacks({ providers }: Parts, sessionId: string, sink: ExecutionSink): () => void {
  const told = new Set<string>()
  return providers.onExchange((exchange) => {
    const { connectionId, modelSent } = exchange
    const answered = exchange.status !== null && exchange.status < 400 && exchange.streamError === null
    if (exchange.sessionId !== sessionId || !exchange.failover || !answered || told.has(connectionId)) return
    told.add(connectionId)
    const name = providers.connectionName(connectionId) ?? 'another Provider'
    const message = `The session’s Provider did not answer. ${name} answered instead, with ${modelSent}.`
    sink.push({ kind: 'notice', code: 'answered_by_fallback', message, level: 'warning' })
  })
}

/** Once a worker and Provider: the agent still holds what was cut, so every request from now on is. */
function tellStrips({ providers }: Parts, worker: LiveWorker, sink: ExecutionSink): () => void {
  return providers.onExchange(({ sessionId, connectionId, stripped }) => {
    if (!stripped || sessionId !== worker.sessionId || worker.toldStripped === connectionId) return
    worker.toldStripped = connectionId
    const name = providers.connectionName(connectionId) ?? 'this Provider'
    sink.push({
      kind: 'notice',
      code: 'history_stripped',
      message: `${name} was sent this conversation without what only the Provider before it can read: its hidden reasoning.`,
      level: 'info',
    })
  })
}

function steer(worker: LiveWorker, text: string, signal: AbortSignal): Promise<'taken' | 'refused'> {
  return worker.session.steer?.(text, signal) ?? Promise.resolve('refused')
}

function toEnd(result: PromptResult, sink: ExecutionSink): ExecutionEnd {
  if (result.usage !== null) sink.push({ kind: 'usage', usage: result.usage })
  const stopReason = result.stop
  switch (result.stop) {
    case 'end_turn':
      return { outcome: 'completed', stopReason }
    case 'ended_by_denial':
      sink.push({
        kind: 'notice',
        code: 'ended_after_denial',
        message: 'The agent ended its turn after a permission was denied.',
      })
      return { outcome: 'completed', stopReason }
    case 'max_tokens':
    case 'max_turn_requests':
      return { outcome: 'incomplete', stopReason }
    case 'refusal':
      return {
        outcome: 'failed',
        stopReason,
        error: { message: 'The model declined to answer this.', code: 'content_rejected', phase: 'model' },
      }
    case 'cancelled':
      return { outcome: 'cancelled', stopReason }
    default:
      return result.stop satisfies never
  }
}
