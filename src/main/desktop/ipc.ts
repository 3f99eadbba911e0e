import type { IpcMain, IpcMainInvokeEvent, WebContents } from 'electron'
import { z } from 'zod'
import { WIRE_LIMITS } from '../../shared/bridge/index.ts'
import { FRAME_CHANNEL, INVOKE_CHANNEL } from '../../shared/bridge/ipc.ts'
import { AppError, toWireError } from '../../shared/errors.ts'
import type { FrameConnection, Log } from '../platform/index.ts'

/** What a preload invokes: it opens, sends one frame, or says how much of what it was sent it has taken. */
const Invocation = z.union([
  z.strictObject({ open: z.literal(true) }),
  z.strictObject({ frame: z.string() }),
  z.strictObject({ taken: z.int().min(0) }),
])

export interface IpcTransportDeps {
  ipcMain: Pick<IpcMain, 'handle'>
  log: Log
  /** Whether the app made this window itself. */
  isOurs(contents: WebContents): boolean
  /** The only origin that may speak. */
  origin: string
  attach(connection: FrameConnection): void
}

interface Line {
  connection: FrameConnection
  receive(text: string): void
  taken(chars: number): void
  drop(): void
}

/**
 * The bridge over Electron's IPC: one handled channel in, one event channel out. Who speaks must be the top frame of a
 * window that the app made, at the app's own origin; anything else is refused and logged.
 */
export function serveIpc(deps: IpcTransportDeps): void {
  const lines = new Map<WebContents, Line>()

  const open = (contents: WebContents): void => {
    lines.get(contents)?.drop()
    const line = createLine(contents)
    lines.set(contents, line)
    const drop = (): void => {
      line.drop()
      if (lines.get(contents) === line) lines.delete(contents)
    }
    contents.once('destroyed', drop)
    contents.once('render-process-gone', drop)
    deps.attach(line.connection)
  }

  deps.ipcMain.handle(INVOKE_CHANNEL, (event, raw: unknown) => {
    const refusal = refuse(deps, event)
    if (refusal !== null) {
      deps.log.warn('an IPC call was refused', { reason: refusal.message })
      return { ok: false, error: toWireError(refusal) }
    }
    const message = Invocation.safeParse(raw)
    if (!message.success) {
      return { ok: false, error: toWireError(new AppError('frame_malformed', 'The host could not read that message.')) }
    }
    if ('open' in message.data) open(event.sender)
    else if ('frame' in message.data) lines.get(event.sender)?.receive(message.data.frame)
    else lines.get(event.sender)?.taken(message.data.taken)
    return { ok: true }
  })
}

function refuse(deps: IpcTransportDeps, event: IpcMainInvokeEvent): AppError | null {
  const frame = event.senderFrame
  const no = (why: string): AppError => new AppError('sender_refused', why)
  if (!deps.isOurs(event.sender)) return no('The window was not made by the app.')
  // A frame that navigated away or was closed is null, and a null frame proves nothing.
  if (frame === null || frame.parent !== null) return no('Only the top frame of a window may call.')
  if (frame.origin !== deps.origin) return no('The page is not the app’s own.')
  return null
}

function createLine(contents: WebContents): Line {
  const onClose = new Set<() => void>()
  const onDrain = new Set<() => void>()
  let onFrame: (frame: unknown) => void = () => {}
  let onBadFrame: (error: AppError) => void = () => {}
  let sentChars = 0
  let takenChars = 0
  let closed = false
  const buffered = (): number => sentChars - takenChars

  const drop = (): void => {
    if (closed) return
    closed = true
    for (const listener of onClose) listener()
  }

  return {
    drop,
    receive(text) {
      if (closed) return
      if (text.length > WIRE_LIMITS.inputBytes + 65_536) {
        return onBadFrame(new AppError('frame_too_large', 'A frame may hold one mebibyte at most.'))
      }
      let frame: unknown
      try {
        frame = JSON.parse(text)
      } catch {
        return onBadFrame(new AppError('frame_malformed', 'That frame is no JSON.'))
      }
      onFrame(frame)
    },
    taken(chars) {
      takenChars = Math.min(sentChars, Math.max(takenChars, chars))
      if (buffered() >= WIRE_LIMITS.bufferedBytes) return
      for (const listener of onDrain) listener()
    },
    connection: {
      send(frame) {
        if (closed || contents.isDestroyed()) return true
        const text = JSON.stringify(frame)
        sentChars += text.length
        contents.send(FRAME_CHANNEL, text)
        return buffered() < WIRE_LIMITS.bufferedBytes
      },
      onFrame(listener) {
        onFrame = listener
      },
      onBadFrame(listener) {
        onBadFrame = listener
      },
      onClose(listener) {
        onClose.add(listener)
      },
      onDrain(listener) {
        onDrain.add(listener)
        return () => onDrain.delete(listener)
      },
      bufferedBytes: buffered,
      close: drop,
    },
  }
}
