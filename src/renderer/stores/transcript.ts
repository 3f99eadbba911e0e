import { createStore } from 'zustand/vanilla'
import type { StoreApi } from 'zustand/vanilla'
import type { Bridge } from '../../shared/bridge/client.ts'
import type { SessionEvent } from '../../shared/events.ts'
import { AppError } from '../../shared/errors.ts'
import { emptyRun, extendRun } from '../../shared/projection/index.ts'
import type { RunView } from '../../shared/projection/index.ts'

/** The browser draws at most this often, whatever the agent sends. */
const PUBLISH_MS = 1_000 / 30
const PAGE = 20
/** As many as the host gives at once. */
const LARGE_PAGE = 50

export interface TranscriptState {
  status: 'loading' | 'ready' | 'failed'
  error: AppError | null
  /** Oldest first. */
  runs: readonly RunView[]
  hasEarlier: boolean
  loadingEarlier: boolean
}

export interface Transcript {
  store: StoreApi<TranscriptState>
  loadEarlier(): Promise<void>
  /** Page after page, up to the session's first turn. */
  loadAll(): Promise<void>
  close(): void
}

/**
 * One session's transcript: a snapshot of its newest turns, then the log from where that stood. A log, not a query: events
 * are folded in by `seq`, and published at most thirty times a second.
 */
export function openTranscript(bridge: Bridge, sessionId: string): Transcript {
  const store = createStore<TranscriptState>(() => ({
    status: 'loading',
    error: null,
    runs: [],
    hasEarlier: false,
    loadingEarlier: false,
  }))
  const abort = new AbortController()
  let unsubscribe = (): void => {}
  let queued: SessionEvent[] = []
  let timer: ReturnType<typeof setTimeout> | null = null

  const publish = (): void => {
    timer = null
    const events = queued
    queued = []
    store.setState(({ runs }) => ({ runs: foldEvents(runs, events) }))
  }

  const start = async (): Promise<void> => {
    try {
      const snapshot = await bridge.call('sessions.snapshot', { sessionId, limit: PAGE }, abort.signal)
      store.setState({ status: 'ready', error: null, runs: snapshot.turns, hasEarlier: snapshot.hasEarlier })
      unsubscribe = bridge.subscribe(
        'session.events',
        { sessionId },
        {
          after: snapshot.headSeq,
          event: (event) => {
            queued.push(event)
            timer ??= setTimeout(publish, PUBLISH_MS)
          },
          ended: (_reason, error) => {
            // The log was pruned below our cursor: what is shown is taken anew.
            if (error?.code === 'event_cursor_expired' && !abort.signal.aborted) void start()
          },
        },
      )
    } catch (thrown) {
      if (abort.signal.aborted) return
      const error = thrown instanceof AppError ? thrown : new AppError('internal', 'The session could not be opened.')
      if (error.code === 'host_unreachable') return waitForHost()
      store.setState({ status: 'failed', error })
    }
  }

  const waitForHost = (): void => {
    const forget = bridge.onStatus((status) => {
      if (status.kind !== 'open') return
      forget()
      if (!abort.signal.aborted) void start()
    })
  }

  if (bridge.status().kind === 'open') void start()
  else waitForHost()

  const loadEarlier = async (limit: number): Promise<void> => {
    const { runs, hasEarlier, loadingEarlier } = store.getState()
    const [first] = runs
    if (!hasEarlier || loadingEarlier || first === undefined) return
    store.setState({ loadingEarlier: true })
    try {
      const earlier = await bridge.call(
        'sessions.snapshot',
        { sessionId, beforeTurn: first.runId, limit },
        abort.signal,
      )
      store.setState(({ runs }) => ({ runs: [...earlier.turns, ...runs], hasEarlier: earlier.hasEarlier }))
    } finally {
      store.setState({ loadingEarlier: false })
    }
  }

  return {
    store,
    loadEarlier: () => loadEarlier(PAGE),
    async loadAll() {
      while (store.getState().hasEarlier && !store.getState().loadingEarlier) await loadEarlier(LARGE_PAGE)
    },
    close() {
      abort.abort()
      unsubscribe()
      if (timer !== null) clearTimeout(timer)
    },
  }
}

/** Runs that got no event keep their identity. */
export function foldEvents(runs: readonly RunView[], events: readonly SessionEvent[]): readonly RunView[] {
  const byRun = new Map<string, SessionEvent[]>()
  for (const event of events) {
    if (event.runId === null) continue
    const own = byRun.get(event.runId)
    if (own === undefined) byRun.set(event.runId, [event])
    else own.push(event)
  }
  if (byRun.size === 0) return runs
  const next = runs.map((run) => {
    const own = byRun.get(run.runId)
    byRun.delete(run.runId)
    return own === undefined ? run : extendRun(run, own)
  })
  for (const [runId, own] of byRun) {
    // A run that is older than what is shown is not begun in the middle.
    if (own.some((event) => event.type === 'run_created')) next.push(extendRun(emptyRun(runId), own))
  }
  return next
}
