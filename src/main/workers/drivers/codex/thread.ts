/** From a started app-server to a thread in a proven mode. */
import { realpath } from 'node:fs/promises'
import type { z } from 'zod'
import { assertNever } from '../../../../shared/errors.ts'
import type { ErrorCode } from '../../../../shared/errors.ts'
import type { JsonValue } from '../../../../shared/vocabulary.ts'
import type { Clock } from '../../../platform/types.ts'
import { WorkerError, unusable } from '../../errors.ts'
import type { Redactor, SessionConfig } from '../../types.ts'
import { refused } from './calls.ts'
import type { Calls } from './calls.ts'
import { UserConfig, threadConfig } from './launch.ts'
import { START_MODE, modeDifference } from './mode.ts'
import { underPinnedProvider } from './pinned-provider.ts'
import { AccountReply, McpStatusReply, ThreadReply } from './wire.ts'

const THREAD_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const MCP_POLL_MS = 100
const PENDING: ReadonlySet<string> = new Set(['notStarted', 'starting'])

export type Opening =
  | { kind: 'new' }
  | { kind: 'load'; agentSessionId: string }
  | { kind: 'fork'; agentSessionId: string }

/** @throws WorkerError `worker_unusable`, `never`: not the form of a Codex thread's id. */
export function checkThreadId(id: string): void {
  if (!THREAD_ID.test(id)) throw unusable('This is no conversation of Codex.', 'its id is malformed')
}

export interface ThreadParts {
  calls: Calls
  clock: Clock
  cfg: SessionConfig
  redactor: Redactor
  /** The thread's settings that come from the route or the owner. */
  config: Readonly<Record<string, JsonValue>>
}

/** Logs in for this process alone: the user's own login is neither read nor written. */
export async function logIn({ calls, cfg, redactor }: ThreadParts, signal: AbortSignal): Promise<void> {
  const key = cfg.route?.key
  if (key === undefined) return
  const { account } = await calls.read('account/read', { refreshToken: false }, AccountReply, signal)
  if (account !== null) {
    throw new WorkerError(
      'model_profile_unsupported',
      'This Codex insists on a login of its own, so it cannot be given a Provider. Update Codex.',
    )
  }
  const login = { type: 'apiKey', apiKey: key.reveal('upstream_header') }
  const reply = await calls.ask('account/login/start', login, signal)
  if (!reply.ok) throw refused('handshake_failed', 'account/login/start', reply.message, redactor)
}

/** Starts, resumes or forks the thread read-only; which mode it gets is set and proven afterwards. */
export async function openThread(parts: ThreadParts, opening: Opening, signal: AbortSignal): Promise<ThreadReply> {
  const { calls, cfg, redactor } = parts
  const { config: user } = await calls.read('config/read', { cwd: cfg.cwd }, UserConfig, signal)
  const taken = cfg.mcpServers.find(({ name }) => Object.hasOwn(user.mcp_servers ?? {}, name))
  if (taken !== undefined) {
    throw new WorkerError('mcp_mismatch', 'An MCP server of the user has the name of one that was given.', {
      detail: taken.name,
    })
  }
  const base =
    opening.kind === 'new'
      ? parts.config
      : await underPinnedProvider(parts, parts.config, opening.agentSessionId, signal)
  const config = threadConfig(cfg, base, user)
  const { model } = config
  const params = {
    cwd: cfg.cwd,
    approvalPolicy: START_MODE.approvalPolicy,
    approvalsReviewer: 'user',
    sandbox: 'read-only',
    // Said apart too: a resumed thread would keep the model that it had.
    ...(typeof model === 'string' ? { model } : {}),
    config,
  }
  const reply = await calls.ask(...callOf(opening, params), signal)
  if (!reply.ok) throw openError(opening, reply.message, cfg, redactor)
  const read = ThreadReply.safeParse(reply.result)
  if (!read.success) throw refused('handshake_failed', 'the thread', 'an answer that cannot be read', redactor)
  const thread = read.data
  if (opening.kind === 'load' && thread.thread.id !== opening.agentSessionId) {
    throw new WorkerError('session_unverified', 'Codex opened another conversation than the one asked for.')
  }
  await proveStart(thread, cfg.cwd)
  await verifyMcp(parts, thread.thread.id, signal)
  return thread
}

