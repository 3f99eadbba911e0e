/**
 * Which turn is whose. A turn that we did not start (a goal of the user's, a queue) is interrupted at once, and no prompt
 * is sent meanwhile: in its middle the app-server would take the prompt as steering, without an error.
 */
import type { Prompt } from '../../../../shared/vocabulary.ts'
import type { Clock, Log } from '../../../platform/types.ts'
import { WorkerError } from '../../errors.ts'
import type { Conversation, RpcPeer, RpcReply, Turn } from '../shared/types.ts'
import { isOverloaded } from './calls.ts'
import { turnEnd } from './outcome.ts'
import { textInput } from './prompt.ts'
import type { UserInput } from './prompt.ts'
import { TurnReply } from './wire.ts'
import type { TurnNote } from './wire.ts'

const RETRIES = 3
const RETRY_MS = 100

export interface Turns {
  /** @throws WorkerError `turn_in_flight`: Codex runs a turn of its own. */
  start(turn: Turn, prompt: Prompt): Promise<void>
  cancel(turn: Turn): Promise<void>
  steer(text: string, signal: AbortSignal): Promise<'taken' | 'refused'>
  noteStarted(id: string): void
  noteCompleted(turn: TurnNote['turn']): void
  isCurrent(turnId: string): boolean
}

export interface TurnsParts {
  conversation: Conversation
  peer: RpcPeer
  clock: Clock
  log: Log
  threadId: string
  /** Everything of `turn/start` but the thread. */
  params(prompt: Prompt): Promise<{ input: UserInput[] } & Record<string, unknown>>
  onStarting(): void
  onStarted(): void
  usage(): Parameters<typeof turnEnd>[1]
}

export function createTurns(parts: TurnsParts): Turns {
  const { conversation, peer, clock, log, threadId } = parts
  /** One that we did not start. */
  let foreign: string | null = null
  /** Sent, and not answered yet: its id is not known. */
  let starting: {
    turn: Turn
    named: PromiseWithResolvers<void>
    started: string | null
    over: TurnNote['turn'] | null
  } | null = null

  function interrupt(turnId: string): Promise<void> {
    // "No active turn" is a success: it ended first.
    return peer.send('turn/interrupt', { threadId, turnId }, () => undefined)
  }

  function interruptForeign(turnId: string): void {
    foreign = turnId
    log.info('a turn that nobody here began is interrupted')
    void interrupt(turnId).catch(() => undefined)
  }

  function inFlight(): WorkerError {
    return new WorkerError('turn_in_flight', 'Codex still runs a turn that it began by itself.')
  }

  function send(turn: Turn, params: Record<string, unknown>, tried: number): Promise<void> {
    const waiting = starting
    return peer.send('turn/start', { threadId, ...params }, (reply) => {
      if (isOverloaded(reply) && tried < RETRIES) {
        void clock
          .sleep(RETRY_MS * 2 ** tried)
          .then(() => send(turn, params, tried + 1))
          .catch(() => undefined)
      } else if (starting === waiting) answered(turn, reply)
    })
  }

  function answered(turn: Turn, reply: RpcReply): void {
    const waiting = starting
    starting = null
    const read = reply.ok ? TurnReply.safeParse(reply.result) : null
    if (read === null || !read.success) {
      const said = reply.ok ? 'an answer that cannot be read' : conversation.redactor.line(reply.message)
      conversation.settle({
        kind: 'failed',
        error: new WorkerError('turn_failed', `Codex did not take this prompt: ${said}`),
      })
      waiting?.named.resolve()
      return
    }
    turn.agentTurnId = read.data.turn.id
    waiting?.named.resolve()
    if (waiting === null) return
    if (waiting.started !== null) started(waiting.started)
    if (waiting.over !== null) completed(waiting.over)
  }

  function started(id: string): void {
    if (conversation.turn?.agentTurnId === id) parts.onStarted()
    else interruptForeign(id)
  }

  function completed(turn: TurnNote['turn']): void {
    if (foreign === turn.id) foreign = null
    if (conversation.turn?.agentTurnId !== turn.id) return
    conversation.settle(turnEnd(turn, parts.usage(), conversation.redactor))
  }

  return {
    async start(turn, prompt) {
      if (foreign !== null) throw inFlight()
      const params = await parts.params(prompt)
      // A turn of Codex's own may have begun meanwhile.
      if (foreign !== null) throw inFlight()
      parts.onStarting()
      starting = { turn, named: Promise.withResolvers(), started: null, over: null }
      await send(turn, params, 0)
    },
    async cancel(turn) {
      if (starting?.turn === turn) await starting.named.promise
      if (turn.agentTurnId !== null) await interrupt(turn.agentTurnId)
    },
    async steer(text, signal) {
      const expectedTurnId = conversation.turn?.agentTurnId ?? null
      if (expectedTurnId === null) return 'refused'
      const reply = await peer.request('turn/steer', { threadId, expectedTurnId, input: [textInput(text)] }, signal)
      return reply.ok ? 'taken' : 'refused'
    },
    noteStarted(id) {
      if (starting === null) started(id)
      else starting.started = id
    },
    noteCompleted(turn) {
      if (starting !== null && turn.id !== foreign) starting.over = turn
      else completed(turn)
    },
    isCurrent: (turnId) => {
      const { turn } = conversation
      return turn !== null && (turn.agentTurnId === turnId || (turn.agentTurnId === null && starting !== null))
    },
  }
}
