import type { z } from 'zod'
import { procedures, PROTOCOL_VERSION, topics, WIRE_LIMITS, ClientFrame } from '../../shared/bridge/index.ts'
import type { EndReason, HostFrame, ProcedureName, TopicName } from '../../shared/bridge/index.ts'
import { AppError, toWireError } from '../../shared/errors.ts'
import type { Actor } from '../../shared/vocabulary.ts'
import type { Clock, FrameConnection, Ids, Log } from '../platform/types.ts'
import type { CallContext, ConnectionInfo, Handlers, TopicSources } from './types.ts'

export interface BridgeServerDeps {
  clock: Clock
  ids: Ids
  log: Log
  handlers: Handlers
  sources: TopicSources
  app: { version: string; installation: string; capabilities: readonly string[] }
}

export interface BridgeServer {
  /** Serves one connection until it closes. Answers what the systems see of it. */
  attach(connection: FrameConnection, kind: ConnectionInfo['kind']): ConnectionInfo
  connections(): readonly ConnectionInfo[]
  /** Refuses new calls (`host_stopping`) and ends every topic with `stopping`. */
  stop(): void
}

/**
 * The host's side of the bridge, whatever carries the frames. Each input is parsed before a handler sees it and each
 * output before it leaves; a bad frame gets a typed error and the connection stays, until twenty in a row.
 */
export function createBridgeServer(deps: BridgeServerDeps): BridgeServer {
  const live = new Map<FrameConnection, { info: ConnectionInfo; stop(): void }>()
  let stopping = false
  return {
    attach(connection, kind) {
      const info: ConnectionInfo = { generation: generationOf(deps.ids), kind, shows: null, focused: false }
      const served = serveConnection(deps, connection, info, () => stopping)
      live.set(connection, { info, stop: () => served.stop() })
      connection.onClose(() => {
        live.delete(connection)
        served.end()
      })
      return info
    },
    connections: () => [...live.values()].map((each) => each.info),
    stop() {
      stopping = true
      for (const each of live.values()) each.stop()
    },
  }
}

const generationOf = (ids: Ids): string => Buffer.from(ids.bytes(24)).toString('base64url')

const actorOf = (info: ConnectionInfo): Actor => ({ via: info.kind, connection: info.generation })

