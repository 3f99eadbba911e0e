import { AppError } from '../../../shared/errors.ts'
import { hashKey } from '../admission/fingerprint.ts'
import { withDeadline } from '../../platform/index.ts'
import type { RuntimeContext } from '../context.ts'
import { plain } from '../events/cut.ts'
import type { ActiveRun, RunRegistry } from './active.ts'

const MAX_TEXT_BYTES = 256 * 1024
const STEER_LIMIT_MS = 5_000

export interface SteerRequest {
  sessionId: string
  expectedRunId: string
  text: string
  key?: string
}

/**
 * A person's text into the turn that runs. Written first, handed over once, never sent again by itself.
 * @throws AppError `steer_unavailable` (`detail` says why; nothing is written), `prompt_invalid`, `runtime_stopping`.
 */
export function createSteer({
  ctx,
  registry,
  refuseWhenStopping,
}: {
  ctx: RuntimeContext
  registry: RunRegistry
  refuseWhenStopping: () => void
}) {
  const { clock, tables, log } = ctx
  return async function steer(
    request: SteerRequest,
    signal?: AbortSignal,
  ): Promise<{ status: 'delivered' | 'undelivered'; replayed: boolean }> {
    refuseWhenStopping()
    const { sessionId } = request
    const text = plain(request.text)
    if (text.trim() === '' || Buffer.byteLength(text) > MAX_TEXT_BYTES) {
      throw new AppError('prompt_invalid', 'A message needs some text, of at most 256 KiB.')
    }
    const keyHash = hashKey(request.key)
    const [key, failedKey] = keyHash === null ? [null, null] : [`steer:${keyHash}`, `unsteered:${keyHash}`]
    if (key !== null && tables.events.has(sessionId, key)) {
      const failed = failedKey !== null && tables.events.has(sessionId, failedKey)
      return { status: failed ? 'undelivered' : 'delivered', replayed: true }
    }
    const { run, send } = await target(request)
    const { runId } = run.spec
    await run.stream.commit((_tx, emit) => {
      if (run.closing()) throw unavailable('the run is ending')
      const turn = tables.transcript.turnOfRun(runId)
      const owner = { sessionId, turnId: turn?.id ?? null, runId }
      tables.transcript.append(owner, [{ kind: 'user', body: { text, steered: true } }], clock.nowMs())
      emit({ runId, type: 'user_steered', data: { text }, ...(key === null ? {} : { dedupeKey: key }) })
    })
    const taken = await withDeadline(clock, STEER_LIMIT_MS, signal, (inner) => send(text, inner)).catch(
      (error: unknown) => {
        log.warn('A message did not reach the agent.', { error, runId })
        return 'refused' as const
      },
    )
    if (taken === 'taken') return { status: 'delivered', replayed: false }
    const message = 'The agent did not take this message.'
    await run.stream.commit((_tx, emit) => {
      const data = { code: 'steer_undelivered', message, level: 'warning' as const }
      emit({ runId, type: 'notice', data, ...(failedKey === null ? {} : { dedupeKey: failedKey }) })
    })
    return { status: 'undelivered', replayed: false }
  }

  async function target({ sessionId, expectedRunId }: SteerRequest) {
    const run: ActiveRun | null = registry.ofSession(sessionId)
    if (run === null) throw unavailable('no run of this session is under way here')
    if (run.spec.runId !== expectedRunId) throw unavailable('another run is under way')
    const state = run.state()
    if (
      run.closing() ||
      (state !== 'running' && state !== 'waiting_for_approval' && state !== 'waiting_for_question')
    ) {
      throw unavailable(`the run is ${state}`)
    }
    const execution = await run.running
    const steer = execution?.steer
    if (execution === null || steer === undefined) throw unavailable('this agent takes no message while it works')
    return { run, send: (text: string, signal: AbortSignal) => steer.call(execution, text, signal) }
  }
}

function unavailable(why: string): AppError {
  return new AppError('steer_unavailable', 'This message cannot be given to the run that is under way.', {
    detail: why,
  })
}
