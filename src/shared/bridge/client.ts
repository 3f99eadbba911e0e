/**
 * The client of the bridge, over any channel that carries frames: a WebSocket, `host.sock`, Electron's IPC. It keeps
 * calls and subscriptions apart by id, comes back by itself after a lost host, and resumes each topic without a gap.
 * Free of zod, so that the preload stays small; who wants validation hands in `check`.
 */
import { AppError, fromWireError } from '../errors.ts'
import type {
  ClientFrame,
  EndReason,
  Hello,
  HostFrame,
  ProcedureInput,
  ProcedureName,
  ProcedureOutput,
  TopicEvent,
  TopicFilter,
  TopicName,
} from './index.ts'

/** As much of an `AbortSignal` as is needed, in words that neither Node nor the DOM owns. */
export interface Cancellation {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

export interface FrameChannel {
  send(frame: ClientFrame): void
  close(): void
}

export interface ChannelHandlers {
  frame(frame: HostFrame): void
  /** Once. `final`: coming back is pointless (the host refused us). */
  closed(why: { final: boolean; error: AppError | null }): void
}

/** `lost` keeps what is shown and says since when. */
export type BridgeStatus =
  | { kind: 'connecting' }
  | { kind: 'open'; hello: Hello }
  | { kind: 'lost'; sinceMs: number }
  | { kind: 'refused'; error: AppError }

export interface TopicObserver<N extends TopicName> {
  /** Resumable topics: replay what came after this sequence. */
  after?: number
  event(event: TopicEvent<N>): void
  /** The topic ended for good: its subject is gone, or the host refused it. */
  ended?(reason: EndReason, error: AppError | null): void
}

export interface Bridge {
  /** @throws AppError with the host's code; `host_unreachable` when the host goes meanwhile; `aborted` on the signal. */
  call<N extends ProcedureName>(name: N, input: ProcedureInput<N>, signal?: Cancellation): Promise<ProcedureOutput<N>>
  /** Answers the function that ends it. */
  subscribe<N extends TopicName>(name: N, filter: TopicFilter<N>, observer: TopicObserver<N>): () => void
  status(): BridgeStatus
  onStatus(listener: (status: BridgeStatus) => void): () => void
  close(): void
}

export interface BridgeClientOptions {
  connect(handlers: ChannelHandlers): FrameChannel
  nowMs(): number
  /** Runs once after `ms`; answers the function that forgets it. */
  after(ms: number, fn: () => void): () => void
  /** Development and tests: throws when the host's answer breaks the contract. */
  check?: { output(name: ProcedureName, output: unknown): void; event(name: TopicName, event: unknown): void }
}

interface PendingCall {
  name: ProcedureName
  settle(result: { ok: true; output: unknown } | { ok: false; error: AppError }): void
}

interface Subscription {
  name: TopicName
  filter: unknown
  lastSeq: number | undefined
  event(event: unknown): void
  ended(reason: EndReason, error: AppError | null): void
}

const RECONNECT_MS = [100, 200, 400, 800, 1_500, 2_000] as const
const gone = () => new AppError('host_unreachable', 'Wheelhouse is not answering. It is tried again by itself.')

export function createBridgeClient(options: BridgeClientOptions): Bridge {
  const calls = new Map<number, PendingCall>()
  const subscriptions = new Map<number, Subscription>()
  const listeners = new Set<(status: BridgeStatus) => void>()
  let status: BridgeStatus = { kind: 'connecting' }
  let channel: FrameChannel | null = null
  let nextId = 1
  let attempt = 0
  let forgetRetry: (() => void) | null = null
  let closed = false

  const setStatus = (next: BridgeStatus): void => {
    status = next
    for (const listener of listeners) listener(next)
  }

  const sendSubscription = (id: number, subscription: Subscription): void => {
    const after = subscription.lastSeq === undefined ? {} : { after: subscription.lastSeq }
    channel?.send({ id, sub: subscription.name, filter: subscription.filter, ...after })
  }

  const open = (): void => {
    let live = true
    const opened = options.connect({
      frame: (frame) => live && onFrame(frame),
      closed: (why) => {
        if (!live) return
        live = false
        onClosed(why)
      },
    })
    if (live) channel = opened
  }

  const onClosed = (why: { final: boolean; error: AppError | null }): void => {
    channel = null
    const lost = [...calls.values()]
    calls.clear()
    for (const call of lost) call.settle({ ok: false, error: gone() })
    if (closed) return
    if (why.final) return setStatus({ kind: 'refused', error: why.error ?? gone() })
    if (status.kind !== 'lost') setStatus({ kind: 'lost', sinceMs: options.nowMs() })
    const waitMs = RECONNECT_MS[Math.min(attempt++, RECONNECT_MS.length - 1)] ?? 2_000
    forgetRetry = options.after(waitMs, open)
  }

  const onFrame = (frame: HostFrame): void => {
    if ('hello' in frame) {
      attempt = 0
      setStatus({ kind: 'open', hello: frame.hello })
      for (const [id, subscription] of subscriptions) sendSubscription(id, subscription)
      return
    }
    if ('bad' in frame) return
    if ('ok' in frame) {
      const call = calls.get(frame.id)
      if (call === undefined) return
      calls.delete(frame.id)
      call.settle(frame.ok ? { ok: true, output: frame.output } : { ok: false, error: fromWireError(frame.error) })
      return
    }
    const subscription = subscriptions.get(frame.id)
    if (subscription === undefined) return
    if ('event' in frame) {
      const seq = seqOf(frame.event)
      if (seq !== undefined) {
        // What a resumed topic may bring twice is dropped here, once for everyone.
        if (subscription.lastSeq !== undefined && seq <= subscription.lastSeq) return
        subscription.lastSeq = seq
      }
      subscription.event(frame.event)
      return
    }
    if (frame.end === 'lagged') return sendSubscription(frame.id, subscription)
    if (frame.end === 'stopping') return
    subscriptions.delete(frame.id)
    subscription.ended(frame.end, frame.error === undefined ? null : fromWireError(frame.error))
  }

  open()
  return {
    call(name, input, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted === true) return reject(abortedError())
        if (channel === null || status.kind !== 'open') return reject(status.kind === 'refused' ? status.error : gone())
        const id = nextId++
        const onAbort = (): void => {
          calls.delete(id)
          channel?.send({ id, cancel: true })
          reject(abortedError())
        }
        signal?.addEventListener('abort', onAbort, { once: true })
        calls.set(id, {
          name,
          settle: (result) => {
            signal?.removeEventListener('abort', onAbort)
            if (!result.ok) return reject(result.error)
            try {
              options.check?.output(name, result.output)
            } catch (thrown) {
              return reject(thrown instanceof Error ? thrown : new Error(String(thrown)))
            }
            // The host validated it against the same contract before it left.
            resolve(result.output as ProcedureOutput<typeof name>)
          },
        })
        channel.send({ id, call: name, input })
      })
    },
    subscribe(name, filter, observer) {
      const id = nextId++
      const subscription: Subscription = {
        name,
        filter,
        lastSeq: observer.after,
        event: (event) => {
          options.check?.event(name, event)
          observer.event(event as TopicEvent<typeof name>)
        },
        ended: (reason, error) => observer.ended?.(reason, error),
      }
      subscriptions.set(id, subscription)
      if (status.kind === 'open') sendSubscription(id, subscription)
      return () => {
        if (subscriptions.delete(id) && status.kind === 'open') channel?.send({ id, unsub: true })
      }
    },
    status: () => status,
    onStatus(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close() {
      closed = true
      forgetRetry?.()
      const open = channel
      channel = null
      open?.close()
      const lost = [...calls.values()]
      calls.clear()
      for (const call of lost) call.settle({ ok: false, error: gone() })
      subscriptions.clear()
      listeners.clear()
    },
  }
}

const abortedError = (): AppError => new AppError('aborted', 'The call was cancelled.')

function seqOf(event: unknown): number | undefined {
  if (typeof event !== 'object' || event === null || !('seq' in event)) return undefined
  return typeof event.seq === 'number' ? event.seq : undefined
}
