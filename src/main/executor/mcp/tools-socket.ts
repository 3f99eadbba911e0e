/** Where the MCP bridge of one worker calls Wheelhouse's own tools. Its token opens the connection; here only its hash is kept. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { chmod } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { BRIDGE_FRAME_BYTES, ToolCall, TokenFrame } from '../../../shared/mcp-bridge.ts'
import type { BridgeTool, ToolAnswer } from '../../../shared/mcp-bridge.ts'
import { createFrameSocket } from '../../platform/index.ts'
import type { Clock, FrameLimits } from '../../platform/index.ts'

const FRAMES: FrameLimits = {
  maxInBytes: BRIDGE_FRAME_BYTES,
  maxOutBytes: BRIDGE_FRAME_BYTES,
  highWaterBytes: BRIDGE_FRAME_BYTES,
}
const HELLO_MS = 5_000
const MAX_CONNECTIONS = 8
const MAX_CALLS = 16

export interface ToolsSocketOptions {
  clock: Clock
  path: string
  /** Hex. */
  tokenSha256: string
  tools: readonly BridgeTool[]
  /** Never rejects. */
  call(tool: string, args: unknown, signal: AbortSignal): Promise<{ text: string; failed: boolean }>
}

/** Listens at `path`, for this user alone. */
export async function serveTools(options: ToolsSocketOptions): Promise<AsyncDisposable> {
  const { clock, path, tools } = options
  const expected = Buffer.from(options.tokenSha256, 'hex')
  const sockets = new Set<Socket>()
  const closing = new AbortController()

  const isToken = (frame: unknown): boolean => {
    const parsed = TokenFrame.safeParse(frame)
    return parsed.success && timingSafeEqual(createHash('sha256').update(parsed.data.token).digest(), expected)
  }

  function serve(socket: Socket): void {
    sockets.add(socket)
    const frames = createFrameSocket(socket, { clock, limits: FRAMES })
    const hello = clock.after(HELLO_MS, () => socket.destroy())
    const gone = new AbortController()
    const signal = AbortSignal.any([gone.signal, closing.signal])
    let known = false
    let calls = 0
    frames.onClose(() => {
      hello[Symbol.dispose]()
      sockets.delete(socket)
      gone.abort(new Error('The bridge is gone.'))
    })
    frames.onBadFrame(() => socket.destroy())
    frames.onFrame((frame) => {
      if (!known) {
        known = isToken(frame)
        hello[Symbol.dispose]()
        if (known) frames.send({ tools })
        else socket.destroy()
        return
      }
      const called = ToolCall.safeParse(frame)
      if (!called.success) return void socket.destroy()
      const { id, tool, arguments: args } = called.data
      const answer = (given: Omit<ToolAnswer, 'id'>): void => void frames.send({ id, ...given })
      if (calls >= MAX_CALLS) return answer({ text: 'Too many calls at once. Wait for one to end.', failed: true })
      calls += 1
      void options.call(tool, args, signal).then((given) => {
        calls -= 1
        answer(given)
      })
    })
  }

  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    if (sockets.size >= MAX_CONNECTIONS) socket.destroy()
    else serve(socket)
  })
  server.listen(path)
  await once(server, 'listening')
  await chmod(path, 0o600)
  return {
    async [Symbol.asyncDispose]() {
      closing.abort(new Error('The worker ends.'))
      const closed = once(server, 'close')
      // Node removes the socket's file with it.
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
