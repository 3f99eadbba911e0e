/** From a started agent to a session whose mode is proven. */
import { withDeadline } from '../../../platform/index.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { z } from 'zod'
import { WorkerError } from '../../errors.ts'
import type { AgentProfile, PermissionMode, SessionConfig } from '../../types.ts'
import type { DriverDeps, RpcReply } from '../shared/types.ts'
import { modesOf, optionOf, valuesOf, wantedMode } from './modes.ts'
import type { Prepared } from './adapters/index.ts'
import type { AcpConversation } from './session.ts'
import {
  ConfigOptions,
  FailedServer,
  FailureData,
  Initialized,
  NewSession,
  PROTOCOL_VERSION,
  SessionId,
  SessionState,
} from './wire.ts'

const AUTH_REQUIRED = -32_000
const NOT_FOUND = -32_002

export interface Handshake {
  acp: AcpConversation
  deps: DriverDeps
  cfg: SessionConfig
  profile: AgentProfile
  prepared: Prepared
  mode: PermissionMode
  load: string | null
}

export interface Advertised {
  loadSession: boolean
  forkSession: boolean
}

/** @throws WorkerError `protocol_unsupported`, `agent_mismatch`, `handshake_failed`. */
export async function initialize(
  peer: Pick<AcpConversation['peer'], 'request'>,
  profile: AgentProfile,
  line: (text: string) => string,
  signal: AbortSignal,
  asksPerson = false,
): Promise<Initialized> {
  const params = {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name: 'wheelhouse', title: 'Wheelhouse', version: '1' },
    clientCapabilities: {
      fs: { readTextFile: false, writeTextFile: false },
      terminal: false,
      ...(asksPerson ? { elicitation: { form: {} } } : {}),
    },
  }
  const reply = await peer.request('initialize', params, signal)
  const answer = parse(Initialized, taken(reply, profile, line), profile)
  if (answer.protocolVersion !== PROTOCOL_VERSION) {
    throw new WorkerError('protocol_unsupported', `${profile.product} speaks another version of the protocol.`, {
      detail: `version ${answer.protocolVersion}`,
    })
  }
  const { pin } = profile
  const info = answer.agentInfo
  if (pin !== null && (info?.name !== pin.name || info.version !== pin.version)) {
    throw new WorkerError('agent_mismatch', `This is not the ${profile.product} that was chosen.`, {
      detail: line(`${info?.name ?? 'no name'} ${info?.version ?? ''}`),
    })
  }
  return answer
}

/** Answers what the agent advertised; `acp` holds the session then. */
export async function shakeHands(parts: Handshake, signal: AbortSignal): Promise<Advertised> {
  const { acp, cfg, profile, prepared, load } = parts
  const { line } = acp.conversation.redactor
  const answer = await initialize(acp.peer, profile, line, signal, cfg.interactions !== undefined)
  acp.facts.agentName = line(answer.agentInfo?.name ?? profile.product)
  acp.facts.agentVersion = line(answer.agentInfo?.version ?? '')
  acp.images = answer.agentCapabilities?.promptCapabilities?.image === true
  const sessions = answer.agentCapabilities?.sessionCapabilities
  const can = {
    resume: sessions?.resume === true,
    load: answer.agentCapabilities?.loadSession === true,
    fork: sessions?.fork === true,
    dirs: sessions?.additionalDirectories === true,
  }
  if (profile.authMethod !== null && cfg.route !== null) {
    const { loginMeta } = prepared
    const meta = Object.keys(loginMeta).length === 0 ? {} : { _meta: loginMeta }
    const login = { methodId: profile.authMethod, ...meta }
    taken(await acp.peer.request('authenticate', login, signal), profile, line)
  }
  const state = load === null ? await begin(parts, can, signal) : await reopen(parts, load, can, signal)
  acp.takeOptions(state.configOptions ?? [])
  await chooseRuntime(parts, state, signal)
  await proveMode(parts, state, signal)
  return { loadSession: can.resume || can.load, forkSession: can.fork }
}

function sessionParams({ cfg, profile, prepared }: Handshake, dirs: boolean): Record<string, unknown> {
  const meta = { ...profile.sessionMeta, ...prepared.sessionMeta }
  const servers = cfg.mcpServers.map(({ name, command, args, env }) => {
    const all = { ...env, WHEELHOUSE_WORKER: cfg.workerId }
    return { name, command, args, env: Object.entries(all).map(([key, value]) => ({ name: key, value })) }
  })
  return {
    cwd: cfg.cwd,
    mcpServers: servers,
    ...(dirs && cfg.addDirs.length > 0 ? { additionalDirectories: cfg.addDirs } : {}),
    ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }),
  }
}

async function begin(
  parts: Handshake,
  can: { fork: boolean; dirs: boolean },
  signal: AbortSignal,
): Promise<SessionState> {
  const { acp, cfg, profile } = parts
  const { line } = acp.conversation.redactor
  const params = sessionParams(parts, can.dirs)
  if (cfg.fork !== null && !can.fork) {
    throw new WorkerError('load_unsupported', `${profile.product} cannot begin from another conversation.`)
  }
  const reply =
    cfg.fork === null
      ? await acp.peer.request('session/new', params, signal)
      : await acp.peer.request('session/fork', { ...params, sessionId: cfg.fork.agentSessionId }, signal)
  const session = parse(NewSession, taken(reply, profile, line), profile)
  acp.sessionId = session.sessionId
  return session
}

