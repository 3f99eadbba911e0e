/**
 * One thread of an app-server as a session. What the app-server says is handled in the order of its lines, in the reader;
 * what it says before the thread is known is kept until then.
 */
import { z } from 'zod'
import { AppError } from '../../../../shared/errors.ts'
import type { Prompt } from '../../../../shared/vocabulary.ts'
import { withDeadline } from '../../../platform/index.ts'
import { WorkerError } from '../../errors.ts'
import type { Session, SessionFacts } from '../../types.ts'
import { createConversation } from '../shared/conversation.ts'
import { createRpcPeer } from '../shared/rpc-peer.ts'
import type { Conversation, Dialect, DriverDeps, RpcPeer, StartedWorker, Turn, WireId } from '../shared/types.ts'
import { createCalls } from './calls.ts'
import type { Calls } from './calls.ts'
import { createInteractions } from './interactions.ts'
import { createItemLog } from './item-log.ts'
import type { ItemLog } from './item-log.ts'
import type { CodexLaunch } from './launch.ts'
import { createModeProof } from './mode-proof.ts'
import type { ModeProof } from './mode-proof.ts'
import { START_MODE, threadMode } from './mode.ts'
import { createNotifications } from './notifications.ts'
import { createUsageMeter } from './outcome.ts'
import { promptInput } from './prompt.ts'
import { createQuestions } from './questions.ts'
import { createRuntimeChoice } from './runtime-choice.ts'
import type { RuntimeChoice } from './runtime-choice.ts'
import { createThreadFamily } from './thread-family.ts'
import { logIn, namesOf, openThread } from './thread.ts'
import type { Opening } from './thread.ts'
import { createTurns } from './turns.ts'
import type { Turns } from './turns.ts'
import type { ThreadReply } from './wire.ts'

export const PRODUCT = 'Codex'
/** What Codex calls us in its user agent and in the threads it makes. */
export const CLIENT_INFO = { name: 'wheelhouse', title: 'Wheelhouse', version: '0.1.0' } as const
/** Clearing up after a cancelled turn holds the next prompt at most this long. */
const CLEAR_UP_MS = 2_000
/** What may be said before the thread is known. */
const EARLY_MESSAGES = 1_000

const Initialized = z.object({ userAgent: z.string() })
const Skills = z.object({ data: z.array(z.object({ skills: z.array(z.object({ name: z.string() })) })) })
const Terminals = z.object({ data: z.array(z.object({ itemId: z.string(), processId: z.string() })) })

export interface OpenedSession {
  session: Session
  modeProof: 'before_prompt' | 'first_prompt'
}

/** The thread's own parts, there once the thread is. */
interface Live {
  threadId: string
  items: ItemLog
  turns: Turns
  proof: ModeProof
  runtime: RuntimeChoice
  facts: SessionFacts
  notification(method: string, params: unknown): void
  request(id: WireId, method: string, params: unknown): void
}

