import type { Check } from '../shared/bridge/index.ts'
import { toWireError } from '../shared/errors.ts'
import type { Preflights } from './executor/index.ts'
import type { OpenPlatform } from './platform/index.ts'
import type { Providers, RouteNotice } from './providers/index.ts'

/**
 * What `wheelhouse doctor` prints and the Health view shows: each thing that this machine has or lacks, with what to do
 * about it. Calls no model and changes nothing. The agents are started for it, side by side, unless they are left out.
 */
export async function checkHealth(
  { platform, providers, preflights }: { platform: OpenPlatform; providers: Providers; preflights: Preflights },
  { agents }: { agents: boolean },
  signal: AbortSignal,
): Promise<Check[]> {
  return [
    nodeCheck(),
    { id: 'data_dir', label: 'Data folder', status: 'pass', message: platform.paths.dataDir, hint: null },
    databaseCheck(platform),
    await credentialsCheck(providers),
    ...routesCheck(providers),
    ...(agents ? await agentChecks(preflights, signal) : []),
  ]
}

async function agentChecks(preflights: Preflights, signal: AbortSignal): Promise<Check[]> {
  const checks = (await preflights.list()).map(async ({ agent }): Promise<Check[]> => {
    try {
      const { preflight } = await preflights.run(agent.id, signal)
      return (preflight?.checks ?? []).map((check) => ({
        id: `agent.${agent.id}.${check.name}`,
        label: `${agent.label}: ${check.name}`,
        // An agent that is not installed is no fault of the machine's: it is only not offered.
        status: check.status === 'fail' ? 'warn' : check.status,
        message: check.message,
        hint: check.hint ?? null,
      }))
    } catch (thrown) {
      const { message, detail } = toWireError(thrown)
      return [{ id: `agent.${agent.id}`, label: agent.label, status: 'warn', message, hint: detail ?? null }]
    }
  })
  return (await Promise.all(checks)).flat()
}

function nodeCheck(): Check {
  const runtime =
    process.versions['electron'] === undefined
      ? `Node ${process.versions.node}`
      : `Electron ${process.versions['electron']}`
  return {
    id: 'runtime',
    label: 'Program',
    status: 'pass',
    message: `${runtime} on ${process.platform} ${process.arch}`,
    hint: null,
  }
}

function databaseCheck({ store }: OpenPlatform): Check {
  const version = String(store.db.prepare('SELECT sqlite_version()').pluck().get())
  const sync = Number(store.db.pragma('synchronous', { simple: true }))
  const durable = sync >= 2
  return {
    id: 'database',
    label: 'Database',
    status: durable ? 'pass' : 'fail',
    message: durable
      ? `SQLite ${version}, every commit reaches the disk`
      : `SQLite ${version} does not wait for the disk`,
    hint: durable ? null : 'This build of SQLite is not the one Wheelhouse ships. Install again.',
  }
}

const NOTICES: Readonly<Record<RouteNotice['reason'], string>> = {
  malformed: 'What is stored of a route cannot be read. Its session does not run until its agent is proven gone.',
  connection_gone: 'The Provider of an agent that outlived Wheelhouse is no longer there.',
  contract_changed:
    'An agent that outlived Wheelhouse goes on as it was started, though its Provider was changed since.',
}

/** Routes of before that are not what they would be made as today. Nothing is shown where there is none. */
function routesCheck(providers: Providers): Check[] {
  if (providers.failure() !== null) return []
  return providers.notices().map(({ sessionId, workerId, reason }) => ({
    id: `route.${workerId ?? sessionId}`,
    label: 'Route',
    status: 'warn',
    message: NOTICES[reason],
    hint: `Session ${sessionId}`,
  }))
}

async function credentialsCheck(providers: Providers): Promise<Check> {
  const base = { id: 'credentials', label: 'Keys' }
  const failure = providers.failure()
  if (failure !== null) return { ...base, status: 'fail', message: failure.message, hint: failure.detail ?? null }
  const { credentialBackend } = await providers.catalog()
  switch (credentialBackend) {
    case 'keychain':
      return { ...base, status: 'pass', message: 'The system’s keychain keeps your API keys', hint: null }
    case 'file':
    case 'memory':
      return {
        ...base,
        status: 'warn',
        message: 'No keychain was found: API keys lie in a private file that is not encrypted',
        hint: 'Install and unlock a Secret Service (gnome-keyring or KWallet) before the first key is saved.',
      }
    case 'unavailable':
      return {
        ...base,
        status: 'fail',
        message: 'The keychain that holds your API keys does not answer',
        hint: 'Unlock it, or start the session it belongs to. Wheelhouse never falls back to another place by itself.',
      }
    default:
      return credentialBackend satisfies never
  }
}
