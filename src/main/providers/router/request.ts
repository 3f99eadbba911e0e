/** Takes a request's body in, and makes of it what goes to an upstream. */
import { AppError } from '../../../shared/errors.ts'
import type { Clock } from '../../platform/types.ts'
import { takeBody } from './body.ts'
import type { TakenBody } from './body.ts'
import { createRequestPace, readInTurns } from './body-pass.ts'
import type { Pace } from './body-pass.ts'
import type { BufferBudget } from './budget.ts'
import { NO_COMPACTION, compactionEdits } from './compaction-request.ts'
import { planEdits } from './edits.ts'
import type { ExchangeCall, ExchangeDeps } from './exchange.ts'
import type { ExchangeNotes } from './exchange-notes.ts'
import { checkFeatures } from './features.ts'
import { createRequestReader } from './request-reader.ts'
import type { RequestFacts } from './request-reader.ts'
import { applySplicesInTurns } from './splices.ts'
import type { ExchangeFlag, RouteBinding } from './types.ts'

const BODY_MS = 60_000

/** What one upstream is sent. */
export interface Onward {
  readonly body: readonly Uint8Array[]
  /** The body goes on as it was encoded. */
  readonly keepEncoding: boolean
  /** The answer's text has to become a compaction item. */
  readonly compacts: boolean
  readonly modelSent: string
  readonly flags: readonly ExchangeFlag[]
}

export interface TakenRequest {
  readonly onward: Onward
  /** Of the decoded body. */
  readonly bytes: number
  /** All that was taken in for it. */
  readonly chunks: readonly Uint8Array[]
  /** The same request for another candidate. @throws AppError: it cannot be made to fit; the signal's reason. */
  onwardFor(binding: RouteBinding): Promise<Onward>
}

/** @throws AppError as `takeBody` and the request reader; `responses_feature_unsupported`. */
export async function takeRequest(
  deps: ExchangeDeps,
  call: ExchangeCall,
  notes: ExchangeNotes,
  budget: BufferBudget,
): Promise<TakenRequest> {
  if (call.verbatim !== undefined) return takeVerbatim(deps, call, notes, budget)
  const { binding } = call
  const reader = createRequestReader({ protocol: binding.routeProtocol, strip: strips(binding) })
  const taken = await takeAll(deps, call, budget, (chunk) => reader.write(chunk))
  notes.bytesIn = taken.wireBytes
  const facts = reader.end()
  notes.modelAsked = facts.model.text.slice(0, 256)
  const paceOf = (): Pace => createRequestPace(deps.clock, call.flight.signal)
  const onward = await edited(binding, taken, facts, paceOf(), (id) => deps.port.isEnabledModel(binding, id))
  return {
    onward,
    bytes: taken.decoded === taken.wire ? taken.wireBytes : sizeOf(taken.decoded),
    chunks: chunksOf(taken),
    async onwardFor(other) {
      const pace = paceOf()
      const read = strips(other) === strips(binding) ? facts : await readAgain(other, taken.decoded, pace)
      // A candidate is asked for the one model that the rule names.
      return edited(other, taken, read, pace, () => false)
    },
  }
}

function chunksOf({ wire, decoded }: TakenBody): readonly Uint8Array[] {
  return wire === decoded ? wire : [...wire, ...decoded]
}

function strips({ historyPortability }: RouteBinding): boolean {
  return historyPortability !== null
}

async function readAgain(binding: RouteBinding, decoded: readonly Uint8Array[], pace: Pace): Promise<RequestFacts> {
  const reader = createRequestReader({ protocol: binding.routeProtocol, strip: strips(binding) })
  await readInTurns(decoded, (piece) => reader.write(piece), pace)
  return reader.end()
}

async function edited(
  binding: RouteBinding,
  taken: TakenBody,
  facts: RequestFacts,
  pace: Pace,
  isEnabledModel: (modelId: string) => boolean,
): Promise<Onward> {
  const { modelSent, splices, flags } = planEdits(binding, facts, isEnabledModel)
  await checkFeatures(binding, taken.decoded, pace)
  const compaction = facts.mayCompact ? await compactionEdits(binding, taken.decoded, pace) : NO_COMPACTION
  const compacts = compaction.asks
  const said = { modelSent, flags: compacts ? [...flags, 'compacted' as const] : flags }
  const all = [...splices, ...compaction.splices]
  // Nothing to change: the very bytes that came, still encoded.
  if (all.length === 0) return { ...said, body: taken.wire, keepEncoding: true, compacts: false }
  return { ...said, body: await applySplicesInTurns(taken.decoded, all, pace), keepEncoding: false, compacts }
}

/** The very bytes that came; the model is read from a copy, and a body that is no JSON passes too. */
async function takeVerbatim(
  deps: ExchangeDeps,
  call: ExchangeCall,
  notes: ExchangeNotes,
  budget: BufferBudget,
): Promise<TakenRequest> {
  const { binding, verbatim } = call
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
  const taken = await takeAll(deps, call, budget, (chunk) => attempt(() => reader.write(chunk)))
  notes.bytesIn = taken.wireBytes
  let modelSent = notes.modelSent
  let mayCompact = false
  attempt(() => {
    const facts = reader.end()
    modelSent = facts.model.text.slice(0, 256)
    notes.modelAsked = modelSent
    mayCompact = facts.mayCompact
  })
  const as = (body: readonly Uint8Array[], keepEncoding: boolean, compacts = false): TakenRequest => {
    const flags = compacts ? ['compacted' as const] : []
    const onward = { body, keepEncoding, compacts, modelSent, flags }
    return { onward, bytes: taken.wireBytes, chunks: chunksOf(taken), onwardFor: () => Promise.resolve(onward) }
  }
  if (verbatim?.decodes !== true) return as(taken.wire, true)
  // Codex compacts there as it does on a route of ours.
  const pace = createRequestPace(deps.clock, call.flight.signal)
  const { splices, asks } = mayCompact ? await compactionEdits(binding, taken.decoded, pace) : NO_COMPACTION
  if (splices.length > 0) return as(await applySplicesInTurns(taken.decoded, splices, pace), false, asks)
  return taken.decoded === taken.wire ? as(taken.wire, true) : as(taken.decoded, false)
}

function takeAll(
  deps: ExchangeDeps,
  { request, flight }: ExchangeCall,
  budget: BufferBudget,
  scan: (chunk: Uint8Array) => void,
): Promise<TakenBody> {
  const limits = { capBytes: deps.bodyCapBytes(), budget }
  return withinBodyTime(deps.clock, takeBody(request, limits, scan, flight.signal))
}

function withinBodyTime<T>(clock: Clock, taking: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(BODY_MS, () =>
      reject(new AppError('request_body_malformed', 'The request body did not arrive in 60 s.')),
    )
    const settle = (settled: () => void): void => {
      timer[Symbol.dispose]()
      settled()
    }
    taking.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error)),
    )
  })
}

function sizeOf(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, chunk) => sum + chunk.length, 0)
}
