/**
 * Writes the log. What a running agent streams is gathered per run and committed for all runs together, so that any number
 * of agents costs at most ten commits a second; a boundary (admission, decision, end) commits at once, and carries what
 * stands before it in the same transaction. Nothing is told before its commit.
 */
import type { SessionEvent } from '../../../shared/events.ts'
import type { Clock, Failpoints, Log, SecretRegistry, Store, Tx } from '../../platform/types.ts'
import type { Lease, LeaseKeeper } from '../leases/keeper.ts'
import type { Tables } from '../store/index.ts'
import type { RunFacts } from '../store/runs.ts'
import type { RuntimeTiming } from '../timing.ts'
import { toPending } from './draft.ts'
import type { Buffered, Emit, EventDraft } from './draft.ts'
import type { EventHub } from './hub.ts'

const GROUP_TEXT_BYTES = 4 * 1024
const GROUP_EVENTS = 64
const MAX_BUFFER_BYTES = 4 * 1024 * 1024
/** Longer texts become several events, so that none of them has to be cut. */
const MAX_TEXT_CHARS = 12 * 1024

export interface RunStream {
  /** Takes an event for the next group commit. `urgent` starts it now. `apply` is written along. */
  push(draft: EventDraft, options?: { apply?: (tx: Tx) => void; urgent?: boolean }): void
  /** Facts of the run that the next commit stores. */
  note(facts: RunFacts): void
  /**
   * One transaction behind the run's lease: first what the stream holds, then what `write` writes and emits.
   * @throws AppError `lease_lost`; what the store throws, with the stream's events kept.
   */
  commit<T>(write: (tx: Tx, emit: Emit) => T): Promise<T>
  /** Forgets what was not committed. */
  close(): void
}

export interface EventWriter {
  open(run: { lease: Lease; runId: string; onOverflow: () => void }): RunStream
  /** A transaction without a run's stream: facts of a session, written by anybody. */
  commitSession<T>(sessionId: string, write: (tx: Tx, emit: Emit) => T, signal?: AbortSignal): Promise<T>
  /** Emits inside somebody else's transaction. */
  emitIn(tx: Tx, sessionId: string): Emit
  /** Commits what waits. */
  flush(): Promise<void>
  stop(): void
}

export interface WriterDeps {
  clock: Clock
  log: Log
  store: Store
  secrets: SecretRegistry
  failpoints: Failpoints
  tables: Tables
  keeper: LeaseKeeper
  hub: EventHub
  timing: RuntimeTiming
}

interface Stream {
  lease: Lease
  runId: string
  items: Buffered[]
  bytes: number
  textBytes: number
  facts: RunFacts | null
  overflowed: boolean
  onOverflow: () => void
}

