/** Takes a request's body in, and makes of it what goes to an upstream. */
import { AppError } from '../../../shared/errors.ts'
import type { Clock } from '../../platform/types.ts'
import { takeBody } from './body.ts'
import type { TakenBody } from './body.ts'
import type { BufferBudget } from './budget.ts'
import { NO_COMPACTION, compactionEdits } from './compaction-request.ts'
import { planEdits } from './edits.ts'
import type { ExchangeCall, ExchangeDeps } from './exchange.ts'
import type { ExchangeNotes } from './exchange-notes.ts'
import { checkFeatures } from './features.ts'
import { createRequestReader } from './request-reader.ts'
import type { RequestFacts } from './request-reader.ts'
import { applySplices } from './splices.ts'
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
  /** The same request for another candidate. @throws AppError: it cannot be made to fit. */
  onwardFor(binding: RouteBinding): Onward
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
  const onward = edited(binding, taken, facts, (modelId) => deps.port.isEnabledModel(binding, modelId))
  return {
    onward,
    bytes: taken.decoded === taken.wire ? taken.wireBytes : sizeOf(taken.decoded),
    chunks: chunksOf(taken),
    onwardFor(other) {
      const read = strips(other) === strips(binding) ? facts : readAgain(other, taken.decoded)
      // A candidate is asked for the one model that the rule names.
      return edited(other, taken, read, () => false)
    },
  }
}

function chunksOf({ wire, decoded }: TakenBody): readonly Uint8Array[] {
  return wire === decoded ? wire : [...wire, ...decoded]
}

function strips({ historyPortability }: RouteBinding): boolean {
  return historyPortability !== null
}

function readAgain(binding: RouteBinding, decoded: readonly Uint8Array[]): RequestFacts {
  const reader = createRequestReader({ protocol: binding.routeProtocol, strip: strips(binding) })
  for (const chunk of decoded) reader.write(chunk)
  return reader.end()
}

function edited(
  binding: RouteBinding,
  taken: TakenBody,
  facts: RequestFacts,
  isEnabledModel: (modelId: string) => boolean,
): Onward {
  const { modelSent, splices, flags } = planEdits(binding, facts, isEnabledModel)
  checkFeatures(binding, taken.decoded)
  const compaction = facts.mayCompact ? compactionEdits(binding, taken.decoded) : NO_COMPACTION
  const all = [...splices, ...compaction.splices]
  const compacts = compaction.asks
  const said = { modelSent, flags: compacts ? [...flags, 'compacted' as const] : flags }
  // Nothing to change: the very bytes that came, still encoded.
  if (all.length === 0) return { ...said, body: taken.wire, keepEncoding: true, compacts: false }
  return { ...said, body: applySplices(taken.decoded, all), keepEncoding: false, compacts }
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
    return { onward, bytes: taken.wireBytes, chunks: chunksOf(taken), onwardFor: () => onward }
  }
  if (verbatim?.decodes !== true) return as(taken.wire, true)
  // Codex compacts there as it does on a route of ours.
  const { splices, asks } = mayCompact ? compactionEdits(binding, taken.decoded) : NO_COMPACTION
  if (splices.length > 0) return as(applySplices(taken.decoded, splices), false, asks)
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
