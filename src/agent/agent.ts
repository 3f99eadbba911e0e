/** The agent's side of ACP v1: which request means what. */
import { randomUUID } from 'node:crypto'
import { realpath, stat } from 'node:fs/promises'
import type { Readable, Writable } from 'node:stream'
import type { AgentCapabilities } from '@agentclientprotocol/sdk/unstable'

import type { AgentEnvironment } from './environment.ts'
import { closeOpenCalls, createHistory, loadHistory } from './history.ts'
import type { History } from './history.ts'
import type { McpConnection } from './mcp.ts'
import { connectMcpServers } from './mcp.ts'
import { createModelSource } from './model.ts'
import type { NewSession } from './protocol.ts'
import {
  Cancel,
  Initialize,
  LoadSession,
  ModeId,
  NewSession as NewSessionParams,
  PromptTurn,
  SetMode,
} from './protocol.ts'
import type { Peer } from './rpc.ts'
import { createPeer, RPC, RpcError } from './rpc.ts'
import type { Session } from './session.ts'
import { createSession, replay } from './session.ts'
import { BUILTIN_TOOLS, killAllGroups } from './tools/index.ts'

const PROTOCOL_VERSION = 1
/** Of the agent, not of the product: it counts what a client could notice. */
const AGENT_VERSION = '1.0.0'
const MAX_SESSIONS = 64
/** Above the limit of a cancel. */
const FINISH_LIMIT_MS = 1_500

const CAPABILITIES: AgentCapabilities = {
  loadSession: true,
  promptCapabilities: { image: true, embeddedContext: true, audio: false },
  mcpCapabilities: { http: false, sse: false },
  sessionCapabilities: { resume: {}, fork: {}, close: {}, additionalDirectories: {} },
}

export interface Agent {
  /** Resolves when the client has closed its end and everything that ran is over. */
  closed: Promise<void>
  /** Ends everything at once. Synchronous: fit for a signal handler. */
  kill(): void
}

export function startAgent(deps: { environment: AgentEnvironment; input: Readable; output: Writable }): Agent {
  const sessions = new Map<string, { session: Session; history: History; mcp: McpConnection }>()
  const turns = new Set<Promise<unknown>>()
  const models = createModelSource(deps.environment.model)
  const home = deps.environment.home

  const peer: Peer = createPeer(deps.input, deps.output, {
    async request(method, params) {
      switch (method) {
        case 'initialize':
          return initialize(params)
        case 'authenticate':
        case 'logout':
          return {}
        case 'session/new': {
          const given = NewSessionParams.parse(params)
          const cwd = await existingFolder(given.cwd)
          const id = randomUUID()
          const session = await open(id, { ...given, cwd }, () => createHistory(home, id, cwd))
          return { sessionId: id, modes: session.modes() }
        }
        case 'session/load':
        case 'session/resume':
          return reopen(LoadSession.parse(params), method === 'session/load')
        case 'session/fork':
          return fork(LoadSession.parse(params))
        case 'session/set_mode':
          return setMode(params)
        case 'session/prompt': {
          const { sessionId, prompt } = PromptTurn.parse(params)
          const turn = find(sessionId).prompt(prompt)
          turns.add(turn)
          return turn.finally(() => turns.delete(turn))
        }
        case 'session/close': {
          await close(Cancel.parse(params).sessionId)
          return {}
        }
        default:
          throw new RpcError(RPC.methodNotFound, `Method not found: ${method}`)
      }
    },
    notification(method, params) {
      if (method !== 'session/cancel') return
      const parsed = Cancel.safeParse(params)
      if (parsed.success) sessions.get(parsed.data.sessionId)?.session.cancel()
    },
  })

  function initialize(params: unknown): object {
    Initialize.parse(params)
    // The SDK takes a while to load; the person's first prompt takes longer to be typed.
    setTimeout(() => void models.load()?.catch(() => undefined), 50).unref()
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentCapabilities: CAPABILITIES,
      agentInfo: { name: 'wheelhouse', title: 'Wheelhouse', version: AGENT_VERSION },
      authMethods: [],
    }
  }

  function find(sessionId: string): Session {
    const found = sessions.get(sessionId)
    if (found === undefined) throw noSuchSession(sessionId)
    return found.session
  }

  async function open(id: string, given: NewSession, prepare: () => Promise<History>): Promise<Session> {
    if (sessions.size >= MAX_SESSIONS) throw new RpcError(RPC.invalidRequest, 'Too many sessions are open.')
    const mcp = await connectMcpServers(given.mcpServers, given.cwd)
    try {
      const history = await prepare()
      const session = createSession({
        peer,
        id,
        workspace: { cwd: given.cwd, roots: given.additionalDirectories ?? [] },
        history,
        models,
        tools: [...BUILTIN_TOOLS, ...mcp.tools],
      })
      sessions.set(id, { session, history, mcp })
      return session
    } catch (thrown) {
      mcp.close()
      throw thrown
    }
  }

  async function reopen(given: LoadSession, shown: boolean): Promise<object> {
    const cwd = await existingFolder(given.cwd)
    await close(given.sessionId)
    const history = await loadHistory(home, given.sessionId)
    if (history === null) throw noSuchSession(given.sessionId)
    const session = await open(given.sessionId, { ...given, cwd }, () => Promise.resolve(history))
    if (shown) await replay(peer, given.sessionId, history)
    return { modes: session.modes() }
  }

  /** A session of its own that begins with what was said in another one so far. */
  async function fork(given: LoadSession): Promise<object> {
    const cwd = await existingFolder(given.cwd)
    const origin = sessions.get(given.sessionId)?.history ?? (await loadHistory(home, given.sessionId))
    if (origin === null) throw noSuchSession(given.sessionId)
    const id = randomUUID()
    const session = await open(id, { ...given, cwd }, async () => {
      const history = await createHistory(home, id, cwd)
      await history.append(closeOpenCalls(structuredClone([...origin.messages])))
      return history
    })
    return { sessionId: id, modes: session.modes() }
  }

  async function setMode(params: unknown): Promise<object> {
    const { sessionId, modeId } = SetMode.parse(params)
    const session = find(sessionId)
    session.setMode(ModeId.parse(modeId))
    const update = { sessionUpdate: 'current_mode_update', currentModeId: modeId }
    await peer.notify('session/update', { sessionId, update })
    return {}
  }

  async function close(sessionId: string): Promise<void> {
    const found = sessions.get(sessionId)
    if (found === undefined) return
    sessions.delete(sessionId)
    found.session.cancel()
    found.mcp.close()
  }

  function kill(): void {
    for (const { session, mcp } of sessions.values()) {
      session.cancel()
      mcp.close()
    }
    killAllGroups()
  }

  /** The turns that a gone client leaves are cancelled, not cut: what was said stays in their histories. */
  async function finish(): Promise<void> {
    for (const { session } of sessions.values()) session.cancel()
    await Promise.race([Promise.allSettled(turns), new Promise((resolve) => setTimeout(resolve, FINISH_LIMIT_MS))])
    kill()
  }

  return { closed: peer.closed.then(finish), kill }
}

function noSuchSession(sessionId: string): RpcError {
  return new RpcError(RPC.resourceNotFound, 'There is no such session.', { sessionId })
}

async function existingFolder(path: string): Promise<string> {
  try {
    if ((await stat(path)).isDirectory()) return await realpath(path)
  } catch {
    // Said below, in the words of the protocol.
  }
  throw new RpcError(RPC.invalidParams, `The session's folder does not exist: ${path}`)
}
