/** One request of an agent, carried to its Provider and back. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { AppError } from '../../../shared/errors.ts'
import type { Clock, Log, Secret } from '../../platform/types.ts'
import { upstreamUrl } from '../upstream/index.ts'
import type { Upstream, UpstreamAnswer } from '../upstream/index.ts'
import { answerError, answerStream } from './answers.ts'
import { takeBody } from './body.ts'
import type { BufferBudget } from './budget.ts'
import { planEdits } from './edits.ts'
import { answerCompaction } from './compaction-answer.ts'
import { compactionEdits } from './compaction-request.ts'
import { createExchangeNotes } from './exchange-notes.ts'
import type { ExchangeNotes } from './exchange-notes.ts'
import { checkFeatures } from './features.ts'
import type { Flight } from './flights.ts'
import { upstreamHeaders } from './headers.ts'
import type { Target } from './paths.ts'
import type { Reachability } from './reachability.ts'
import { asAppError } from './refusals.ts'
import { createRequestReader } from './request-reader.ts'
import { applySplices } from './splices.ts'
import type { Endpoint, RouteBinding, RouterPort } from './types.ts'

const BODY_MS = 60_000

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
  response.once('close', onClose)
  try {
    const { answer, key, compacts } = await askUpstream(deps, call, notes, budget)
    budget.release()
    if (compacts && answer.status < 300) {
      notes.answered(answer.status, answer.headers)
      await markOpaque(deps.port, binding, answer)
      await answerCompaction({ clock: deps.clock, answer, response, notes })
    } else await passAnswer(deps, call, notes, answer, key)
  } catch (thrown) {
    fail(deps, call, notes, thrown)
  } finally {
    response.off('close', onClose)
    budget.release()
    flight.end()
    deps.port.record(notes.record(deps.nextNumber()))
  }
}

const AGENT_GONE = new AppError('aborted', 'The agent hung up.')

async function askUpstream(
  deps: ExchangeDeps,
  call: ExchangeCall,
  notes: ExchangeNotes,
  budget: BufferBudget,
): Promise<{ answer: UpstreamAnswer; key: Secret | null; compacts: boolean }> {
  const { binding, request, flight, target } = call
  if (request.headers['x-wheelhouse-hop'] !== undefined) {
    throw new AppError('upstream_invalid', 'The address of this Provider leads back to Wheelhouse. Change it.')
  }
  // The key and the address are fetched while the body arrives.
  const account = Promise.all([keyOf(deps.port, call), deps.port.upstreamBaseUrl(binding, flight.signal)])
  account.catch(() => undefined)
  const { body, keepEncoding, compacts } = await takeRequest(deps, call, notes, budget)
  const [key, base] = await account
  const answer = await deps.upstream.send(
    {
      url: upstreamUrl(base, target.path, target.query),
      method: request.method === 'GET' ? 'GET' : 'POST',
      headers: upstreamHeaders(request.rawHeaders, keepEncoding),
      body: request.method === 'GET' ? null : body,
      auth: { mode: binding.authMode, key },
    },
    flight.signal,
  )
  deps.reachability.answered(binding.routeDigest)
  return { answer, key, compacts }
}

async function takeRequest(
  deps: ExchangeDeps,
  call: ExchangeCall,
  notes: ExchangeNotes,
  budget: BufferBudget,
): Promise<{ body: readonly Uint8Array[]; keepEncoding: boolean; compacts: boolean }> {
  const { binding, request, flight } = call
  if (call.verbatim !== undefined) return await takeVerbatim(deps, call, notes, budget)
  const strip = binding.historyPortability !== null
  const reader = createRequestReader({ protocol: binding.routeProtocol, strip })
  const limits = { capBytes: deps.bodyCapBytes(), budget }
  const taken = await withinBodyTime(
    deps.clock,
    takeBody(request, limits, (chunk) => reader.write(chunk), flight.signal),
  )
  notes.bytesIn = taken.wireBytes
  const facts = reader.end()
  notes.modelAsked = facts.model.text.slice(0, 256)
  const edits = planEdits(binding, facts, (modelId) => deps.port.isEnabledModel(binding, modelId))
  notes.modelSent = edits.modelSent
  checkFeatures(binding, taken.decoded)
  const compaction = compactionEdits(binding, taken.decoded)
  notes.flags = compaction.asks ? [...edits.flags, 'compacted'] : edits.flags
  const splices = [...edits.splices, ...compaction.splices]
  // Nothing to change: the very bytes that came, still encoded.
  if (splices.length === 0) return { body: taken.wire, keepEncoding: true, compacts: false }
  return { body: applySplices(taken.decoded, splices), keepEncoding: false, compacts: compaction.asks }
}

/** The very bytes that came; the model is read from a copy, and a body that is no JSON passes too. */
async function takeVerbatim(
  deps: ExchangeDeps,
  { binding, request, flight, verbatim }: ExchangeCall,
  notes: ExchangeNotes,
  budget: BufferBudget,
): Promise<{ body: readonly Uint8Array[]; keepEncoding: boolean; compacts: boolean }> {
  const reader = createRequestReader({ protocol: binding.routeProtocol, strip: false })
  let readable = true
  const attempt = (read: () => void): void => {
    if (!readable) return
    try {
      read()
    } catch {
      readable = false
    }
  }
  const limits = { capBytes: deps.bodyCapBytes(), budget }
  const taken = await withinBodyTime(
    deps.clock,
    takeBody(request, limits, (chunk) => attempt(() => reader.write(chunk)), flight.signal),
  )
  notes.bytesIn = taken.wireBytes
  attempt(() => {
    notes.modelAsked = reader.end().model.text.slice(0, 256)
    notes.modelSent = notes.modelAsked
  })
  const whole = { body: taken.wire, keepEncoding: true, compacts: false }
  if (verbatim?.decodes !== true) return whole
  // Codex compacts there as it does on a route of ours.
  const { splices, asks } = readable ? compactionEdits(binding, taken.decoded) : { splices: [], asks: false }
  if (splices.length > 0) {
    notes.flags = asks ? ['compacted'] : []
    return { body: applySplices(taken.decoded, splices), keepEncoding: false, compacts: asks }
  }
  return taken.decoded === taken.wire ? whole : { body: taken.decoded, keepEncoding: false, compacts: false }
}