/** @throws WorkerError with `started`: every way a handshake fails. */
export async function openSession(
  deps: DriverDeps,
  started: StartedWorker,
  launch: CodexLaunch,
  opening: Opening,
  signal: AbortSignal,
): Promise<OpenedSession> {
  const { cfg, worker } = started
  const { mode } = cfg.policy.rules()
  let live: Live | null = null
  const early: (() => void)[] = []

  /** Now, or in its order once the thread is known. */
  const inOrder = (handle: (to: Live) => void): void => {
    if (live !== null) handle(live)
    else if (early.length < EARLY_MESSAGES) {
      early.push(() => {
        if (live !== null) handle(live)
      })
    }
  }
  const dialect: Dialect = {
    startTurn: (turn, prompt) => live?.turns.start(turn, prompt) ?? Promise.resolve(),
    cancelTurn: (turn) => live?.turns.cancel(turn) ?? Promise.resolve(),
    afterTurn: (turn) => (live === null ? Promise.resolve() : endTerminals(live, turn)),
  }
  const conversation = createConversation({ started, deps, product: PRODUCT, mode, dialect })
  const peer = createRpcPeer({
    worker,
    conversation,
    versioned: false,
    handlers: {
      notification: (method, params) => inOrder((to) => to.notification(method, params)),
      request: (id, method, params) => inOrder((to) => to.request(id, method, params)),
    },
  })
  const { redactor } = conversation
  const calls = createCalls(peer, deps.clock, redactor)
  conversation.read(peer.read)

  async function endTerminals(to: Live, turn: Turn): Promise<void> {
    const { threadId, items } = to
    await withDeadline(deps.clock, CLEAR_UP_MS, undefined, async (inner) => {
      const { data } = await calls.read('thread/backgroundTerminals/list', { threadId }, Terminals, inner)
      for (const { itemId, processId } of data) {
        if (items.turnOf(itemId) !== turn.agentTurnId) continue
        await calls.ask('thread/backgroundTerminals/terminate', { threadId, processId }, inner)
      }
    })
  }

  async function handshake(inner: AbortSignal): Promise<Live> {
    const client = { clientInfo: CLIENT_INFO, capabilities: { experimentalApi: true } }
    await calls.read('initialize', client, Initialized, inner)
    await peer.notify('initialized', undefined)
    const parts = { calls, clock: deps.clock, cfg, redactor, config: launch.config }
    await logIn(parts, inner)
    const thread = await openThread(parts, opening, inner)
    live = createLive({ deps, started, conversation, peer, calls, thread, opening, cwds: await namesOf(cfg.cwd) })
    for (const replay of early.splice(0)) replay()
    await proveMode(live, inner)
    return live
  }

  /** A build that refuses the update proves the mode by what `turn/start` brings before the turn starts. */
  async function proveMode({ threadId, proof }: Live, inner: AbortSignal): Promise<void> {
    if (proof.proven) return
    const wanted = threadMode(cfg.policy.rules(), cfg.addDirs)
    const update = { threadId, ...wanted, approvalsReviewer: 'user' }
    const reply = await calls.ask('thread/settings/update', update, inner)
    if (!reply.ok) return
    try {
      await withDeadline(deps.clock, conversation.limits.modeConfirmMs, inner, proof.wait)
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'deadline_exceeded') throw error
      throw new WorkerError('unsafe_mode', 'Codex did not confirm the permission mode it was told.', {
        detail: proof.lastTold,
      })
    }
  }

  const { threadId, turns, runtime, facts, proof } = await conversation.open(signal, handshake)
  const session = conversation.session({
    id: threadId,
    facts,
    refusalReason: 'steer',
    runtime: runtime.current,
    steer: turns.steer,
    setRuntime: (choice) =>
      withDeadline(deps.clock, conversation.limits.modeConfirmMs, undefined, (inner) => runtime.set(choice, inner)),
  })
  return { session, modeProof: proof.proven ? 'before_prompt' : 'first_prompt' }
}

interface LiveParts {
  deps: DriverDeps
  started: StartedWorker
  conversation: Conversation
  peer: RpcPeer
  calls: Calls
  thread: ThreadReply
  opening: Opening
  cwds: readonly string[]
}

function createLive({ deps, started, conversation, peer, calls, thread, opening, cwds }: LiveParts): Live {
  const { cfg } = started
  const { clock } = deps
  const rules = cfg.policy.rules()
  const wanted = threadMode(rules, cfg.addDirs)
  const threadId = thread.thread.id
  const family = createThreadFamily(threadId)
  const meter = createUsageMeter()
  const runtime = createRuntimeChoice(calls)
  runtime.told(thread.model, thread.reasoningEffort)
  const facts: SessionFacts = {
    agentName: 'codex',
    agentVersion: thread.thread.cliVersion,
    model: thread.model,
    mode: rules.mode,
    modeVerified: false,
    loaded: opening.kind === 'load',
  }
  const proof = createModeProof({
    conversation,
    wanted,
    cwds,
    onProven() {
      facts.modeVerified = true
    },
  })
  // What every thread starts as was proven by the answer to its start.
  if (wanted === START_MODE) proof.told({ ...thread, sandboxPolicy: thread.sandbox })

  const interactions = createInteractions({ conversation, peer })

  async function skillsIn(prompt: Prompt): Promise<string[]> {
    if (!prompt.literal || !prompt.text.includes('$')) return []
    return withDeadline(clock, conversation.limits.modeConfirmMs, undefined, async (inner) => {
      const { data } = await calls.read('skills/list', { cwds: [cfg.cwd] }, Skills, inner)
      return data.flatMap(({ skills }) => skills.map(({ name }) => name))
    })
  }

  const turns: Turns = createTurns({
    conversation,
    peer,
    clock,
    log: conversation.redactor.log(deps.log),
    threadId,
    params: async (prompt) => ({
      input: promptInput(prompt, await skillsIn(prompt)),
      ...wanted,
      approvalsReviewer: 'user',
      ...runtime.override(),
    }),
    onStarting: meter.beginTurn,
    onStarted: proof.turnStarts,
    usage: () => meter.turn,
  })
  const items = createItemLog({
    conversation,
    clock,
    family,
    isCurrent: turns.isCurrent,
  })
  const request = createQuestions({
    conversation,
    peer,
    items,
    interactions,
    isFamily: family.has,
    tellReason(reason) {
      const signal = new AbortController().signal
      void turns.steer(reason, signal).catch(() => undefined)
    },
  })
  const notification = createNotifications({
    conversation,
    threadId,
    family,
    items,
    turns,
    proof,
    runtime,
    meter,
  })
  return { threadId, items, turns, proof, runtime, facts, notification, request }
}
