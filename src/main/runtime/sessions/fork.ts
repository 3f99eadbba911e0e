/** A session that begins where another one stood: the same words and configuration, with a life of its own. */
import { z } from 'zod'
import { AppError } from '../../../shared/errors.ts'
import type { Source } from '../../../shared/vocabulary.ts'
import type { Tx } from '../../platform/types.ts'
import { canonicalJson, sha256 } from '../admission/fingerprint.ts'
import type { RuntimeContext } from '../context.ts'
import { isLease } from '../leases/keeper.ts'
import type { Recovery } from '../recovery/attempt.ts'
import type { ClosedTurn, ForkEntry } from '../store/forks.ts'
import { readJson } from '../store/json.ts'
import type { SessionRow } from '../types.ts'
import { cleanTitle } from './titles.ts'

const MAX_REQUEST_BYTES = 256
const MAX_COPIES = 9_999
const Body = z.looseObject({ text: z.string().optional(), retryOf: z.string().optional() })

export interface ForkRequest {
  sourceId: string
  /** The entry of an answer: the child ends with its turn. Without it, with the last turn that has ended. */
  atSeq?: number
  /** The same by the run whose answer it is; not both. */
  atRun?: string
  /** 1 to 256 bytes, stored as a hash. The same request is the same child. */
  requestId: string
  /** `increment`: the first free `<title> (n)`. */
  titleMode?: 'increment' | 'keep'
  createdVia?: Source
}

export interface Forked {
  sessionId: string
  parentId: string
  forkKind: 'session' | 'message'
  boundarySeq: number
  prefixLength: number
}

export interface ForkDeps {
  ctx: RuntimeContext
  recovery: Recovery
  refuseWhenStopping: () => void
}

/**
 * @throws AppError `session_not_found`, `fork_source_active`, `fork_no_completed_turn`, `fork_boundary_invalid`,
 *   `fork_boundary_unavailable`, `fork_request_conflict`, `input_invalid`.
 */
export type Fork = (request: ForkRequest) => Promise<Forked>

