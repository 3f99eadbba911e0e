/** One request of an agent, carried to its Provider and back. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { AppError } from '../../../shared/errors.ts'
import type { Clock, Log } from '../../platform/types.ts'
import { isTransport, outcomeOf } from '../breaker/index.ts'
import type { Upstream, UpstreamAnswer } from '../upstream/index.ts'
import { answerError, answerStream } from './answers.ts'
import type { BufferBudget } from './budget.ts'
import { answerCompaction } from './compaction-answer.ts'
import { createExchangeNotes } from './exchange-notes.ts'
import type { ExchangeNotes } from './exchange-notes.ts'
import { accountOf, askUpstream } from './failover.ts'
import type { Served } from './failover.ts'
import type { Flight } from './flights.ts'
import type { Target } from './paths.ts'
import type { Reachability } from './reachability.ts'
import { asAppError } from './refusals.ts'
import { takeRequest } from './request.ts'
import type { TakenRequest } from './request.ts'
import type { Endpoint, RouteBinding, RouterPort } from './types.ts'

export interface ExchangeDeps {
  readonly clock: Clock
  readonly log: Log
  readonly port: RouterPort
  readonly upstream: Upstream
  readonly reachability: Reachability
  bodyCapBytes(): number
  newBudget(): BufferBudget
  nextNumber(): number
}

export interface ExchangeCall {
  readonly binding: RouteBinding
  readonly endpoint: Endpoint
  readonly target: Target
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly flight: Flight
  /** Body and model leave as they came; `decodes`: but for an encoding that no Provider reads. */
  readonly verbatim?: { readonly decodes: boolean }
  /** Answers with an error of ours and tells its status; `retry` overrides what the code says. */
  refuse(error: AppError, retry?: boolean): number
}

/** Never throws. The flight ends and the record is written whatever happens. */
export async function runExchange(deps: ExchangeDeps, call: ExchangeCall): Promise<void> {
  const { binding, flight, response } = call
  const notes = createExchangeNotes(deps.clock, binding, call.endpoint)
  const budget = deps.newBudget()
  const onClose = (): void => {
    if (!response.writableFinished) flight.cut(AGENT_GONE)
  }
  let taken: TakenRequest | null = null
  response.once('close', onClose)
  try {
    refuseLoop(call)
    // The key and the address are fetched while the body arrives.
    const own = accountOf(deps, call, binding)
    own.catch(() => undefined)
    taken = await takeRequest(deps, call, notes, budget)
    notes.modelSent = taken.onward.modelSent
    notes.flags = taken.onward.flags
    const served = await askUpstream(deps, call, notes, taken, own)
    budget.release()
    await passAnswer(deps, call, notes, served)
  } catch (thrown) {
    fail(deps, call, notes, thrown)
  } finally {
    response.off('close', onClose)
    budget.release()
    flight.end()
    if (taken !== null) deps.upstream.spent(taken.chunks)
    const exchange = notes.record(deps.nextNumber())
    // Judged by how it ended, not by how it began.
    notes.attempt?.end(outcomeOf(exchange))
    deps.port.record(exchange)
  }
}

const AGENT_GONE = new AppError('aborted', 'The agent hung up.')

function refuseLoop({ request }: ExchangeCall): void {
  if (request.headers['x-wheelhouse-hop'] === undefined) return
  throw new AppError('upstream_invalid', 'The address of this Provider leads back to Wheelhouse. Change it.')
}

async function passAnswer(
  deps: ExchangeDeps,
  call: ExchangeCall,
  notes: ExchangeNotes,
  { answer, key, onward, candidate, index }: Served,
): Promise<void> {
  const { endpoint, response } = call
  const { binding, strips } = candidate
  notes.servedBy(binding.connectionId, index)
  notes.modelSent = onward.modelSent
  notes.flags = onward.flags
  notes.key = key
  notes.answered(answer.status, answer.headers)
  const protocol = binding.routeProtocol
  if (answer.status >= 400) {
    notes.end = 'failed'
    return await answerError({ answer, key, response, protocol, notes })
  }
  const isMarked = binding.historyState === 'may_contain_opaque' && !strips
  if (endpoint !== 'count_tokens' && !isMarked) await markOpaque(deps.port, binding, strips, answer)
  if (onward.compacts) await answerCompaction({ clock: deps.clock, answer, response, notes })
  else await answerStream({ answer, key, response, protocol, notes })
}

/** Before the first byte: a history wrongly called empty could be sent where it cannot be read. */
async function markOpaque(
  port: RouterPort,
  { routeDigest }: RouteBinding,
  strips: boolean,
  { body }: UpstreamAnswer,
): Promise<void> {
  const outcome = await port.markOpaque(routeDigest, { strips })
  if (outcome.applied) return
  body.destroy()
  throw new AppError(
    'persistence_failed',
    'Wheelhouse could not write to its database. Check the disk, then try again.',
  )
}

function fail(deps: ExchangeDeps, call: ExchangeCall, notes: ExchangeNotes, thrown: unknown): void {
  const { binding, response } = call
  if (thrown === AGENT_GONE || (response.destroyed && !response.headersSent)) {
    notes.end = 'client_aborted'
    return
  }
  const error = asAppError(thrown)
  if (error.code === 'internal') deps.log.error('a routed request failed', { error: thrown })
  notes.origin = 'router'
  notes.code = error.code
  notes.end = 'refused'
  if (response.headersSent) {
    response.destroy()
    return
  }
  const gaveUp = isTransport(error.code) && deps.reachability.failed(binding.routeDigest) === 'permanent'
  notes.status = call.refuse(error, gaveUp ? false : undefined)
}
