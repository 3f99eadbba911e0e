import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { AppError } from '../../shared/errors.ts'
import { createAnswering } from './answering.ts'
import type { Rehearsal, RehearsalDeps } from './types.ts'

const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 60_000
const MAX_CONNECTIONS = 256

/** @see Rehearsal */
export function createRehearsal(deps: RehearsalDeps): Rehearsal {
  const log = deps.log.child({ system: 'rehearsal' })
  let running: Promise<Running> | null = null

  return {
    async start() {
      running ??= listen({ ...deps, log }).catch((thrown: unknown) => {
        running = null
        throw thrown
      })
      const { origin } = await running
      return { origin }
    },
    async stop() {
      const stopped = running
      running = null
      // A start that failed has told its caller, and left nothing to stop.
      const up = await stopped?.catch(() => null)
      await up?.stop()
    },
  }
}

interface Running {
  origin: string
  stop(): Promise<void>
}

async function listen(deps: RehearsalDeps): Promise<Running> {
  const stopping = new AbortController()
  const answer = createAnswering(deps)
  const server = createServer((request, response) => {
    void handle(answer, request, response, stopping.signal).catch((thrown: unknown) => {
      deps.log.error('an answer broke off', { error: thrown })
      response.destroy()
    })
  })
  server.headersTimeout = HEADERS_TIMEOUT_MS
  server.requestTimeout = REQUEST_TIMEOUT_MS
  server.maxConnections = MAX_CONNECTIONS
  const port = await open(server)
  deps.log.info('the rehearsal listens', { port })
  return {
    origin: `http://127.0.0.1:${port}`,
    async stop() {
      stopping.abort(new AppError('aborted', 'The rehearsal was stopped.'))
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

function open(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown): void =>
      reject(new AppError('route_listener_failed', 'The rehearsal found no free port on this machine.', { cause }))
    server.once('error', fail)
    server.listen({ host: '127.0.0.1', port: 0 }, () => {
      server.off('error', fail)
      const address = server.address()
      if (address === null || typeof address === 'string') fail(new Error('the listener has no port'))
      else resolve(address.port)
    })
  })
}

type Answering = ReturnType<typeof createAnswering>

/** One request, under a signal that aborts when the client goes away or the rehearsal stops. */
async function handle(
  answer: Answering,
  request: IncomingMessage,
  response: ServerResponse,
  stopping: AbortSignal,
): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => gone.abort(new AppError('aborted', 'The client went away.')))
  const signal = AbortSignal.any([gone.signal, stopping])
  try {
    await answer(request, response, signal)
  } catch (thrown) {
    if (!signal.aborted) throw thrown
    response.destroy()
  }
}
