/**
 * Hands the task token to Wheelhouse's own MCP bridge, and to nobody else: one hand-off per start of the bridge, a few per
 * worker, each against the proof that the peer belongs to the worker's tree. Whoever fails the proof ends it for good.
 */
import { once } from 'node:events'
import { chmod, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { Taken } from '../../../shared/mcp-bridge.ts'
import { createFrameSocket, withDeadline } from '../../platform/index.ts'
import type { Clock, FrameLimits, Log, Secret } from '../../platform/types.ts'
import { WorkerError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import type { Handoff, PeerProver, ProcessIdentity, ProcessTable, TokenPeer, TokenSocket } from '../types.ts'
import type { SocketFolder } from './socket-folder.ts'

export interface TokenSocketDeps {
  clock: Clock
  log: Log
  table: Pick<ProcessTable, 'lookup'>
  peers: PeerProver
}

const FRAMES: FrameLimits = { maxInBytes: 4_096, maxOutBytes: 8_192, highWaterBytes: 8_192 }

/** The peer went, or was not heard in time: told apart from one that was found to be a stranger. */
class PeerGone extends Error {}

/** @throws WorkerError `private_dir_failed`. */
export async function serveTokenAt(deps: TokenSocketDeps, token: Secret, folder: SocketFolder): Promise<TokenSocket> {
  const { clock, log, table, peers } = deps
  const { dir, path } = folder
  const listeners: ((handoff: Handoff) => void)[] = []
  const waiting: Socket[] = []
  const sockets = new Set<Socket>()
  const closing = new AbortController()
  let worker: ProcessIdentity | null = null
  let taker: ProcessIdentity | null = null
  let deliveries = 0
  let busy = false
  let ended: Promise<void> | null = null
  let window: Disposable | null = clock.after(
    LIMITS.tokenWindowMs * LIMITS.tokenStartWindows,
    () => void end('expired'),
  )
  let poll: Disposable | null = null

  const tell = (handoff: Handoff): void => {
    if (handoff === 'spent') log.warn('the MCP bridge of a worker was started too often: it gets no token any more')
    if (handoff === 'refused') log.warn('a process that is not of the worker asked for its token')
    for (const listener of listeners) listener(handoff)
  }

  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => {
      sockets.delete(socket)
      const at = waiting.indexOf(socket)
      if (at !== -1) waiting.splice(at, 1)
    })
    void arrived(socket)
  })
  server.on('error', (error) => log.warn('the socket of a token failed', { error }))
  await listen()

  async function listen(): Promise<void> {
    try {
      server.listen(path)
      await once(server, 'listening')
      await chmod(path, 0o600)
    } catch (error) {
      server.close()
      const detail = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
      throw new WorkerError('private_dir_failed', "The socket for the agent's token could not be made.", {
        started: 'never',
        detail,
      })
    }
  }

  async function arrived(socket: Socket): Promise<void> {
    if (ended !== null) return void socket.destroy()
    if (taker !== null && !busy) {
      // A bridge that was started anew does not wait for the next look at the old one.
      busy = true
      const gone = await takerIsGone()
      busy = false
      if (ended !== null || !gone) return void socket.destroy()
      free()
    }
    if (waiting.length >= LIMITS.tokenWaiters || taker !== null) return void socket.destroy()
    waiting.push(socket)
    serveNext()
  }

  function serveNext(): void {
    if (worker === null || busy || taker !== null || ended !== null) return
    const socket = waiting.shift()
    if (socket === undefined) return
    if (deliveries >= LIMITS.tokenHandoffs) {
      socket.destroy()
      return void end('spent')
    }
    busy = true
    void handOver(socket, worker)
      .then(async (handoff) => {
        busy = false
        socket.destroy()
        if (ended !== null) return
        if (handoff === 'refused') return end('refused')
        if (handoff === 'undelivered') tell('undelivered')
        return serveNext()
      })
      .catch((error: unknown) => log.error('a token was not handed over', { error }))
  }

  async function handOver(socket: Socket, to: ProcessIdentity): Promise<'delivered' | 'undelivered' | 'refused'> {
    const peer = peerOf(socket)
    try {
      return await withDeadline(clock, LIMITS.tokenHandoffMs, closing.signal, async (signal) => {
        const proven = await peers.prove(peer, to, signal)
        if (proven === null || ended !== null) return 'refused'
        peer.send({ token: token.reveal('task_token') })
        if (!Taken.safeParse(await peer.receive(signal)).success) return 'refused'
        deliver(proven)
        return 'delivered'
      })
    } catch (error) {
      return error instanceof PeerGone ? 'undelivered' : 'refused'
    }
  }

  function peerOf(socket: Socket): TokenPeer {
    const frames = createFrameSocket(socket, { clock, limits: FRAMES })
    const received: unknown[] = []
    let next: PromiseWithResolvers<unknown> | null = null
    const give = (frame: unknown): void => {
      if (next === null) received.push(frame)
      else next.resolve(frame)
      next = null
    }
    frames.onFrame((frame) => give(frame))
    frames.onBadFrame(() => give(null))
    return {
      dir,
      send: (frame) => void frames.send(frame),
      receive(signal) {
        if (received.length > 0) return Promise.resolve(received.shift())
        const wanted = Promise.withResolvers<unknown>()
        next = wanted
        frames.onClose(() => wanted.reject(new PeerGone('the peer went')))
        signal.addEventListener('abort', () => wanted.reject(signal.reason), { once: true })
        return wanted.promise
      },
    }
  }

  function deliver(to: ProcessIdentity): void {
    deliveries += 1
    taker = to
    window?.[Symbol.dispose]()
    window = null
    for (const socket of waiting.splice(0)) socket.destroy()
    tell('delivered')
    watch(LIMITS.takerPollMs[0], 0)
  }

  /** Looks for the taker, less and less often. */
  function watch(pauseMs: number, errors: number): void {
    const watched = taker
    poll?.[Symbol.dispose]()
    poll = clock.after(pauseMs, () => {
      void table.lookup(watched?.pid ?? 0).then(
        (now) => {
          if (taker !== watched || ended !== null) return
          const unreadable = now !== null && !now.exact
          const gone = now === null || (now.exact && now.startToken !== watched?.startToken)
          if (gone || (unreadable && errors + 1 >= LIMITS.takerErrors)) return free()
          watch(Math.min(pauseMs * 2, LIMITS.takerPollMs[1]), unreadable ? errors + 1 : 0)
        },
        (error: unknown) => log.warn('the taker of a token could not be looked for', { error }),
      )
    })
  }

  async function takerIsGone(): Promise<boolean> {
    const watched = taker
    if (watched === null) return true
    const now = await table.lookup(watched.pid)
    return now === null || (now.exact && now.startToken !== watched.startToken)
  }

  /** The taker is gone: whoever starts in its place may take the token. */
  function free(): void {
    if (taker === null) return
    taker = null
    poll?.[Symbol.dispose]()
    openWindow()
    serveNext()
  }

  function openWindow(): void {
    window?.[Symbol.dispose]()
    window = clock.after(LIMITS.tokenWindowMs, () => void end('expired'))
  }

  function end(handoff: Handoff): Promise<void> {
    ended ??= (async () => {
      window?.[Symbol.dispose]()
      poll?.[Symbol.dispose]()
      closing.abort(new Error('the socket of the token is closed'))
      const closed = once(server, 'close')
      // Node removes the socket's file with it.
      server.close()
      for (const socket of sockets) socket.destroy()
      tell(handoff)
      await closed
      if (folder.made !== null) await rm(folder.made, { recursive: true, force: true })
    })()
    return ended
  }

  return {
    path,
    dir,
    get taker() {
      return taker
    },
    onHandoff: (listener) => void listeners.push(listener),
    arm(armed) {
      if (worker !== null || ended !== null) return
      worker = armed
      openWindow()
      serveNext()
    },
    close: () => end('closed'),
  }
}
