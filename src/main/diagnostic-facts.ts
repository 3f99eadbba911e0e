import { arch, platform, release } from 'node:os'
import type { AgentExecutor } from './executor/index.ts'
import type { Settings } from './platform/index.ts'
import type { Providers } from './providers/index.ts'
import type { Runtime } from './runtime/index.ts'

const SESSIONS = 200

/** How this installation stands, by the name of its file. Titles, prompts and folders stay here. */
export async function diagnosticFacts(deps: {
  runtime: Runtime
  executor: AgentExecutor
  providers: Providers
  settings: Settings
  version: string
}): Promise<Readonly<Record<string, unknown>>> {
  const { runtime, executor, providers, settings, version } = deps
  const { connections, defaults, credentialBackend } = await providers.catalog()
  const { deliveryTargets, ...chosen } = settings.values()
  const { sessions, total } = runtime.sessions.list({ limit: SESSIONS })
  const briefs = new Map(runtime.sessions.briefs(sessions.map(({ id }) => id)).map((brief) => [brief.sessionId, brief]))
  return {
    about: { version, node: process.versions.node, system: platform(), release: release(), arch: arch() },
    settings: {
      ...chosen,
      deliveryTargets: deliveryTargets.map(({ kind, enabled, runs }) => ({ kind, enabled, runs })),
    },
    providers: {
      credentialBackend,
      defaults,
      connections: connections.map(({ id, preset, client, credentialReady, warnings }) => ({
        id,
        preset,
        client,
        credentialReady,
        warnings,
      })),
    },
    workers: executor.overview(),
    sessions: {
      total,
      newest: sessions.map(({ id, agentId, mode, createdVia, headSeq, updatedAt }) => {
        const brief = briefs.get(id)
        return {
          id,
          agentId,
          mode,
          createdVia,
          headSeq,
          updatedAt,
          state: runtime.sessions.inspect(id).state,
          active: brief?.active?.state ?? null,
          ended: brief?.ended?.state ?? null,
          code: brief?.ended?.errorCode ?? null,
        }
      }),
    },
  }
}