export function createEventWriter(deps: WriterDeps): EventWriter {
  const { clock, log, store, secrets, failpoints, tables, keeper, hub, timing } = deps
  const streams = new Set<Stream>()
  let timer: Disposable | null = null
  let flushing: Promise<void> | null = null
  let backoffMs = 0
  let stopped = false

  const redact = (text: string): string => secrets.redact(text)

  /** Answers what it wrote; the stream lets go of it once it is committed. */
  function drain(tx: Tx, stream: Stream): SessionEvent[] {
    const { items, facts, lease } = stream
    const count = items.length
    const pending = items.map(({ draft }) => toPending(draft, redact))
    const events = tables.events.append(lease.sessionId, pending, clock.nowMs())
    for (const { apply } of items) apply?.(tx)
    if (facts !== null) tables.runs.setFacts(stream.runId, facts)
    store.afterCommit(tx, () => {
      items.splice(0, count)
      stream.bytes = 0
      stream.textBytes = 0
      for (const item of items) tally(stream, item.draft)
      if (stream.facts === facts) stream.facts = null
    })
    return events
  }

  function tally(stream: Stream, draft: EventDraft): void {
    const size = sizeOf(draft)
    stream.bytes += size
    if (isText(draft)) stream.textBytes += size
  }

  function schedule(ms: number): void {
    if (timer !== null || stopped) return
    timer = clock.after(ms, () => {
      timer = null
      void flush()
    })
  }

  function flush(): Promise<void> {
    flushing ??= flushOnce().finally(() => {
      flushing = null
      if ([...streams].some(hasWork)) schedule(backoffMs > 0 ? backoffMs : timing.flushMs)
    })
    return flushing
  }

  async function flushOnce(): Promise<void> {
    timer?.[Symbol.dispose]()
    timer = null
    if (![...streams].some(hasWork)) return
    try {
      const lost = await store.writeTx((tx) => {
        const gone: Lease[] = []
        for (const stream of streams) {
          if (!hasWork(stream)) continue
          if (!keeper.holds(tx, stream.lease)) gone.push(stream.lease)
          else publishAfter(tx, stream.lease.sessionId, drain(tx, stream))
        }
        failpoints.hit('events.before_commit')
        return gone
      })
      backoffMs = 0
      for (const lease of lost) keeper.markLost(lease)
    } catch (error) {
      backoffMs = Math.min(500, Math.max(50, backoffMs * 2))
      log.warn('Events could not be written and are kept.', { error, againMs: backoffMs })
    }
  }

  function publishAfter(tx: Tx, sessionId: string, events: readonly SessionEvent[]): void {
    if (events.length > 0) store.afterCommit(tx, () => hub.publish(sessionId, events))
  }

  function emitIn(tx: Tx, sessionId: string): Emit {
    return (...drafts) => {
      const pending = drafts.map((draft) => toPending(draft, redact))
      publishAfter(tx, sessionId, tables.events.append(sessionId, pending, clock.nowMs()))
    }
  }

  function pushOne(stream: Stream, item: Buffered): void {
    const last = stream.items.at(-1)
    if (last !== undefined && joins(last, item)) {
      stream.items[stream.items.length - 1] = joined(last, item)
    } else {
      stream.items.push(item)
    }
    tally(stream, item.draft)
  }

  function open(run: { lease: Lease; runId: string; onOverflow: () => void }): RunStream {
    const stream: Stream = { ...run, items: [], bytes: 0, textBytes: 0, facts: null, overflowed: false }
    streams.add(stream)
    return {
      push(draft, { apply, urgent = false } = {}) {
        if (!streams.has(stream) || stream.overflowed) return
        for (const part of split(draft)) pushOne(stream, { draft: part, ...(apply === undefined ? {} : { apply }) })
        if (stream.bytes > MAX_BUFFER_BYTES) {
          stream.overflowed = true
          stream.onOverflow()
          return
        }
        const full = stream.textBytes >= GROUP_TEXT_BYTES || stream.items.length >= GROUP_EVENTS
        if ((urgent || full) && backoffMs === 0) void flush()
        else schedule(timing.flushMs)
      },
      note(facts) {
        stream.facts = facts
        schedule(timing.flushMs)
      },
      commit: (write) =>
        store.writeTx((tx) => {
          keeper.fence(tx, stream.lease)
          publishAfter(tx, stream.lease.sessionId, drain(tx, stream))
          return write(tx, emitIn(tx, stream.lease.sessionId))
        }),
      close: () => void streams.delete(stream),
    }
  }

  return {
    open,
    emitIn,
    flush,
    commitSession: (sessionId, write, signal) => store.writeTx((tx) => write(tx, emitIn(tx, sessionId)), signal),
    stop() {
      stopped = true
      timer?.[Symbol.dispose]()
      timer = null
    },
  }
}

function hasWork(stream: Stream): boolean {
  return stream.items.length > 0 || stream.facts !== null
}

function isText(draft: EventDraft): draft is Extract<EventDraft, { type: 'output_text' | 'output_thought' }> {
  return draft.type === 'output_text' || draft.type === 'output_thought'
}

/** Near enough to bound a buffer. */
function sizeOf(draft: EventDraft): number {
  return isText(draft) ? draft.data.text.length : JSON.stringify(draft.data).length
}

function joins(last: Buffered, next: Buffered): boolean {
  const [a, b] = [last.draft, next.draft]
  if (!isText(a) || !isText(b) || a.type !== b.type || next.apply !== undefined) return false
  return a.data.messageId === b.data.messageId && a.data.text.length + b.data.text.length <= MAX_TEXT_CHARS
}

function joined(last: Buffered, next: Buffered): Buffered {
  const [a, b] = [last.draft, next.draft]
  if (!isText(a) || !isText(b)) return last
  return { ...last, draft: { ...a, data: { ...a.data, text: a.data.text + b.data.text } } }
}

/** A long text as several drafts, never cutting a character in two. */
function split(draft: EventDraft): EventDraft[] {
  if (!isText(draft) || draft.data.text.length <= MAX_TEXT_CHARS) return [draft]
  const parts: EventDraft[] = []
  let rest = draft.data.text
  while (rest.length > 0) {
    let end = Math.min(MAX_TEXT_CHARS, rest.length)
    const last = rest.charCodeAt(end - 1)
    if (end < rest.length && last >= 0xd800 && last <= 0xdbff) end--
    parts.push({ ...draft, data: { ...draft.data, text: rest.slice(0, end) } })
    rest = rest.slice(end)
  }
  return parts
}