function serveConnection(
  deps: BridgeServerDeps,
  connection: FrameConnection,
  info: ConnectionInfo,
  isStopping: () => boolean,
) {
  const calls = new Map<number, AbortController>()
  const subscriptions = new Map<number, AbortController>()
  let badFrames = 0

  const send = (frame: HostFrame): boolean => {
    const taken = connection.send(frame)
    // Topics wait for a slow reader; answers do not, and one who asks without ever reading would fill the host.
    if (connection.bufferedBytes() > WIRE_LIMITS.unreadBytes) connection.close()
    return taken
  }

  const bad = (error: AppError): void => {
    send({ bad: toWireError(error) })
    if (++badFrames >= WIRE_LIMITS.badFramesInARow) connection.close()
  }

  const onFrame = (raw: unknown): void => {
    const parsed = ClientFrame.safeParse(raw)
    if (!parsed.success) return bad(new AppError('frame_malformed', 'The host could not read that frame.'))
    badFrames = 0
    const frame = parsed.data
    if ('call' in frame) return startCall(frame.id, frame.call, frame.input)
    if ('cancel' in frame) return calls.get(frame.id)?.abort(new AppError('aborted', 'The caller cancelled it.'))
    if ('unsub' in frame) return subscriptions.get(frame.id)?.abort()
    startTopic(frame.id, frame.sub, frame.filter, frame.after)
  }

  const refuse = (id: number, error: AppError): void => {
    send({ id, ok: false, error: toWireError(error) })
  }

  const startCall = (id: number, name: string, input: unknown): void => {
    if (calls.has(id))
      return refuse(id, new AppError('frame_malformed', 'That call id is in use.', { detail: String(id) }))
    if (isStopping())
      return refuse(id, new AppError('host_stopping', 'Wheelhouse is closing. Start it again to go on.'))
    if (calls.size >= WIRE_LIMITS.callsInFlight) {
      return refuse(id, new AppError('too_many_calls', 'Too many calls are under way on this connection.'))
    }
    if (!isProcedure(name))
      return refuse(id, new AppError('procedure_unknown', 'There is no such procedure.', { detail: name.slice(0, 64) }))
    const abort = new AbortController()
    calls.set(id, abort)
    void runCall(name, input, abort)
      .then(
        (output) => send({ id, ok: true, output }),
        (thrown: unknown) => {
          if (!(thrown instanceof AppError))
            deps.log.error('a bridge procedure failed', { procedure: name, error: thrown })
          refuse(id, thrown instanceof AppError ? thrown : new AppError('internal', toWireError(thrown).message))
        },
      )
      .finally(() => calls.delete(id))
  }

  const runCall = async (name: ProcedureName, raw: unknown, abort: AbortController): Promise<unknown> => {
    const procedure = procedures[name]
    const input = parseInput(procedure.input, raw)
    using _deadline = deps.clock.after(procedure.deadlineMs, () =>
      abort.abort(new AppError('deadline_exceeded', 'That took too long and was given up.', { detail: name })),
    )
    const context: CallContext = { signal: abort.signal, connection: info, actor: actorOf(info) }
    // One signature for all: the map's types hold between name, input and output, which TypeScript cannot follow here.
    const handler = deps.handlers[name] as (input: unknown, context: CallContext) => unknown
    const output = await untilAborted(Promise.resolve(handler(input, context)), abort.signal)
    const checked = procedure.output.safeParse(output)
    if (!checked.success) {
      deps.log.error('a handler broke its contract', { procedure: name, issues: issuesOf(checked.error) })
      throw new AppError(
        'output_invalid',
        'Wheelhouse made an answer that breaks its own contract. The log has the details.',
      )
    }
    if (Buffer.byteLength(JSON.stringify(checked.data)) > WIRE_LIMITS.outputBytes) {
      throw new AppError('frame_too_large', 'The answer is too large for one frame. Ask for less at once.', {
        detail: name,
      })
    }
    return checked.data
  }

  const startTopic = (id: number, name: string, rawFilter: unknown, after: number | undefined): void => {
    const endWith = (error: AppError): void => {
      send({ id, end: 'error', error: toWireError(error) })
    }
    if (!isTopic(name))
      return endWith(new AppError('topic_unknown', 'There is no such topic.', { detail: name.slice(0, 64) }))
    if (subscriptions.size >= WIRE_LIMITS.subscriptions) {
      return endWith(new AppError('too_many_calls', 'Too many topics are open on this connection.'))
    }
    const filter = topics[name].filter.safeParse(rawFilter)
    if (!filter.success) return endWith(inputError(filter.error))
    subscriptions.get(id)?.abort()
    const abort = new AbortController()
    subscriptions.set(id, abort)
    void pump(id, name, filter.data, after, abort)
      .then(
        (reason) => reason === null || send({ id, end: reason }),
        (thrown: unknown) => {
          if (!(thrown instanceof AppError)) deps.log.error('a bridge topic failed', { topic: name, error: thrown })
          send({ id, end: 'error', error: toWireError(thrown) })
        },
      )
      .finally(() => {
        abort.abort()
        if (subscriptions.get(id) === abort) subscriptions.delete(id)
      })
  }

  /** Pulls from the source only while the connection takes what it is given. Null: the subscriber or the connection left. */
  const pump = async (
    id: number,
    name: TopicName,
    filter: unknown,
    after: number | undefined,
    abort: AbortController,
  ): Promise<EndReason | null> => {
    // As above: one signature for all sources.
    const source = deps.sources[name] as (filter: unknown, context: object) => AsyncIterable<unknown>
    const { signal } = abort
    for await (const event of source(filter, { after, signal, connection: info })) {
      if (signal.aborted) break
      if (!send({ id, event }) && !(await drained(signal))) return signal.aborted ? endReason(signal) : 'lagged'
    }
    return signal.aborted ? endReason(signal) : 'gone'
  }

  const drained = (signal: AbortSignal): Promise<boolean> =>
    new Promise((resolve) => {
      if (connection.bufferedBytes() < WIRE_LIMITS.bufferedBytes) return resolve(true)
      const finish = (ok: boolean): void => {
        timer[Symbol.dispose]()
        forget()
        signal.removeEventListener('abort', onAbort)
        resolve(ok)
      }
      const onAbort = (): void => finish(false)
      const timer = deps.clock.after(WIRE_LIMITS.laggedAfterMs, () => finish(false))
      const forget = connection.onDrain(() => finish(true))
      signal.addEventListener('abort', onAbort, { once: true })
    })

  connection.onFrame(onFrame)
  connection.onBadFrame(bad)
  send({
    hello: {
      protocol: PROTOCOL_VERSION,
      generation: info.generation,
      app: deps.app.version,
      installation: deps.app.installation,
      capabilities: [...deps.app.capabilities],
    },
  })

  return {
    stop(): void {
      for (const abort of subscriptions.values()) abort.abort(STOPPING)
    },
    end(): void {
      for (const abort of calls.values()) abort.abort(new AppError('aborted', 'The connection closed.'))
      for (const abort of subscriptions.values()) abort.abort()
    },
  }
}

const STOPPING = new AppError('host_stopping', 'Wheelhouse is closing.')
const endReason = (signal: AbortSignal): EndReason | null => (signal.reason === STOPPING ? 'stopping' : null)

const isProcedure = (name: string): name is ProcedureName => Object.hasOwn(procedures, name)
const isTopic = (name: string): name is TopicName => Object.hasOwn(topics, name)

function parseInput(schema: z.ZodType, raw: unknown): unknown {
  const parsed = schema.safeParse(raw)
  if (!parsed.success) throw inputError(parsed.error)
  return parsed.data
}

/** Names the fields and what is wrong with them, never the values: one of them may be a key. */
function inputError(error: z.ZodError): AppError {
  return new AppError('input_invalid', 'Something in that request is missing or malformed.', {
    detail: issuesOf(error),
  })
}

const issuesOf = (error: z.ZodError): string =>
  error.issues
    .slice(0, 8)
    .map((issue) => `${issue.path.join('.') || 'input'}: ${issue.code}`)
    .join('; ')

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void =>
      reject(signal.reason instanceof Error ? signal.reason : new AppError('aborted', 'The call was cancelled.'))
    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
