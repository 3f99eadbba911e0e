import { AppError } from '../../shared/errors.ts'
import type { LaunchRequest } from '../providers/index.ts'
import type { ExecutionSink, ExecutionSpec } from '../runtime/index.ts'
import { BASE_ENV, buildEnv, WorkerError } from '../workers/index.ts'
import type { ReleaseOutcome, Session, SessionConfig } from '../workers/index.ts'
import { PERMISSION_MODE } from './agents.ts'
import type { AgentDefinition } from './agents.ts'
import { toUpdate } from './content.ts'
import { createPermissionDesk } from './permissions.ts'
import type { LiveWorker, Parts, WorkerSetup } from './types.ts'

export function setupOf(spec: ExecutionSpec): WorkerSetup {
  const { mode, sandbox, roots, connectionId, modelId, effort } = spec.policy
  return { mode, sandbox, roots, choice: { connectionId, modelId, effort } }
}

const NEVER_STARTED: ReleaseOutcome = { kind: 'gone', strongest: 'none', strays: [] }

/**
 * Binds a route, puts the worker on record, and opens it on the session's conversation. Nothing runs before both are
 * durable, and whatever fails leaves no process and no route behind unsaid.
 */
export async function openWorker(
  parts: Parts,
  spec: ExecutionSpec,
  sink: ExecutionSink,
  signal: AbortSignal,
): Promise<LiveWorker> {
  const { clock, ids, store, providers, workers, ledger } = parts
  const agent = parts.agents.get(spec.agentId)
  const setup = setupOf(spec)
  const env = buildEnv(BASE_ENV, parts.hostEnv, {})
  const workerId = ids.next()
  const launch = launchOf(workerId, spec, agent, setup, env)
  if (launch !== null) await providers.prepareWorker(launch, signal)
  const route = await store.writeTx((tx) => {
    ledger.starting(
      {
        workerId,
        kind: spec.aside === true ? 'aside' : 'session',
        driver: agent.driver,
        sessionId: spec.sessionId,
        runId: spec.runId,
      },
      tx,
    )
    return launch === null ? null : providers.bindWorker(launch, tx)
  }, signal)

  const desk = createPermissionDesk({
    mode: PERMISSION_MODE[setup.mode],
    sandbox: setup.sandbox === 'workspace' ? 'workspace' : 'none',
  })
  let current: ExecutionSink | null = null
  try {
    const privateDir = await workers.privateDir(workerId)
    const config: SessionConfig = {
      workerId,
      cwd: firstRoot(setup),
      addDirs: setup.roots.slice(1),
      env,
      route,
      ...(route === null && setup.choice.modelId !== null ? { model: setup.choice.modelId } : {}),
      ...(route === null && setup.choice.effort !== 'default' ? { effort: setup.choice.effort } : {}),
      ...(agent.profile === null ? {} : { profile: agent.profile }),
      mcpServers: [],
      mcp: 'with_users_own',
      folderTrusted: false,
      fork: null,
      history: spec.history,
      policy: desk.policy,
      refusals: { record: () => {} },
      scope: { runId: spec.runId, workerId, workDir: firstRoot(setup), privateDir, confine: null },
      privateDir,
      onStarted: (process) => ledger.started(workerId, process),
      redaction: { secrets: route?.key === undefined ? [] : [route.key], env, dirs: [parts.paths.dataDir] },
      content: {
        write(item) {
          const update = item.turn === 0 ? null : toUpdate(item)
          if (update !== null) current?.push(update)
        },
      },
    }
    const session = await openConversation(parts, agent, config, spec, sink, signal)
    let exited = false
    void session.exited.then(() => {
      exited = true
    })
    return {
      workerId,
      sessionId: spec.sessionId,
      agent,
      session,
      desk,
      openedAtMs: clock.nowMs(),
      setup,
      lend(next) {
        current = next
        desk.lend(next)
      },
      exited: () => exited,
    }
  } catch (thrown) {
    await closeRecord(parts, workerId, outcomeOf(thrown))
    throw thrown
  }
}

