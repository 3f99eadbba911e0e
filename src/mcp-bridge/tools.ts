/** The host's tools, called over the connection that the token opens. */
import { ToolAnswer, ToolsFrame } from '../shared/mcp-bridge.ts'
import type { BridgeTool } from '../shared/mcp-bridge.ts'
import { connectFrames } from './frames.ts'

const CONNECT_MS = 10_000

export interface HostTools {
  readonly tools: readonly BridgeTool[]
  /** Never rejects: a call that the host cannot take is an answer that says why. */
  call(tool: string, args: Readonly<Record<string, unknown>>): Promise<Pick<ToolAnswer, 'text' | 'failed'>>
}

/** @throws Error: the host does not know this token. */
export async function connectTools(socketPath: string, token: string): Promise<HostTools> {
  const frames = await connectFrames(socketPath, CONNECT_MS)
  frames.send({ token })
  const { tools } = ToolsFrame.parse(await frames.receive())
  const waiting = new Map<number, (answer: Pick<ToolAnswer, 'text' | 'failed'>) => void>()
  let nextId = 0
  let lost = false

  void (async () => {
    for (;;) {
      const answer = ToolAnswer.parse(await frames.receive())
      waiting.get(answer.id)?.(answer)
      waiting.delete(answer.id)
    }
  })().catch(() => {
    lost = true
    for (const resolve of waiting.values()) resolve(LOST)
    waiting.clear()
  })

  return {
    tools,
    call(tool, args) {
      if (lost) return Promise.resolve(LOST)
      const id = nextId++
      return new Promise((resolve) => {
        waiting.set(id, resolve)
        frames.send({ id, tool, arguments: args })
      })
    },
  }
}

const LOST = { text: 'Wheelhouse is not there any more.', failed: true }