async function withinBodyTime<T>(clock: Clock, taking: Promise<T>): Promise<T> {
  taking.catch(() => undefined)
  const late = Promise.withResolvers<never>()
  using _timer = clock.after(BODY_MS, () =>
    late.reject(new AppError('request_body_malformed', 'The request body did not arrive in 60 s.')),
  )
  return await Promise.race([taking, late.promise])
}

async function keyOf(port: RouterPort, { binding, flight }: ExchangeCall): Promise<Secret | null> {
  return binding.authMode === 'none' ? null : await port.key(binding, flight.signal)
}

async function passAnswer(
  deps: ExchangeDeps,
  call: ExchangeCall,
  notes: ExchangeNotes,
  answer: UpstreamAnswer,
  key: Secret | null,
): Promise<void> {
  const { binding, endpoint, response } = call
  notes.answered(answer.status, answer.headers)
  if (answer.status >= 400) {
    notes.end = 'failed'
    await answerError({ answer, key, response, protocol: binding.routeProtocol, notes })
  } else {
    if (endpoint !== 'count_tokens') await markOpaque(deps.port, binding, answer)
    await answerStream({ answer, response, protocol: binding.routeProtocol, notes })
  }
}

/** Before the first byte: a history wrongly called empty could be sent where it cannot be read. */
async function markOpaque(port: RouterPort, binding: RouteBinding, answer: UpstreamAnswer): Promise<void> {
  const outcome = await port.markOpaque(binding.routeDigest)
  if (outcome.applied) return
  answer.body.on('error', () => undefined).destroy()
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
  const isTransport = error.code === 'upstream_unreachable' || error.code === 'upstream_timeout'
  const gaveUp = isTransport && deps.reachability.failed(binding.routeDigest) === 'permanent'
  notes.status = call.refuse(error, gaveUp ? false : undefined)
}
