/** One pair of sockets, agent and Provider, with the bounds and the judgement between them. */
import type { RawData, WebSocket } from 'ws'
import { AppError } from '../../../shared/errors.ts'
import type { Secret } from '../../platform/types.ts'
import { outcomeOf } from '../breaker/index.ts'
import { blankBytes } from '../upstream/index.ts'
import { createFactReader, streamErrorOf, terminalOf } from './answer-facts.ts'
import type { FactMap } from './answer-facts.ts'
import { summaryOf } from './answer-watch.ts'
import { planEdits } from './edits.ts'
import { createExchangeNotes } from './exchange-notes.ts'
import type { ExchangeNotes } from './exchange-notes.ts'
import type { Flight } from './flights.ts'
import { asAppError } from './refusals.ts'
import { createRequestReader } from './request-reader.ts'
import { applySplices } from './splices.ts'
import type { TunnelsDeps } from './tunnels.ts'
import type { RouteBinding } from './types.ts'

/** Above Codex's own 300 s, so that the client is the one to give up first. */
const SILENCE_MS = 330_000
/** What may wait for a side that does not read. */
const QUEUED_BYTES = 1_048_576
/** How long a side that was told to close may take. */
const CLOSE_MS = 2_000
const TERMINAL_WORDS = ['"response.completed"', '"response.incomplete"', '"response.failed"', '"error"'] as const

export interface TunnelEnds {
  readonly binding: RouteBinding
  readonly agent: WebSocket
  readonly provider: WebSocket
  readonly key: Secret | null
}

export interface Tunnel {
  close(code: number): void
}

interface Running {
  readonly flight: Flight
  readonly notes: ExchangeNotes
}

