/**
 * Asks the route's own Provider, and where a person made a rule for it, the next ones in turn: each once, and only while
 * nothing has reached the agent.
 */
import { AppError } from '../../../shared/errors.ts'
import type { Secret } from '../../platform/types.ts'
import { faultOf, isTransport } from '../breaker/index.ts'
import { headerText, upstreamUrl } from '../upstream/index.ts'
import type { UpstreamAnswer } from '../upstream/index.ts'
import { isIdentity } from './encodings.ts'
import type { ExchangeCall, ExchangeDeps } from './exchange.ts'
import type { ExchangeNotes } from './exchange-notes.ts'
import { firstError } from './first-event.ts'
import { upstreamHeaders } from './headers.ts'
import type { Onward, TakenRequest } from './request.ts'
import type { Candidate, Failover, RouteBinding } from './types.ts'

/** A larger request goes to its own Provider alone, and is not kept for another. */
const RESEND_BYTES = 8_388_608
const SERVER_FAILURES: ReadonlySet<number> = new Set([500, 502, 503, 504, 529])

/** Where to ask, and with what. */
export interface Account {
  readonly key: Secret | null
  readonly base: string
}

export interface Served {
  readonly answer: UpstreamAnswer
  readonly key: Secret | null
  readonly onward: Onward
  readonly candidate: Candidate
  /** 0: the route's own Provider. */
  readonly index: number
}

/** @throws AppError: the route's own is not there; nobody is; what its account says. */
export async function accountOf({ port }: ExchangeDeps, call: ExchangeCall, binding: RouteBinding): Promise<Account> {
  const { signal } = call.flight
  const base = port.upstreamBaseUrl(binding)
  return { key: binding.authMode === 'none' ? null : await port.key(binding, signal), base }
}

/**
 * `own`: the account of the route's own Provider. Where all failed, the newest answer is the one that passes.
 * @throws AppError as `Upstream.send`; `upstream_circuit_open`.
 */
export async function askUpstream(
  deps: ExchangeDeps,
  call: ExchangeCall,
  notes: ExchangeNotes,
  taken: TakenRequest,
  own: Promise<Account>,
): Promise<Served> {
  const candidate: Candidate = { binding: call.binding, strips: false }
  const rule = call.verbatim === undefined && taken.bytes <= RESEND_BYTES ? deps.port.failover(call.binding) : null
  if (rule !== null) return askInTurn(deps, call, notes, { rule, taken, own, chain: [candidate, ...rule.candidates] })
  notes.attempt = deps.port.begin(call.binding.connectionId, false)
  const account = await own
  const answer = await send(deps, call, account, taken.onward)
  return { answer, key: account.key, onward: taken.onward, candidate, index: 0 }
}

interface Turns {
  readonly rule: Failover
  readonly taken: TakenRequest
  readonly own: Promise<Account>
  readonly chain: readonly Candidate[]
}

async function askInTurn(deps: ExchangeDeps, call: ExchangeCall, notes: ExchangeNotes, turns: Turns): Promise<Served> {
  const kept: { newest: Served | null } = { newest: null }
  const keep = (served: Served | null): void => {
    if (kept.newest !== null) kept.newest.answer.body.destroy()
    kept.newest = served
  }
  try {
    return await firstThatServes(deps, call, notes, { ...turns, keep, newest: () => kept.newest })
  } catch (thrown) {
    keep(null)
    throw thrown
  }
}

async function firstThatServes(
  deps: ExchangeDeps,
  call: ExchangeCall,
  notes: ExchangeNotes,
  turns: Turns & { keep(served: Served): void; newest(): Served | null },
): Promise<Served> {
  let unanswered: AppError | null = null
  const skipped: string[] = []
  for (const [index, candidate] of turns.chain.entries()) {
    const { connectionId } = candidate.binding
    const attempt = deps.port.begin(connectionId, true)
    if (attempt === null) {
      skipped.push(connectionId)
      continue
    }
    notes.attempt = attempt
    try {
      const { kind, served } = await failureOf(await askOne(deps, call, { ...turns, candidate, index }), turns.rule)
      turns.keep(served)
      if (kind === 'none') return served
      attempt.end(kind)
    } catch (thrown) {
      call.flight.signal.throwIfAborted()
      if (!(thrown instanceof AppError)) throw thrown
      const isUnanswered = isTransport(thrown.code)
      // What the route's own account lacks is said; a candidate that cannot be asked is passed over.
      if (!isUnanswered && index === 0) throw thrown
      attempt.end(isUnanswered ? 'failed' : 'neither')
      if (isUnanswered) unanswered = thrown
      else deps.log.info('a fallback could not be asked', { connectionId, code: thrown.code })
    }
  }
  const newest = turns.newest()
  if (newest !== null) return newest
  throw unanswered ?? allOpen(deps.port.waitMs(skipped))
}

async function askOne(
  deps: ExchangeDeps,
  call: ExchangeCall,
  { taken, own, candidate, index }: Pick<Turns, 'taken' | 'own'> & { candidate: Candidate; index: number },
): Promise<Served> {
  const { binding } = candidate
  const onward = index === 0 ? taken.onward : await taken.onwardFor(binding)
  const account = await (index === 0 ? own : accountOf(deps, call, binding))
  const answer = await send(deps, call, account, onward, binding)
  return { answer, key: account.key, onward, candidate, index }
}

/** Whether the next one is asked instead. `answered`: the Provider is up, and only says that it is too much. */
async function failureOf(
  served: Served,
  { on429 }: Failover,
): Promise<{ kind: 'none' | 'failed' | 'answered'; served: Served }> {
  const { status, headers, body } = served.answer
  if (SERVER_FAILURES.has(status)) return { kind: 'failed', served }
  if (status === 429) return { kind: on429 ? 'answered' : 'none', served }
  const isEvents = /^text\/event-stream\b/i.test(headerText(headers, 'content-type') ?? '')
  if (status !== 200 || !isEvents || !isIdentity(headerText(headers, 'content-encoding')))
    return { kind: 'none', served }
  const error = await firstError(body)
  const fault = error === null ? null : faultOf(error)
  if (fault === 'server') return { kind: 'failed', served }
  return { kind: fault === 'too_many' && on429 ? 'answered' : 'none', served }
}

async function send(
  deps: ExchangeDeps,
  { binding, request, flight, target }: ExchangeCall,
  { key, base }: Account,
  { body, keepEncoding }: Onward,
  { authMode }: RouteBinding = binding,
): Promise<UpstreamAnswer> {
  const method = request.method === 'GET' ? 'GET' : 'POST'
  const answer = await deps.upstream.send(
    {
      url: upstreamUrl(base, target.path, target.query),
      method,
      headers: upstreamHeaders(request.rawHeaders, keepEncoding),
      body: method === 'GET' ? null : body,
      auth: { mode: authMode, key },
    },
    flight.signal,
  )
  deps.reachability.answered(binding.routeDigest)
  return answer
}

function allOpen(waitMs: number): AppError {
  return new AppError(
    'upstream_circuit_open',
    'This Provider and all its fallbacks failed again and again. They are tried again in a moment.',
    { data: { waitMs } },
  )
}
