import { stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { AppError } from '../../../shared/errors.ts'
import type { Source } from '../../../shared/vocabulary.ts'
import { withDeadline } from '../../platform/index.ts'
import type { Clock } from '../../platform/types.ts'
import type { TargetsOf } from '../deliveries/deliveries.ts'
import { isUnattended, resolveMode, resolveSource, sandboxOf } from '../policy/index.ts'
import type { RuntimeTiming } from '../timing.ts'
import type { PolicySnapshot, ResourcePort, SessionRow } from '../types.ts'

export interface SnapshotDeps {
  clock: Clock
  timing: RuntimeTiming
  resources: ResourcePort | null
  osEnabled: () => boolean
  /** Whose session it is, where it is bound to a schedule or an outside conversation. */
  bindingOf: (sessionId: string) => Source | null
  targetsOf: TargetsOf
  /** How long a permission of a run that nobody watches waits for its answer. */
  unattendedDecisionMs: () => number
  /** Whether that connection still is one. */
  isProvider: (connectionId: string) => boolean
}

export interface Snapshot {
  policy: PolicySnapshot
  /** Extra roots that are not there now and were left out. */
  missingRoots: readonly string[]
}

/**
 * What a run may do, frozen as it is now.
 * @throws AppError `source_*`, `mode_*`, `provider_unavailable_config`, `work_dir_missing`, `resources_invalid`.
 */
export async function takeSnapshot(
  { clock, timing, resources, osEnabled, bindingOf, targetsOf, unattendedDecisionMs, isProvider }: SnapshotDeps,
  session: SessionRow,
  asked: { source: Source; requestedMode: string | null; failover?: 'off' | undefined },
  signal?: AbortSignal,
): Promise<Snapshot> {
  const { source, entrySource } = resolveSource({
    binding: bindingOf(session.id),
    header: session.policySource,
    requested: asked.source,
  })
  const { mode, forced } = resolveMode({
    source,
    requested: asked.requestedMode,
    sessionMode: session.mode,
    osEnabled: osEnabled(),
  })
  const { connectionId, modelId, effort } = session.choice
  if (connectionId !== null && !isProvider(connectionId)) {
    throw new AppError(
      'provider_unavailable_config',
      'The Provider of this session is gone. Choose another one for it.',
    )
  }
  if (!(await isFolder(session.workDir))) {
    throw new AppError('work_dir_missing', 'The work directory of this session no longer exists.', {
      detail: session.workDir,
    })
  }
  const present = await Promise.all(session.extraDirs.map(isFolder))
  const roots = [session.workDir, ...session.extraDirs.filter((_, index) => present[index])]
  const unattended = isUnattended(source)
  const { agentId, workDir } = session
  const offered = await resolveResources(clock, timing, resources, { agentId, workDir, roots }, signal)
  const deliveryTargets = targetsOf({ sessionId: session.id, source })
  return {
    policy: {
      source,
      entrySource,
      mode,
      forced,
      unattended,
      sandbox: sandboxOf(mode, session.sandbox),
      roots,
      connectionId,
      modelId,
      effort,
      ...offered,
      decisionTtlMs: unattended ? unattendedDecisionMs() : timing.attendedDecisionMs,
      maxRunMs: unattended ? timing.unattendedRunMs : timing.attendedRunMs,
      ...(asked.failover === undefined ? {} : { failover: asked.failover }),
      ...(deliveryTargets.length === 0 ? {} : { deliveryTargets }),
    },
    missingRoots: session.extraDirs.filter((_, index) => !present[index]),
  }
}

export async function isFolder(path: string): Promise<boolean> {
  if (!isAbsolute(path)) return false
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
}

async function resolveResources(
  clock: Clock,
  timing: RuntimeTiming,
  resources: ResourcePort | null,
  query: Parameters<ResourcePort['resolve']>[0],
  signal: AbortSignal | undefined,
): Promise<Pick<PolicySnapshot, 'skills' | 'mcpServers' | 'mcpRequired'>> {
  if (resources === null) return { skills: [], mcpServers: [], mcpRequired: [] }
  try {
    return await withDeadline(clock, timing.resourcesMs, signal, (inner) => resources.resolve(query, inner))
  } catch (error) {
    signal?.throwIfAborted()
    throw new AppError('resources_invalid', 'What this agent may use besides its tools cannot be read.', {
      ...(error instanceof AppError ? { detail: error.detail ?? error.message } : {}),
      cause: error,
    })
  }
}
