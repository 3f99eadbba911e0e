/**
 * The built interface over a host of a spec's own words: the same page, socket and frames as the browser host's, with
 * answers that pass the real contract. It can say more, and faster, than any agent.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join } from 'node:path'
import { WebSocketServer } from 'ws'
import type { WebSocket } from 'ws'
import { ClientFrame, procedures, PROTOCOL_VERSION, topics } from '../../../src/shared/bridge/index.ts'
import type {
  HostFrame,
  ParsedInput,
  ProcedureName,
  ProcedureOutput,
  TopicEvent,
  TopicName,
} from '../../../src/shared/bridge/index.ts'
import { AppError, toWireError } from '../../../src/shared/errors.ts'
import { ROOT } from '../../electron/launch.ts'

export type Answers = { [N in ProcedureName]?: (input: ParsedInput<N>) => ProcedureOutput<N> }
/** What a topic says as soon as somebody follows it. */
export type Says = { [N in TopicName]?: TopicEvent<N> }

export interface ScriptedHost {
  url: string
  /** Sends events to all who follow the topic. They are checked by their contract. */
  publish<N extends TopicName>(name: N, events: readonly TopicEvent<N>[]): void
  /** Resolves once somebody follows the topic. */
  followed(name: TopicName): Promise<void>
  close(): Promise<void>
}

const RENDERER = join(ROOT, 'out/renderer')
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
}

export async function startScriptedHost(answers: Answers, says: Says): Promise<ScriptedHost> {
  const followers = new Map<TopicName, Map<WebSocket, number>>()
  const follows = new Map<TopicName, PromiseWithResolvers<void>>()
  const followed = (name: TopicName): PromiseWithResolvers<void> => {
    const known = follows.get(name) ?? Promise.withResolvers<void>()
    follows.set(name, known)
    return known
  }

  const answer = (name: ProcedureName, raw: unknown): unknown => {
    const fn = answers[name] as ((input: unknown) => unknown) | undefined
    if (fn === undefined) throw new AppError('procedure_unknown', `This host does not answer ${name}.`)
    return procedures[name].output.parse(fn(procedures[name].input.parse(raw)))
  }

  const onFrame = (socket: WebSocket, frame: ClientFrame): void => {
    const send = (reply: HostFrame): void => socket.send(JSON.stringify(reply))
    if ('call' in frame) {
      try {
        send({ id: frame.id, ok: true, output: answer(frame.call as ProcedureName, frame.input) })
      } catch (thrown) {
        send({ id: frame.id, ok: false, error: toWireError(thrown) })
      }
    } else if ('sub' in frame) {
      const name = frame.sub as TopicName
      followers.set(name, (followers.get(name) ?? new Map<WebSocket, number>()).set(socket, frame.id))
      if (says[name] !== undefined) send({ id: frame.id, event: topics[name].event.parse(says[name]) })
      followed(name).resolve()
    } else if ('unsub' in frame) {
      for (const each of followers.values()) if (each.get(socket) === frame.id) each.delete(socket)
    }
  }

  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://host').pathname
    try {
      const body = readFileSync(join(RENDERER, path === '/' ? 'index.html' : path))
      response
        .writeHead(200, { 'content-type': TYPES[extname(path) || '.html'] ?? 'application/octet-stream' })
        .end(body)
    } catch {
      response.writeHead(404).end()
    }
  })
  const sockets = new WebSocketServer({ server, path: '/bridge', perMessageDeflate: false })
  sockets.on('connection', (socket) => {
    const hello = { protocol: PROTOCOL_VERSION, generation: 'scripted', app: '0', installation: 'i', capabilities: [] }
    socket.send(JSON.stringify({ hello } satisfies HostFrame))
    socket.on('message', (data) =>
      onFrame(socket, ClientFrame.parse(JSON.parse(Buffer.isBuffer(data) ? data.toString('utf8') : ''))),
    )
    socket.on('close', () => {
      for (const each of followers.values()) each.delete(socket)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/`,
    publish(name, events) {
      for (const event of events) {
        const checked = topics[name].event.parse(event)
        for (const [socket, id] of followers.get(name) ?? []) socket.send(JSON.stringify({ id, event: checked }))
      }
    },
    followed: (name) => followed(name).promise,
    async close() {
      for (const socket of sockets.clients) socket.terminate()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
