/** Which models each connection has. What was last known to be there outlives a Provider that does not answer. */
import { AppError } from '../../../shared/errors.ts'
import type { PersistOutcome } from '../../../shared/vocabulary.ts'
import { withDeadline } from '../../platform/index.ts'
import type { Clock, Log } from '../../platform/types.ts'
import { createMutex } from '../mutex.ts'
import type { ModelEntry } from '../types.ts'
import type { DiscoveryFile, Seen } from './discovery-file.ts'
import { MAX_MODELS } from './model-list.ts'
import type { ModelList } from './model-list.ts'

const FRESH_MS = 5 * 60_000
/** All pages of one list. */
const ASK_MS = 60_000
const DONE: PersistOutcome = { applied: true, durable: true }
const NOTHING_SEEN: Seen = { ids: [], disabledIds: [], seenAtMs: null }

export interface DiscoveryOf {
  id: string
  /** Changes with address and key: another one is not fresh. */
  fingerprint: string
  fetch(signal: AbortSignal): Promise<ModelList>
}

export interface DiscoveryResult {
  outcome: PersistOutcome
  stale: boolean
}

/** One request for all who ask the same account. */
interface Asking {
  readonly fingerprint: string
  readonly result: Promise<DiscoveryResult>
}

export interface DiscoveryCache {
  /** A file that cannot be read disables discovery alone. */
  load(): Promise<void>
  seen(id: string): Seen
  /** Where the ids of a connection come from. */
  source(id: string): ModelEntry['source']
  isEnabled(id: string, modelId: string): boolean
  discover(of: DiscoveryOf, options: { force: boolean }, signal: AbortSignal): Promise<DiscoveryResult>
  /** Stores the complement of what was shown, so that a model that appears later starts switched on. */
  setEnabled(id: string, shown: readonly string[], enabledIds: readonly string[]): Promise<PersistOutcome>
  forget(id: string): Promise<void>
}

export function createDiscoveryCache(deps: { file: DiscoveryFile; clock: Clock; log: Log }): DiscoveryCache {
  const { file, clock, log } = deps
  const lock = createMutex()
  const running = new Map<string, Asking>()
  const fresh = new Map<string, { fingerprint: string; atMs: number }>()
  const live = new Set<string>()
  let seen = new Map<string, Seen>()
  let broken: AppError | null = null

  const seenOf = (id: string): Seen => seen.get(id) ?? NOTHING_SEEN

  /** Every model of a long list is asked for. */
  const disabled = new WeakMap<Seen, ReadonlySet<string>>()
  function disabledOf(of: Seen): ReadonlySet<string> {
    const known = disabled.get(of) ?? new Set(of.disabledIds)
    disabled.set(of, known)
    return known
  }

  /** Memory takes the list even where the write fails: it is what the Provider just said. */
  async function put(id: string, next: Seen): Promise<PersistOutcome> {
    seen = new Map(seen).set(id, next)
    return await write(seen)
  }

  async function write(next: ReadonlyMap<string, Seen>): Promise<PersistOutcome> {
    try {
      return await file.save(next)
    } catch (error) {
      log.warn('the list of models could not be saved', { error })
      return { applied: false, durable: false }
    }
  }

  /** `isNewest` no: the connection was changed or deleted meanwhile, and what its old account says is not kept. */
  async function ask(of: DiscoveryOf, isNewest: () => boolean, signal: AbortSignal): Promise<DiscoveryResult> {
    let list: ModelList
    try {
      list = await of.fetch(signal)
    } catch (error) {
      if (!(error instanceof AppError) || seenOf(of.id).seenAtMs === null) throw error
      log.info('a Provider did not answer; its models are the ones last seen', { code: error.code })
      live.delete(of.id)
      fresh.delete(of.id)
      return { outcome: DONE, stale: true }
    }
    if (list.invalid > 0) log.info('a Provider lists ids that are no model ids', { count: list.invalid })
    return await lock.run(async () => {
      if (!isNewest()) return { outcome: DONE, stale: true }
      const outcome = await put(of.id, { ...seenOf(of.id), ids: list.ids ?? [], seenAtMs: clock.nowMs() })
      live.add(of.id)
      fresh.set(of.id, { fingerprint: of.fingerprint, atMs: clock.monotonicMs() })
      return { outcome, stale: false }
    })
  }

  function start(of: DiscoveryOf): Asking {
    const isNewest = (): boolean => running.get(of.id) === asking
    const result = withDeadline(clock, ASK_MS, undefined, (inner) => ask(of, isNewest, inner)).finally(() => {
      if (isNewest()) running.delete(of.id)
    })
    const asking: Asking = { fingerprint: of.fingerprint, result }
    running.set(of.id, asking)
    return asking
  }

  async function replaceBroken(): Promise<void> {
    await lock.run(async () => {
      if (broken === null) return
      await file.setAside()
      broken = null
    })
  }

  return {
    async load() {
      try {
        seen = new Map(await file.load())
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        broken = error
        log.warn('the list of models cannot be read', { error })
      }
    },
    seen: seenOf,
    source: (id) => (live.has(id) ? 'discovered' : 'lkg'),
    isEnabled: (id, modelId) => !disabledOf(seenOf(id)).has(modelId),
    async discover(of, { force }, signal) {
      if (broken !== null) {
        if (!force) throw broken
        await replaceBroken()
      }
      const known = fresh.get(of.id)
      const isFresh = known?.fingerprint === of.fingerprint && clock.monotonicMs() - known.atMs <= FRESH_MS
      if (!force && isFresh) return { outcome: DONE, stale: false }
      // Each may leave on its own.
      const now = running.get(of.id)
      const { result } = now?.fingerprint === of.fingerprint ? now : start(of)
      return await withDeadline(clock, ASK_MS, signal, () => result)
    },
    setEnabled: (id, shown, enabledIds) =>
      lock.run(async () => {
        if (broken !== null) throw broken
        const enabled = new Set(enabledIds)
        const before = seenOf(id)
        // One that is not offered now stays switched off for when it is again.
        const all = new Set([...shown, ...before.disabledIds])
        const disabledIds = [...all].filter((modelId) => !enabled.has(modelId)).slice(0, MAX_MODELS)
        const next = new Map(seen).set(id, { ...before, disabledIds })
        const outcome = await file.save(next)
        if (outcome.applied) seen = next
        return outcome
      }),
    forget: (id) =>
      lock.run(async () => {
        running.delete(id)
        if (!seen.has(id) || broken !== null) return
        const next = new Map(seen)
        next.delete(id)
        seen = next
        await write(next)
      }),
  }
}
