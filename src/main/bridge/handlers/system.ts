import { join } from 'node:path'
import { AppError } from '../../../shared/errors.ts'
import type { Check } from '../../../shared/bridge/index.ts'
import type { AgentId, RuntimeChoice } from '../../../shared/vocabulary.ts'
import type { systemProcedures } from '../../../shared/bridge/system.ts'
import type { ShowNotification } from '../../deliveries/index.ts'
import type { Diagnostics } from '../../diagnostics/index.ts'
import type { AgentExecutor, OwnAgents, Preflights } from '../../executor/index.ts'
import type { Clock, OpenPlatform } from '../../platform/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import type { HandlersOf } from '../types.ts'
import { agentView } from '../views.ts'
import type { Views } from '../views.ts'
import { createFolder, folderName, isDirectory, listFolders } from './folders.ts'

/** What only the shell can do: a window or a link, and the system's own folder dialog. */
export interface ShellPort {
  kind: 'electron' | 'browser' | 'cli'
  activate(want: 'window' | 'link'): Promise<{ url: string | null }>
  /** Null where no dialog can be shown. */
  pickFolder: (() => Promise<string | null>) | null
  /** Null while no notification of the system can be shown. */
  notify(): ShowNotification | null
}

export interface SystemHandlerDeps {
  platform: OpenPlatform
  runtime: Runtime
  executor: AgentExecutor
  preflights: Preflights
  ownAgents: OwnAgents
  views: Views
  /** Null: that agent can be kept to the session's folders here; else why not. */
  whyNotConfined(agentId: AgentId, choice: Pick<RuntimeChoice, 'connectionId'> | null): Promise<string | null>
  suggestedAgents(): Promise<{ label: string; commandLine: string }[]>
  /** What the person's own Codex rules allow. */
  codexRules(): Promise<string[]>
  shell: () => ShellPort
  health: (of: { agents: boolean }, signal: AbortSignal) => Promise<Check[]>
  diagnostics: (signal: AbortSignal) => Promise<Diagnostics>
  app: { version: string; homeDir: string }
}

export function systemHandlers(deps: SystemHandlerDeps): HandlersOf<typeof systemProcedures> {
  const { platform, runtime, executor, preflights, ownAgents, views, app } = deps
  return {
    'system.info': () => ({
      version: app.version,
      host: deps.shell().kind,
      platform: process.platform,
      dataDir: platform.paths.dataDir,
      homeDir: app.homeDir,
      suggestedWorkDir: join(app.homeDir, 'Wheelhouse', dayOf(platform.clock), 'first-session'),
      canPickFolder: deps.shell().pickFolder !== null,
      firstRun: !platform.settings.get('welcomeDone') && runtime.sessions.list({ limit: 1 }).total === 0,
    }),
    'system.activate': ({ want }, { connection }) => {
      if (connection.kind !== 'cli')
        throw new AppError('sender_refused', 'Only another start of Wheelhouse may ask for that.')
      return deps.shell().activate(want)
    },
    'system.health': async ({ agents }, { signal }) => ({ checks: await deps.health({ agents }, signal) }),
    'system.logs.tail': async ({ lines }) => {
      const tail = await platform.readLog({ maxLines: lines, maxBytes: 1_048_576 })
      return { lines: tail.map((line) => JSON.stringify(line)) }
    },
    'diagnostics.export': async (_input, { signal }) => {
      const { filename, zip } = await deps.diagnostics(signal)
      return { filename, base64: zip.toString('base64') }
    },
    'system.pickFolder': async () => ({ path: (await deps.shell().pickFolder?.()) ?? null }),
    'settings.get': () => ({ values: { ...platform.settings.values() } }),
    'settings.set': async ({ key, value }) => {
      const { values, durable } = await platform.settings.set(key, value)
      return { values: { ...values }, durable }
    },
    'agents.list': async () => ({
      agents: await Promise.all(
        (await preflights.list()).map(async (each) => ({
          ...agentView(each),
          ...(each.agent.project === 'codex' ? { unasked: await deps.codexRules() } : {}),
          whyNotConfined: await deps.whyNotConfined(each.agent.id, null),
        })),
      ),
    }),
    'agents.preflight': async ({ agentId }, { signal }) => agentView(await preflights.run(agentId, signal)),
    'agents.suggested': async () => ({ agents: await deps.suggestedAgents() }),
    'agents.add': async ({ evenSo, ...input }, { signal }) => {
      const agent = ownAgents.define(input)
      const preflight = await preflights.check(agent, signal)
      const added = preflight.failed === null || evenSo
      if (added) {
        await ownAgents.add(agent)
        await preflights.keep(agent, preflight)
      }
      return { agent: agentView({ agent, preflight }), added }
    },
    'agents.remove': async ({ agentId }) => {
      await ownAgents.remove(agentId)
      return { removed: true }
    },
    'projects.recent': async () => ({ projects: await recentProjects(runtime) }),
    'fs.folders': ({ path, after, hidden }, { signal }) =>
      listFolders({ path: path ?? app.homeDir, after: after ?? null, hidden }, signal),
    'fs.createFolder': async ({ path }) => ({ path: await createFolder(path) }),
    'workers.list': () => ({ workers: executor.overview().map(views.worker) }),
    'workers.terminate': async ({ workerId }) => ({ outcome: (await executor.terminate(workerId)).kind }),
    'workers.settle': async ({ workerId }, { actor }) => {
      await executor.settle(workerId, actor)
      return { settled: true }
    },
    'presence.set': ({ shows, focused }, { connection }) => {
      connection.shows = shows
      connection.focused = focused
      return { ok: true }
    },
  }
}

async function recentProjects(runtime: Runtime) {
  const byPath = new Map<string, number>()
  for (const session of runtime.sessions.list({ limit: 500 }).sessions) {
    byPath.set(session.workDir, Math.max(byPath.get(session.workDir) ?? 0, session.updatedAt))
  }
  const newest = [...byPath].sort(([, a], [, b]) => b - a).slice(0, 20)
  return Promise.all(
    newest.map(async ([path, lastUsedAt]) => ({
      path,
      name: folderName(path),
      lastUsedAt,
      exists: await isDirectory(path),
    })),
  )
}

/** YYMMDD of this machine's own day. */
function dayOf(clock: Clock): string {
  const day = new Date(clock.nowMs())
  const two = (value: number): string => String(value % 100).padStart(2, '0')
  return `${two(day.getFullYear())}${two(day.getMonth() + 1)}${two(day.getDate())}`
}