/** By `session/resume` where there is one: it replays nothing. */
async function reopen(
  parts: Handshake,
  load: string,
  can: { resume: boolean; load: boolean; dirs: boolean },
  signal: AbortSignal,
): Promise<SessionState> {
  const { acp, profile } = parts
  const { conversation, peer } = acp
  if (!can.resume && !can.load) {
    throw new WorkerError('load_unsupported', `${profile.product} cannot reopen a conversation.`)
  }
  const params = { ...sessionParams(parts, can.dirs), sessionId: load }
  acp.sessionId = load
  conversation.replaying(true)
  const reply = await loaded(peer, can.resume ? 'session/resume' : 'session/load', params, () =>
    conversation.replaying(false),
  )
  acp.facts.loaded = true
  signal.throwIfAborted()
  return parse(SessionState, taken(reply, profile, conversation.redactor.line) ?? {}, profile)
}

/** The replay ends with the line that carries the answer, so that is judged in the reader. */
function loaded(
  peer: AcpConversation['peer'],
  method: string,
  params: unknown,
  onReply: () => void,
): Promise<RpcReply> {
  return new Promise((resolve, reject) => {
    const sent = peer.send(method, params, (reply) => {
      onReply()
      resolve(reply)
    })
    sent.catch(reject)
  })
}

/** A model or effort of the agent's own login, through its options. */
async function chooseRuntime(
  { acp, cfg, profile }: Handshake,
  state: SessionState,
  signal: AbortSignal,
): Promise<void> {
  if (cfg.route !== null) return
  const effort = cfg.effort === 'default' ? undefined : cfg.effort
  for (const [category, value] of [
    ['model', cfg.model],
    ['thought_level', effort],
  ] as const) {
    if (value === undefined) continue
    const option = optionOf(state.configOptions ?? [], category)
    if (option === null || !valuesOf(option).includes(value)) {
      throw new WorkerError('worker_unusable', `${profile.product} does not offer this model or effort.`, {
        detail: value,
      })
    }
    const params = { sessionId: acp.sessionId, configId: option.id, value }
    const reply = await acp.peer.request('session/set_config_option', params, signal)
    const after = parse(ConfigOptions, taken(reply, profile, acp.conversation.redactor.line), profile)
    acp.takeOptions(after.configOptions)
  }
}

async function proveMode(
  { acp, deps, profile, mode }: Handshake,
  state: SessionState,
  signal: AbortSignal,
): Promise<void> {
  const { conversation, peer } = acp
  const { line } = conversation.redactor
  const report = modesOf(state)
  if (report === null) {
    // Nothing to verify: such an agent may only run where each tool is asked for.
    if (mode !== 'ask') {
      throw new WorkerError('unsafe_mode', `${profile.product} offers no permission modes and can only be used to ask.`)
    }
    return conversation.modeProven()
  }
  const wanted = wantedMode(profile, mode, report)
  if (wanted === null) {
    throw new WorkerError('mode_unmapped', `${profile.product} offers no mode that is known to do this.`, {
      detail: line(report.offered.join(', ')),
    })
  }
  const current = acp.reportedMode ?? report.current
  if (current !== wanted) await setMode(acp, deps, wanted, report.optionId, signal)
  const reported = acp.reportedMode ?? report.current
  if (reported !== wanted) {
    throw new WorkerError('unsafe_mode', `${profile.product} is not in the permission mode that was asked for.`, {
      detail: line(reported ?? 'none reported'),
    })
  }
  acp.provenMode = wanted
  acp.facts.modeVerified = true
  conversation.modeProven()

  async function setMode(
    to: AcpConversation,
    { clock }: DriverDeps,
    modeId: string,
    optionId: string | null,
    outer: AbortSignal,
  ): Promise<void> {
    const confirmed = Promise.withResolvers<void>()
    to.onMode = (now) => {
      if (now === modeId) confirmed.resolve()
    }
    const sessionId = to.sessionId
    try {
      await withDeadline(clock, conversation.limits.modeConfirmMs, outer, async (inner) => {
        if (optionId === null) {
          // The answer is empty and proves nothing; the report does.
          taken(await peer.request('session/set_mode', { sessionId, modeId }, inner), profile, line)
        } else {
          const params = { sessionId, configId: optionId, value: modeId }
          const reply = await peer.request('session/set_config_option', params, inner)
          to.takeOptions(parse(ConfigOptions, taken(reply, profile, line), profile).configOptions)
        }
        await confirmed.promise
      })
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'deadline_exceeded') throw error
    } finally {
      to.onMode = null
    }
  }
}

/** The result, or the error that this reply amounts to. */
function taken(reply: RpcReply, profile: AgentProfile, line: (text: string) => string): unknown {
  if (reply.ok) return reply.result
  const detail = line(reply.message)
  const { product } = profile
  const reason = FailureData.safeParse(reply.data)
  if (reason.success && reason.data.reason === 'thread_active_writer') {
    throw new WorkerError('session_in_use', 'This conversation is open somewhere else.', { detail })
  }
  if (reply.code === AUTH_REQUIRED) {
    throw new WorkerError('login_required', `${product} is not logged in. ${profile.loginHint}`, { detail })
  }
  if (reply.code === NOT_FOUND) {
    throw new WorkerError('agent_session_not_found', `${product} does not know this conversation any more.`, { detail })
  }
  const failed = FailedServer.safeParse(reply.data)
  if (failed.success) {
    const { server } = failed.data
    throw new WorkerError('mcp_mismatch', `The MCP server ${server} did not come up.`, { detail: server })
  }
  throw new WorkerError('handshake_failed', `${product} could not be made ready.`, { detail })
}

function parse<T extends z.ZodType>(schema: T, value: unknown, { product }: AgentProfile): z.infer<T> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new WorkerError('handshake_failed', `${product} answered in a form Wheelhouse cannot read.`)
}

export function isSessionId(id: string): boolean {
  return SessionId.safeParse(id).success
}