export function createTunnel(deps: TunnelsDeps, { binding, agent, provider, key }: TunnelEnds): Tunnel {
  const { clock, port, log } = deps
  const { routeDigest } = binding
  let running: Running | null = null
  let marked = binding.historyState === 'may_contain_opaque'
  let closed = false
  /** The Provider's messages, while the first of them waits for the history's mark. */
  let waiting: Buffer[] | null = null
  let silence = clock.after(SILENCE_MS, () => close(1011))

  function heard(): void {
    silence[Symbol.dispose]()
    silence = clock.after(SILENCE_MS, () => close(1011))
  }

  function close(code: number): void {
    if (closed) return
    closed = true
    silence[Symbol.dispose]()
    if (running !== null) {
      if (running.notes.end === 'unknown') {
        running.notes.end = 'upstream_disconnected'
        running.notes.code = 'upstream_disconnected'
      }
      finish()
    }
    for (const socket of [agent, provider]) {
      const kill = clock.after(CLOSE_MS, () => socket.terminate())
      socket.once('close', () => kill[Symbol.dispose]())
      socket.close(code)
      if (socket.readyState === socket.CLOSED) kill[Symbol.dispose]()
    }
  }

  function finish(): void {
    const done = running
    running = null
    if (done === null) return
    done.flight.signal.removeEventListener('abort', onAbort)
    done.flight.end()
    const exchange = done.notes.record(deps.nextNumber())
    done.notes.attempt?.end(outcomeOf(exchange))
    port.record(exchange)
  }

  /** The route was released, or the Router stops. */
  const onAbort = (): void => close(1001)

  /** What is sent on, never faster than it is read. */
  function pass(from: WebSocket, to: WebSocket, data: Buffer | string): void {
    to.send(data, { binary: false }, () => {
      if (from.isPaused && to.bufferedAmount <= QUEUED_BYTES) from.resume()
    })
    if (to.bufferedAmount > QUEUED_BYTES) from.pause()
  }

  /** Refuses one request and keeps the socket. */
  function refuse(error: AppError): void {
    const { code, message } = error
    const status = error.retryable ? 503 : 400
    const body = { type: 'wheelhouse_error', code, message, param: null }
    agent.send(JSON.stringify({ type: 'error', status, status_code: status, error: body }))
  }

  function fromAgent(bytes: Buffer): void {
    if (!isCreate(bytes)) return pass(agent, provider, bytes)
    if (port.binding(routeDigest)?.generation !== binding.generation || !port.tunnelsWebSocket(binding)) {
      // It connects anew and says all of it again, to whom the binding names now.
      return close(1012)
    }
    let flight: Flight | null = null
    try {
      if (running !== null) throw new AppError('route_binding_busy', 'A response is still under way on this socket.')
      const notes = createExchangeNotes(clock, binding, 'responses')
      notes.key = key
      notes.bytesIn = bytes.length
      const reader = createRequestReader({ protocol: 'responses', strip: false })
      reader.write(bytes)
      const facts = reader.end()
      notes.modelAsked = facts.model.text.slice(0, 256)
      const edits = planEdits(binding, facts, () => false)
      notes.modelSent = edits.modelSent
      notes.flags = [...edits.flags, 'websocket']
      flight = deps.flights.begin(routeDigest)
      notes.attempt = port.begin(binding.connectionId, false)
      flight.signal.addEventListener('abort', onAbort, { once: true })
      running = { flight, notes }
      return pass(agent, provider, Buffer.concat(applySplices([bytes], edits.splices)))
    } catch (thrown) {
      flight?.end()
      return refuse(asAppError(thrown))
    }
  }

  function fromProvider(bytes: Buffer): void {
    if (waiting !== null) return void waiting.push(bytes)
    if (marked) return deliver(bytes)
    // Before the first byte: a history wrongly called empty could be sent where it cannot be read.
    waiting = [bytes]
    void port.markOpaque(routeDigest, { strips: false }).then(({ applied }) => {
      if (!applied) {
        log.error('a history could not be marked; the socket is closed', { sessionId: binding.sessionId })
        return close(1011)
      }
      marked = true
      const held = waiting ?? []
      waiting = null
      for (const each of held) deliver(each)
      return undefined
    })
  }

  function deliver(bytes: Buffer): void {
    if (closed) return
    const facts = TERMINAL_WORDS.some((word) => bytes.includes(word)) ? factsOf(bytes) : null
    const type = facts?.get('type') ?? ''
    const terminal = facts === null ? null : terminalOf('responses', type, facts)
    running?.notes.sent(bytes.length)
    pass(provider, agent, type === 'error' ? blankBytes(bytes, key) : bytes)
    if (terminal === null || facts === null || running === null) return
    const { notes } = running
    notes.origin = 'upstream'
    notes.status = 200
    notes.end = terminal
    notes.summary = {
      ...summaryOf('responses', facts),
      streamError: terminal === 'failed' ? streamErrorOf(facts) : null,
    }
    finish()
    if (port.binding(routeDigest)?.generation !== binding.generation) close(1012)
  }

  agent.on('error', () => undefined)
  agent.on('message', (data, isBinary) => {
    heard()
    if (isBinary) close(1003)
    else fromAgent(bytesOf(data))
  })
  provider.on('message', (data, isBinary) => {
    heard()
    if (isBinary) close(1003)
    else fromProvider(bytesOf(data))
  })
  agent.once('close', () => {
    if (running !== null) running.notes.end = 'client_aborted'
    close(1000)
  })
  provider.once('close', (code) => close(isSendable(code) ? code : 1011))
  if (provider.readyState !== provider.OPEN) close(1011)
  return { close }
}

/** Codes that may be put into a close frame; 1005 and 1006 say that there was none. */
function isSendable(code: number): boolean {
  return (
    (code >= 1000 && code <= 1014 && code !== 1004 && code !== 1005 && code !== 1006) || (code >= 3000 && code < 5000)
  )
}

/** Read, not searched for: JSON can write the same word in other letters. */
function isCreate(bytes: Buffer): boolean {
  return factsOf(bytes).get('type') === 'response.create'
}

function factsOf(bytes: Buffer): FactMap {
  const reader = createFactReader()
  reader.write(bytes)
  return reader.facts()
}

/** What arrived, as one buffer. */
function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data)
  return data instanceof ArrayBuffer ? Buffer.from(data) : data
}
