/** How an upstream's answer leaves: streams as they come, errors with the key blanked. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Secret } from '../../platform/types.ts'
import { headerText } from '../upstream/index.ts'
import type { UpstreamAnswer } from '../upstream/index.ts'
import type { Terminal } from './answer-facts.ts'
import { watchEvents, watchJson } from './answer-watch.ts'
import { decodeCopy } from './decoded-copy.ts'
import { isIdentity } from './encodings.ts'
import { holdErrorBody } from './error-body.ts'
import type { ExchangeNotes } from './exchange-notes.ts'
import { agentHeaders } from './headers.ts'
import { disconnectEvent } from './refusals.ts'
import { relay } from './relay.ts'
import type { RelayEnd } from './relay.ts'
import type { ExchangeEnd, RouteProtocol } from './types.ts'

/** Written as bytes, a head leaves byte for byte; as text it would be UTF-8. */
const NOTHING = Buffer.alloc(0)

interface Answering {
  readonly answer: UpstreamAnswer
  readonly response: ServerResponse
  readonly protocol: RouteProtocol
  readonly notes: ExchangeNotes
  readonly key: Secret | null
}

/** A 2xx answer. An end without its terminal event is made to look like what it is: a failure. */
export async function answerStream({ answer, response, protocol, notes, key }: Answering): Promise<void> {
  const headers = agentHeaders(answer.headers, key)
  const encoding = headerText(answer.headers, 'content-encoding')
  const readable = isIdentity(encoding)
  const isEvents = /^text\/event-stream\b/i.test(headerText(answer.headers, 'content-type') ?? '')
  // An event of ours may follow.
  if (isEvents) delete headers['content-length']
  const watch = isEvents ? watchEvents(protocol) : watchJson(protocol)
  const copy = readable ? null : decodeCopy(encoding, (chunk) => watch.push(chunk))
  const reader = readable ? watch : copy
  response.writeHead(answer.status, headers)
  const relayed = relay(answer.body, response, (chunk) => {
    notes.sent(chunk.length)
    reader?.push(chunk)
    return copy !== null
  })
  // With the head leaves what has come by now, often the whole of a short answer; else it goes alone.
  if (notes.bytesOut === 0) response.write(NOTHING)
  const end = await relayed
  // An end waits for the copy, which is as good as read by now: it tells whether it is one.
  const isRead = readable || (await copy?.over()) === true
  const isUnfinished = isEvents && isRead && watch.terminal() === null
  const canBeTold = readable && watch.atBoundary()
  if (end === 'ended' && !isUnfinished) response.end()
  else if (end !== 'agent_gone' && isUnfinished && canBeTold) response.end(disconnectEvent(protocol))
  else cutLater(response)
  notes.summary = isRead ? watch.summary() : null
  notes.end = endOf(end, isRead ? watch.terminal() : null, { isEvents, isUnfinished })
  if (notes.end === 'upstream_disconnected') notes.code = 'upstream_disconnected'
}

/** Who hangs up, or is cut, behind the terminal event has had it all. */
function endOf(
  end: RelayEnd,
  terminal: Terminal | null,
  { isEvents, isUnfinished }: { isEvents: boolean; isUnfinished: boolean },
): ExchangeEnd {
  if (terminal !== null) return terminal
  if (end === 'agent_gone') return 'client_aborted'
  if (end === 'upstream_gone' || isUnfinished) return 'upstream_disconnected'
  return isEvents ? 'unknown' : 'completed'
}

/** A status of 400 or more. */
export async function answerError({ answer, response, protocol, notes, key }: Answering): Promise<void> {
  const held = await holdErrorBody(answer.body, headerText(answer.headers, 'content-encoding'), key)
  const { status, headers } = mapUnauthorized(answer.status, agentHeaders(answer.headers, key), protocol)
  delete headers['content-length']
  if (held.decoded) delete headers['content-encoding']
  if (held.rest === null && !held.cut) headers['content-length'] = held.head.length
  response.writeHead(status, headers)
  response.write(held.head)
  if (held.head.length > 0) notes.sent(held.head.length)
  if (held.rest === null) {
    if (held.cut) cutLater(response)
    else response.end()
    return
  }
  const end = await relay(held.rest, response, (chunk) => {
    notes.sent(chunk.length)
    return false
  })
  if (end === 'ended') response.end()
  else if (end === 'upstream_gone') cutLater(response)
  else notes.end = 'client_aborted'
}

/** A turn later, so that what came before the cut has left. */
function cutLater(response: ServerResponse): void {
  setImmediate(() => response.destroy())
}

/** A dead key: Codex would ask six times and refresh the user's login, Claude Code goes on unless it is told not to. */
function mapUnauthorized(
  status: number,
  headers: OutgoingHttpHeaders,
  protocol: RouteProtocol,
): { status: number; headers: OutgoingHttpHeaders } {
  if (status !== 401) return { status, headers }
  if (protocol === 'anthropic_messages') return { status, headers: { ...headers, 'x-should-retry': 'false' } }
  return { status: 400, headers: { ...headers, 'x-wheelhouse-upstream-status': '401' } }
}
