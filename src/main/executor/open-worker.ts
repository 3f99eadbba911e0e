import { AppError } from '../../shared/errors.ts'
import type { LaunchRequest } from '../providers/index.ts'
import type { ExecutionSink, ExecutionSpec } from '../runtime/index.ts'
import { BASE_ENV, buildEnv } from '../workers/index.ts'
import type { ReleaseOutcome, Session, SessionConfig } from '../workers/index.ts'
import { PERMISSION_MODE } from './agents.ts'
import type { AgentDefinition } from './agents.ts'
import { confinementOf } from './confinement.ts'
import { toUpdate } from './content.ts'
import { outcomeOf } from './ledger.ts'
import { createPermissionDesk } from './permissions.ts'
import { openConversation } from './open-conversation.ts'
import { failedServer, leftOut, serversFor, serversVersion } from './mcp/index.ts'
import type { WorkerServers } from './mcp/index.ts'
import { claudeSettingsOf, rootsTrusted, untrustedNotice } from './trust/index.ts'
import type { LiveWorker, Parts, WorkerSetup } from './types.ts'

export async function setupOf(
  parts: Pick<Parts, 'mcp' | 'trust'>,
  agent: Pick<AgentDefinition, 'project'>,
  spec: ExecutionSpec,
): Promise<WorkerSetup> {
  const { mode, sandbox, roots, connectionId, modelId, effort, unattended } = spec.policy
  const servers = serversVersion(parts, spec)
  const trusted = await rootsTrusted(parts.trust, agent, roots)
  return { mode, sandbox, roots, choice: { connectionId, modelId, effort }, unattended, servers, trusted }
}

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
  const known = parts.agents.get(spec.agentId)
  const agent = known.inSession?.(spec.sessionId) ?? known
  const setup = await setupOf(parts, agent, spec)
  const cwd = firstRoot(setup)
  await parts.environment
  const env = buildEnv(BASE_ENV, parts.hostEnv, {})
  const confinement = await confinementOf(parts.sandbox, agent, setup)
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
  let current: { sink: ExecutionSink; runId: string } | null = null
  const without = new Set<string>()
  const opened: WorkerServers[] = []
  let folder: Promise<string> | null = null

  /** One start. A server that may be missing, and is, is left out of the next one. */
  async function attempt(load: string | null): Promise<Session> {
    for (;;) {
      folder ??= workers.privateDir(workerId)
      const privateDir = await folder
      const run = (): { runId: string; cwd: string } | null => (current === null ? null : { runId: current.runId, cwd })
      const servers = await serversFor(parts, { spec, privateDir, env, without, run, sink })
      opened.push(servers)
      try {
        return await workers.open(agent.driver, configOf(privateDir, servers), load === null ? {} : { load }, signal)
      } catch (thrown) {
        await servers.close()
        const failed = failedServer(thrown, servers)
        if (failed === null) throw thrown
        without.add(failed)
        sink.push(leftOut(failed))
      }
    }
  }

  function configOf(privateDir: string, servers: WorkerServers): SessionConfig {
    return {
      workerId,
      cwd,
      addDirs: setup.roots.slice(1),
      // Inside, the system's own folder for such files is not to be written.
      env: confinement.launcher === null ? env : { ...env, TMPDIR: privateDir },
      ...(confinement.launcher === null ? {} : { launcher: confinement.launcher }),
      route,
      ...(route === null && setup.choice.modelId !== null ? { model: setup.choice.modelId } : {}),
      ...(route === null && setup.choice.effort !== 'default' ? { effort: setup.choice.effort } : {}),
      ...(agent.profile === null ? {} : { profile: agent.profile }),
      mcpServers: servers.servers,
      mcp: setup.unattended ? 'exact' : 'with_users_own',
      folderTrusted: setup.trusted,
      fork: null,
      history: spec.history,
      policy: desk.policy,
      interactions: desk.interactions,
      refusals: { record: () => {} },
      scope: {
        runId: spec.runId,
        workerId,
        workDir: cwd,
        privateDir,
        socketDir: servers.token?.dir ?? privateDir,
        confine: confinement.confine,
      },
      privateDir,
      token: servers.token,
      onStarted: (process) => ledger.started(workerId, process),
      redaction: {
        secrets: [...(route?.key === undefined ? [] : [route.key]), ...servers.secrets],
        env,
        dirs: [parts.paths.dataDir],
      },
      content: {
        write(item) {
          const update = item.turn === 0 ? null : toUpdate(item)
          if (update !== null) current?.sink.push(update)
        },
      },
    }
  }

  try {
    const untrusted = setup.trusted ? null : await untrustedNotice(parts, agent, cwd)
    if (untrusted !== null) sink.push(untrusted)
    const session = await openConversation(parts, agent, { cwd, spec, sink, attempt })
    let exited = false
    void session.exited.then(() => {
      exited = true
      return opened.at(-1)?.close()
    })
    return {
      workerId,
      sessionId: spec.sessionId,
      agent,
      session,
      desk,
      openedAtMs: clock.nowMs(),
      setup,
      toldStripped: null,
      lend(next) {
        current = next
        desk.lend(next?.sink ?? null)
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

function launchOf(
  workerId: string,
  spec: ExecutionSpec,
  agent: AgentDefinition,
  setup: WorkerSetup,
  inherited: Readonly<Record<string, string>>,
): LaunchRequest | null {
  const { choice } = setup
  if (choice.connectionId !== null && agent.client !== null) {
    const { failover } = spec.policy
    const settingsFiles = setup.trusted && agent.project === 'claude' ? claudeSettingsOf(firstRoot(setup)) : []
    return {
      workerId,
      sessionId: spec.sessionId,
      client: agent.client,
      form: agent.form,
      choice,
      inherited,
      settingsFiles,
      ...(failover === undefined ? {} : { failover }),
    }
  }
  if (agent.ownLogin) return null
  throw new AppError(
    'upstream_model_required',
    `${agent.label} needs a Provider. Choose one for this session, or the rehearsal model.`,
  )
}

function firstRoot(setup: WorkerSetup): string {
  const [root] = setup.roots
  if (root === undefined) throw new AppError('work_dir_missing', 'The session has no work directory.')
  return root
}