/**
 * Ends the route of a worker that is proven gone, and writes what became of it. In this order: a crash between the two
 * leaves an open record, and the next start ends the route for sure.
 */
export async function closeRecord(parts: Parts, workerId: string, outcome: ReleaseOutcome): Promise<void> {
  if (outcome.kind === 'gone') await endRoute(parts, workerId)
  else parts.log.warn('a worker is held', { workerId, reason: outcome.reason })
  await parts.ledger.ended(workerId, outcome)
}

/** Only where nothing can use it any more, by proof or by a person's word. */
export async function endRoute(parts: Parts, workerId: string): Promise<void> {
  const unbound = await parts.providers.unbindWorker(workerId, { kind: 'gone' })
  if (!unbound.applied) parts.log.warn('a route could not be ended', { workerId })
}

function outcomeOf(thrown: unknown): ReleaseOutcome {
  if (thrown instanceof WorkerError && thrown.started === 'held') {
    return { kind: 'held', reason: 'group_outlived_leader', members: null, strays: [] }
  }
  return NEVER_STARTED
}

function launchOf(
  workerId: string,
  spec: ExecutionSpec,
  agent: AgentDefinition,
  setup: WorkerSetup,
  inherited: Readonly<Record<string, string>>,
): LaunchRequest | null {
  const { choice } = setup
  if (choice.connectionId !== null && agent.client !== null) {
    return { workerId, sessionId: spec.sessionId, client: agent.client, form: agent.form, choice, inherited }
  }
  if (agent.ownLogin) return null
  throw new AppError(
    'upstream_model_required',
    `${agent.label} needs a Provider. Choose one for this session, or the rehearsal model.`,
  )
}

/** Goes on with the session's conversation where the agent still has it; else begins one, and says so. */
async function openConversation(
  parts: Parts,
  agent: AgentDefinition,
  config: SessionConfig,
  spec: ExecutionSpec,
  sink: ExecutionSink,
  signal: AbortSignal,
): Promise<Session> {
  const { workers, agentSessions, store } = parts
  if (spec.aside === true) return workers.open(agent.driver, config, {}, signal)
  const known = agentSessions.get(spec.sessionId)
  const session =
    known !== null && known.agentId === agent.id && known.cwd === config.cwd
      ? await loadOrBegin(parts, agent, config, known.agentSessionId, sink, signal)
      : await workers.open(agent.driver, config, {}, signal)
  if (session.id !== known?.agentSessionId) {
    await store.writeTx((tx) =>
      agentSessions.put(
        spec.sessionId,
        { agentId: agent.id, agentSessionId: session.id, cwd: config.cwd, home: null, origin: 'wheelhouse' },
        tx,
      ),
    )
  }
  return session
}

async function loadOrBegin(
  parts: Parts,
  agent: AgentDefinition,
  config: SessionConfig,
  agentSessionId: string,
  sink: ExecutionSink,
  signal: AbortSignal,
): Promise<Session> {
  try {
    return await parts.workers.open(agent.driver, config, { load: agentSessionId }, signal)
  } catch (thrown) {
    const lost =
      thrown instanceof WorkerError && (thrown.code === 'agent_session_not_found' || thrown.code === 'load_unsupported')
    if (!lost || thrown.started === 'held') throw thrown
    parts.log.info('the agent no longer has the conversation', { sessionId: config.scope.runId, code: thrown.code })
    const session = await parts.workers.open(agent.driver, config, {}, signal)
    sink.push({
      kind: 'notice',
      code: 'conversation_begun_anew',
      message: `${agent.label} no longer has this conversation. It begins a new one and does not remember what was said before.`,
      level: 'warning',
    })
    return session
  }
}

function firstRoot(setup: WorkerSetup): string {
  const [root] = setup.roots
  if (root === undefined) throw new AppError('work_dir_missing', 'The session has no work directory.')
  return root
}