function callOf(opening: Opening, params: Record<string, unknown>): [method: string, params: unknown] {
  switch (opening.kind) {
    case 'new':
      return ['thread/start', params]
    case 'load':
      return ['thread/resume', { ...params, threadId: opening.agentSessionId, excludeTurns: true }]
    case 'fork':
      return ['thread/fork', { ...params, threadId: opening.agentSessionId, excludeTurns: true }]
    default:
      return assertNever(opening)
  }
}

/** The texts are all that the app-server tells these apart by. */
function openError(opening: Opening, said: string, cfg: SessionConfig, redactor: Redactor): WorkerError {
  const code = ((): ErrorCode => {
    if (opening.kind !== 'new') {
      const { agentSessionId: id } = opening
      if (said === `thread ${id} already has an active writer`) return 'session_in_use'
      if (said.startsWith(`no rollout found for thread id ${id}`) || said === `thread not found: ${id}`) {
        return 'agent_session_not_found'
      }
      if (/uses model provider .* no longer configured/.test(said)) return 'model_profile_unsupported'
    }
    return cfg.mcpServers.length > 0 && /required MCP server/i.test(said) ? 'mcp_mismatch' : 'handshake_failed'
  })()
  if (code === 'session_in_use') {
    return new WorkerError(code, 'Another Codex has this conversation open. Close it there first.')
  }
  if (code === 'agent_session_not_found') {
    return new WorkerError(code, 'Codex does not know this conversation any more.')
  }
  if (code === 'model_profile_unsupported') {
    return new WorkerError(
      code,
      'The Provider of this conversation is no longer in Codex’s configuration. Put it back, or begin a new session.',
      { detail: redactor.line(said) },
    )
  }
  return refused(code, callOf(opening, {})[0], said, redactor)
}

/** Before any prompt, and before its own mode is set, the thread must be what every thread starts as. */
async function proveStart(thread: ThreadReply, cwd: string): Promise<void> {
  const told = { ...thread, sandboxPolicy: thread.sandbox }
  const differs = modeDifference(START_MODE, told, await namesOf(cwd))
  if (differs !== null) {
    throw new WorkerError('unsafe_mode', 'Codex did not start in the mode it was told.', { detail: differs })
  }
}

/** A folder as it was given, and as it is called once its links are followed. */
export async function namesOf(cwd: string): Promise<string[]> {
  const real = await realpath(cwd).catch(() => cwd)
  return [...new Set([cwd, cwd.replace(/(?<=.)\/+$/, ''), real])]
}

/** Exactly the given servers, connected; with the user's own ones beside them, the given ones at least. */
async function verifyMcp({ calls, clock, cfg }: ThreadParts, threadId: string, signal: AbortSignal): Promise<void> {
  const given = new Set(cfg.mcpServers.map(({ name }) => name))
  if (given.size === 0 && cfg.mcp === 'with_users_own') return
  for (;;) {
    const states = await mcpStates(calls, threadId, signal)
    const pending = [...given].some((name) => PENDING.has(states.get(name) ?? ''))
    if (pending) {
      await clock.sleep(MCP_POLL_MS, signal)
      continue
    }
    for (const name of given)
      if (states.get(name) !== 'connected') throw mismatch('A given MCP server is missing.', name)
    if (cfg.mcp === 'with_users_own') return
    for (const [name, state] of states) {
      if (!given.has(name) && state !== 'disabled') throw mismatch('An MCP server runs that was not given.', name)
    }
    return
  }
}

async function mcpStates(calls: Calls, threadId: string, signal: AbortSignal): Promise<Map<string, string>> {
  const states = new Map<string, string>()
  let cursor: string | null = null
  do {
    const params = { threadId, detail: 'toolsAndAuthOnly', ...(cursor === null ? {} : { cursor }) }
    const page: z.infer<typeof McpStatusReply> = await calls.read(
      'mcpServerStatus/list',
      params,
      McpStatusReply,
      signal,
    )
    for (const { name, runtimeStatus } of page.data) states.set(name, runtimeStatus ?? 'notStarted')
    cursor = page.nextCursor ?? null
  } while (cursor !== null)
  return states
}

function mismatch(message: string, name: string): WorkerError {
  return new WorkerError('mcp_mismatch', message, { detail: name })
}
