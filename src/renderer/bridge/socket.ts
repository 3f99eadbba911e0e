import { createBridgeClient } from '../../shared/bridge/client.ts'
import type { Bridge, ChannelHandlers, FrameChannel } from '../../shared/bridge/client.ts'
import { HostFrame } from '../../shared/bridge/index.ts'
import { AppError } from '../../shared/errors.ts'
import { contractChecks } from './checks.ts'

/** A link may also name the view that it opens. */
const LINK = /^#token=([A-Za-z0-9_-]+)(?:&view=(\/[A-Za-z0-9/_-]*))?$/

/** The bridge of a page that the browser host served. A link's one-time token is exchanged first, and leaves the address. */
export function connectBySocket(page: Window): Bridge {
  const exchanged = exchangeToken(page)
  // A link that is put into the address of an open page changes its fragment alone.
  page.addEventListener('hashchange', () => LINK.test(page.location.hash) && page.location.reload())
  return createBridgeClient({
    connect: (handlers) => openSocket(page, exchanged, handlers),
    nowMs: () => Date.now(),
    after: (ms, fn) => {
      const timer = page.setTimeout(fn, ms)
      return () => page.clearTimeout(timer)
    },
    ...(import.meta.env.DEV ? { check: contractChecks } : {}),
  })
}

function exchangeToken(page: Window): Promise<AppError | null> {
  const [, token, view = ''] = LINK.exec(page.location.hash) ?? []
  if (token === undefined) return Promise.resolve(null)
  page.history.replaceState(null, '', view === '' ? page.location.pathname : `#${view}`)
  return page
    .fetch('/session', { method: 'POST', body: JSON.stringify({ token }) })
    .then((reply) => {
      if (reply.ok) return null
      return reply.status === 429
        ? new AppError('exchange_locked', 'Too many wrong links were tried. Wait a minute, then open a new one.')
        : new AppError('unauthenticated', 'This link was used already. Run "npm start -- --browser" for a new one.')
    })
    .catch(() => null)
}

function openSocket(page: Window, exchanged: Promise<AppError | null>, handlers: ChannelHandlers): FrameChannel {
  let socket: WebSocket | null = null
  let closed = false
  void exchanged.then((refusal) => {
    if (closed) return
    const scheme = page.location.protocol === 'https:' ? 'wss' : 'ws'
    socket = new WebSocket(`${scheme}://${page.location.host}/bridge`)
    socket.addEventListener('message', (message) => {
      const frame = readFrame(message.data)
      if (frame !== null) handlers.frame(frame)
    })
    let opened = false
    socket.addEventListener('open', () => {
      opened = true
    })
    socket.addEventListener('close', () => {
      if (closed) return
      closed = true
      if (opened) return handlers.closed({ final: false, error: null })
      // A socket that never opened: the host is away, or it does not know this browser. Only asking again tells.
      void isHostThere(page).then((there) =>
        handlers.closed({
          final: there,
          error:
            refusal ??
            new AppError(
              'unauthenticated',
              'This browser is not let in yet. Run "npm start -- --browser" and open the link that it prints.',
            ),
        }),
      )
    })
  })
  return {
    send: (frame) => socket?.readyState === WebSocket.OPEN && socket.send(JSON.stringify(frame)),
    close: () => {
      closed = true
      socket?.close()
    },
  }
}

const isHostThere = (page: Window): Promise<boolean> =>
  page.fetch('/', { method: 'HEAD', cache: 'no-store' }).then(
    (reply) => reply.ok,
    () => false,
  )

function readFrame(data: unknown): HostFrame | null {
  if (typeof data !== 'string') return null
  const raw: unknown = JSON.parse(data)
  if (isEventFrame(raw)) return raw
  const parsed = HostFrame.safeParse(raw)
  return parsed.success ? parsed.data : null
}

/** Events come by the thousand: their frame is looked at directly. Of what is in it, `check` knows. */
function isEventFrame(raw: unknown): raw is { id: number; event: unknown } {
  return typeof raw === 'object' && raw !== null && 'event' in raw && 'id' in raw && typeof raw.id === 'number'
}