export function createFork({ ctx, recovery, refuseWhenStopping }: ForkDeps): Fork {
  const { clock, ids, store, tables, keeper, writer, changes } = ctx

  function known(sourceId: string, requestHash: string, fingerprint: string): Forked | null {
    const earlier = tables.forks.request(sourceId, requestHash)
    if (earlier === null) return null
    if (earlier.fingerprint !== fingerprint) {
      throw new AppError('fork_request_conflict', 'This request made another fork already.', {
        detail: earlier.childId,
        data: { sessionId: earlier.childId },
      })
    }
    const facts = tables.forks.facts(earlier.childId)
    if (facts === null) throw new AppError('session_not_found', 'The fork is gone.', { detail: earlier.childId })
    return { ...facts, sessionId: earlier.childId, parentId: sourceId }
  }

  function sourceOf(sourceId: string): SessionRow {
    const source = tables.sessions.get(sourceId)
    if (source !== null) return source
    throw new AppError('session_not_found', 'This session no longer exists.', { detail: sourceId })
  }

  /** One transaction under a lease of its own: nobody else writes to the source meanwhile. `orphan`: its owner is gone. */
  function forkIn(
    tx: Tx,
    request: Omit<ForkRequest, 'atSeq'> & { atSeq: number | null },
    requestHash: string,
    fingerprint: string,
  ): Forked | 'orphan' {
    const { sourceId, atSeq, titleMode = 'increment' } = request
    const earlier = known(sourceId, requestHash, fingerprint)
    if (earlier !== null) return earlier
    const source = sourceOf(sourceId)
    const held = tables.leases.get(sourceId)
    if (held !== null && keeper.isValid(held)) throw sourceActive()
    if (tables.runs.active(sourceId).length > 0) return 'orphan'
    if (tables.forks.hasOpenTurn(sourceId) || tables.decisions.countPending(sourceId) > 0) throw sourceActive()
    const lease = keeper.take(tx, { sessionId: sourceId, purpose: 'fork', runId: null })
    if (!isLease(lease)) throw sourceActive()

    const turns = tables.forks.closedTurns(sourceId)
    const last = atSeq === null ? turns.at(-1) : turnAt(sourceId, turns, atSeq)
    if (last === undefined) {
      throw new AppError('fork_no_completed_turn', 'There is nothing to go on from yet: no turn has ended.')
    }
    const boundarySeq = tables.forks.endOfFacts(sourceId, last.endSeq)
    const entries = tables.forks.entriesUpTo(sourceId, boundarySeq)
    const forkKind = atSeq === null ? 'session' : 'message'
    const childId = ids.next()
    const at = clock.nowMs()
    tables.forks.insertChild({
      id: childId,
      sourceId,
      title: titleMode === 'keep' ? source.title : nextTitle(source.title),
      createdVia: request.createdVia ?? source.createdVia,
      forkKind,
      boundarySeq,
      prefixLength: entries.length,
      at,
    })
    copy(
      childId,
      turns.filter(({ endSeq }) => endSeq <= last.endSeq),
      entries,
    )
    tables.forks.remember({ sourceId, requestHash, fingerprint, childId, at })
    const facts = {
      sessionId: childId,
      parentId: sourceId,
      forkKind,
      boundarySeq,
      prefixLength: entries.length,
    } as const
    for (const sessionId of [sourceId, childId]) {
      writer.emitIn(tx, sessionId)({ runId: null, type: 'session_forked', data: facts })
    }
    keeper.releaseIn(tx, lease)
    store.afterCommit(tx, () => {
      for (const sessionId of [sourceId, childId]) changes.tell({ kind: 'session', sessionId })
    })
    return facts
  }

  /** The number of the entry that holds a run's last answer. */
  function answerOf(sourceId: string, runId: string): number {
    const turn = tables.transcript.turn(sourceId, runId)
    if (turn === null) throw new AppError('fork_boundary_invalid', 'This session has no such turn.', { detail: runId })
    const answer = tables.transcript.entriesOf(turn.id).findLast(({ kind }) => kind === 'assistant')
    if (answer === undefined) throw boundary()
    return answer.seq
  }

  function turnAt(sourceId: string, turns: readonly ClosedTurn[], atSeq: number): ClosedTurn {
    const entry = atSeq > 0 ? tables.forks.entriesUpTo(sourceId, atSeq).at(-1) : undefined
    if (entry === undefined || entry.seq !== atSeq) {
      throw new AppError('fork_boundary_invalid', 'This session has no such message.', { detail: String(atSeq) })
    }
    const turn = turns.find(({ id }) => id === entry.turnId)
    if (turn === undefined || entry.kind !== 'assistant' || (bodyOf(entry).text ?? '').trim() === '') throw boundary()
    const later = tables.forks.entriesUpTo(sourceId, turn.endSeq).filter(({ seq }) => seq > atSeq)
    if (later.some(({ kind }) => kind === 'user' || kind === 'assistant')) throw boundary()
    return turn
  }

  function copy(childId: string, turns: readonly ClosedTurn[], entries: readonly ForkEntry[]): void {
    const turnIds = new Map(turns.map(({ id }) => [id, ids.next()]))
    const entryIds = new Map(entries.map(({ id }) => [id, ids.next()]))
    const seqs = new Map(entries.map(({ seq }, index) => [seq, index + 1]))
    const renumbered = (seq: number): number => seqs.get(seq) ?? 1
    for (const turn of turns) {
      tables.forks.insertTurn({
        ...turn,
        id: turnIds.get(turn.id) ?? ids.next(),
        sessionId: childId,
        startSeq: renumbered(turn.startSeq),
        endSeq: renumbered(turn.endSeq),
      })
    }
    for (const entry of entries) {
      const { runId: _runId, retryOf, ...body } = bodyOf(entry)
      const earlier = retryOf === undefined ? undefined : entryIds.get(retryOf)
      tables.forks.insertEntry({
        ...entry,
        id: entryIds.get(entry.id) ?? ids.next(),
        sessionId: childId,
        seq: renumbered(entry.seq),
        turnId: entry.turnId === null ? null : (turnIds.get(entry.turnId) ?? null),
        body: JSON.stringify(earlier === undefined ? body : { ...body, retryOf: earlier }),
      })
    }
  }

  function nextTitle(title: string): string {
    const base = title.replace(/ \(\d{1,4}\)$/, '')
    if (base === '') return ''
    const taken = new Set(tables.forks.titlesLike(base))
    for (let n = 1; n <= MAX_COPIES; n++) {
      const suffix = ` (${n})`
      const next = Array.from(cleanTitle(base))
        .slice(0, 200 - suffix.length)
        .join('')
      if (!taken.has(next + suffix)) return next + suffix
    }
    return title
  }

  return async function fork(request) {
    refuseWhenStopping()
    const { sourceId, requestId, titleMode = 'increment' } = request
    if (requestId === '' || Buffer.byteLength(requestId) > MAX_REQUEST_BYTES) {
      throw new AppError('input_invalid', 'A fork request has an id of 1 to 256 bytes.')
    }
    const atSeq = request.atRun === undefined ? (request.atSeq ?? null) : answerOf(sourceId, request.atRun)
    const requestHash = sha256(requestId)
    const fingerprint = sha256(canonicalJson({ atSeq, titleMode }))
    const tryOnce = (): Promise<Forked | 'orphan'> =>
      store.writeTx((tx) => forkIn(tx, { ...request, atSeq }, requestHash, fingerprint))
    let forked = await tryOnce()
    if (forked === 'orphan' && (await recovery.recover(sourceId, 'admission')) !== 'skipped') forked = await tryOnce()
    if (forked === 'orphan') throw sourceActive()
    return forked
  }
}

function bodyOf({ id, body }: ForkEntry): z.infer<typeof Body> {
  return readJson(Body, body, `entries.body of ${id}`)
}

function sourceActive(): AppError {
  return new AppError('fork_source_active', 'This session is working. Fork it when it has finished.')
}

function boundary(): AppError {
  return new AppError('fork_boundary_unavailable', 'A session can be forked only at the end of an answer.')
}
