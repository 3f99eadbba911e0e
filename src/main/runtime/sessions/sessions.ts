import { isAbsolute, normalize, resolve } from 'node:path'
import { AppError } from '../../../shared/errors.ts'
import type { Actor, AgentId, Mode, RuntimeChoice, Source } from '../../../shared/vocabulary.ts'
import { nextTurn, withDeadline } from '../../platform/index.ts'
import type { Tx } from '../../platform/types.ts'
import { isFolder } from '../admission/snapshot.ts'
import type { RuntimeContext } from '../context.ts'
import type { Removals } from '../housekeeping/removals.ts'
import type { Lease } from '../leases/keeper.ts'
import { busy } from '../leases/mutation.ts'
import type { Mutations } from '../leases/mutation.ts'
import { forcedMode, resolveMode } from '../policy/index.ts'
import type { SessionRow } from '../types.ts'
import type { Binding, Bindings } from './bindings.ts'
import { refuseOwnFolder } from './own-folder.ts'
import { cleanTitle } from './titles.ts'

const MAX_EXTRA_DIRS = 16
/** Rows that one transaction may touch. */
const PART = 512
const CLOSE_LIMIT_MS = 7_000

export interface CreateSession {
  agentId: AgentId
  /** Absolute; it has to be there. */
  workDir: string
  createdVia: Source
  /** A new UUID that the caller chose. */
  id?: string
  title?: string
  extraDirs?: readonly string[]
  choice?: RuntimeChoice
  mode?: Mode
  sandbox?: boolean
  /** It belongs to a schedule or an outside conversation, whose policy holds from the start. */
  binding?: Binding
}

export interface Sessions {
  /** @throws AppError `work_dir_missing`, `root_invalid`, `session_exists`, `mode_not_allowed`, `binding_taken`. */
  create(request: CreateSession): Promise<SessionRow>
  /** @throws AppError `session_not_found`: also for a session of another directory than `workDir`. */
  get(sessionId: string, within?: { workDir?: string }): SessionRow
  /** Newest first. */
  list(query: { archived?: boolean; workDir?: string; limit?: number; offset?: number }): {
    sessions: SessionRow[]
    total: number
  }
  /** A person's title beats the prompt's and the agent's. @throws AppError `session_not_found`. */
  rename(sessionId: string, title: string): Promise<SessionRow>
  /** @throws AppError `session_run_active`: an archived session has nothing running. */
  archive(sessionId: string, archived: boolean): Promise<SessionRow>
  /** @throws AppError `session_run_active`, `session_busy`, `worker_still_alive`: nothing is deleted. */
  delete(sessionId: string, signal?: AbortSignal): Promise<void>
  /** Replaces the extra roots whole. @throws AppError `root_invalid`, `config_conflict` (`data`: `{ rev }`). */
  setRoots(request: { sessionId: string; dirs: readonly string[]; expectedRev: number }): Promise<SessionRow>
  /** @throws AppError `config_conflict` (`data`: `{ rev }`), `mode_forced`, `mode_not_allowed`. */
  configure(request: {
    sessionId: string
    expectedRev: number
    mode?: Mode
    sandbox?: boolean
  }): Promise<{ rev: number; changed: string[] }>
  /**
   * Inside the transaction of whoever binds the session to its account: the session's copy of the choice.
   * @throws AppError `config_conflict` (`data`: `{ rev }`).
   */
  applyChoice(
    request: { sessionId: string; choice: RuntimeChoice; expectedRev: number; by: Actor },
    tx: Tx,
  ): { rev: number }
}

export interface SessionDeps {
  ctx: RuntimeContext
  mutations: Mutations
  bindings: Pick<Bindings, 'bindIn'>
  removals: Removals
  osEnabled: () => boolean
  isHeld: (sessionId: string) => boolean
  refuseWhenStopping: () => void
}

export function createSessions(deps: SessionDeps): Sessions {
  const { ctx, mutations, bindings, removals, osEnabled, isHeld, refuseWhenStopping } = deps
  const { clock, ids, log, paths, store, tables, writer, keeper, executor, changes } = ctx

  function find(sessionId: string): SessionRow {
    const session = tables.sessions.get(sessionId)
    if (session === null) {
      throw new AppError('session_not_found', 'This session no longer exists.', { detail: sessionId })
    }
    return session
  }

  function told(tx: Tx, sessionId: string): void {
    store.afterCommit(tx, () => changes.tell({ kind: 'session', sessionId }))
  }

  /**
   * The bulk of a long session that is to go, in parts: all at once it would keep everybody waiting. A crash in between
   * leaves a session with less in it, which can be deleted again. A short one goes whole or not at all.
   */
  async function thinOut(lease: Lease): Promise<void> {
    const { sessionId } = lease
    const { headSeq, floorSeq } = find(sessionId)
    if (headSeq - floorSeq <= PART && tables.sessions.lastEntry(sessionId) <= PART) return
    const dropped = (drop: () => number): Promise<boolean> =>
      store.writeTx((tx) => {
        keeper.fence(tx, lease)
        return drop() === PART
      })
    while (await dropped(() => tables.events.dropUpTo(sessionId, headSeq, PART))) await nextTurn()
    while (await dropped(() => tables.transcript.drop(sessionId, PART))) await nextTurn()
  }

  /** One configuration change by whoever saw the newest revision. An equal value changes nothing and keeps it. */
  function configureIn(
    tx: Tx,
    sessionId: string,
    expectedRev: number,
    change: Partial<Pick<SessionRow, 'choice' | 'mode' | 'sandbox' | 'extraDirs'>>,
  ): { rev: number; changed: string[] } {
    const before = find(sessionId)
    const after = { ...before, ...change }
    const changed = (['choice', 'mode', 'sandbox', 'extraDirs'] as const).filter(
      (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
    )
    if (before.rev !== expectedRev) throw conflict(before.rev)
    if (changed.length === 0) return { rev: before.rev, changed: [] }
    const at = clock.nowMs()
    const rev = tables.sessions.configure(after, expectedRev, at)
    if (rev === null) throw conflict(find(sessionId).rev)
    const values = Object.fromEntries(changed.map((name) => [name, after[name]]))
    const body = { rev, changed: values }
    tables.transcript.append({ sessionId, turnId: null, runId: null }, [{ kind: 'config', body }], at)
    writer.emitIn(tx, sessionId)({ runId: null, type: 'config_changed', data: { rev, changed: values } })
    told(tx, sessionId)
    return { rev, changed }
  }

  function checkMode(mode: Mode | undefined, source: SessionRow['policySource']): void {
    if (mode === undefined) return
    if (source !== null && forcedMode(source) !== null) {
      throw new AppError('mode_forced', 'Where this session comes from decides its mode.')
    }
    resolveMode({ source: source ?? 'desktop', requested: mode, osEnabled: osEnabled() })
  }

  async function closeWorker(sessionId: string): Promise<void> {
    const close = executor.closeSession
    if (close === undefined) return
    const left = await withDeadline(clock, CLOSE_LIMIT_MS, undefined, (signal) =>
      close.call(executor, sessionId, signal),
    )
    if (left === 'held') {
      throw new AppError('worker_still_alive', "The session's agent has not ended yet. Settle that first.")
    }
  }

  return {
    async create(request) {
      refuseWhenStopping()
      const workDir = cleanDir(request.workDir)
      if (!(await isFolder(workDir))) {
        throw new AppError('work_dir_missing', 'This folder does not exist.', { detail: workDir })
      }
      const extraDirs = cleanRoots(request.extraDirs ?? [], workDir)
      await refuseOwnFolder(paths.dataDir, [workDir, ...extraDirs])
      const { binding } = request
      checkMode(request.mode, binding?.source ?? null)
      const id = request.id ?? ids.next()
      await store.writeTx((tx) => {
        const inserted = tables.sessions.insert({
          id,
          title: cleanTitle(request.title ?? ''),
          agentId: request.agentId,
          workDir,
          extraDirs,
          createdVia: request.createdVia,
          choice: request.choice ?? { connectionId: null, modelId: null, effort: 'default' },
          mode: request.mode ?? null,
          sandbox: request.sandbox ?? false,
          policySource: binding?.source ?? null,
          at: clock.nowMs(),
        })
        if (!inserted) throw new AppError('session_exists', 'There is a session with this id.', { detail: id })
        if (binding !== undefined) bindings.bindIn(find(id), binding)
        told(tx, id)
      })
      return find(id)
    },
    get(sessionId, { workDir } = {}) {
      const session = find(sessionId)
      if (workDir === undefined || session.workDir === cleanDir(workDir)) return session
      throw new AppError('session_not_found', 'This session belongs to another folder.', { detail: sessionId })
    },
    list({ archived = false, workDir, limit = 100, offset = 0 }) {
      const query = { archived, workDir: workDir === undefined ? null : cleanDir(workDir) }
      const page = { limit: Math.min(500, Math.max(1, limit)), offset: Math.max(0, offset) }
      return { sessions: tables.sessions.list({ ...query, ...page }), total: tables.sessions.count(query) }
    },
    async rename(sessionId, raw) {
      const title = cleanTitle(raw)
      await store.writeTx((tx) => {
        find(sessionId)
        tables.sessions.setTitle(sessionId, title, 'person')
        const body = { text: title }
        tables.transcript.append({ sessionId, turnId: null, runId: null }, [{ kind: 'title', body }], clock.nowMs())
        writer.emitIn(tx, sessionId)({ runId: null, type: 'title_changed', data: { title, by: 'person' } })
        told(tx, sessionId)
      })
      return find(sessionId)
    },
    async archive(sessionId, archived) {
      refuseWhenStopping()
      await store.writeTx((tx) => {
        find(sessionId)
        if (archived && tables.runs.active(sessionId).length > 0) throw busy(true)
        const at = clock.nowMs()
        tables.sessions.setArchived(sessionId, archived ? at : null, at)
        told(tx, sessionId)
      })
      if (archived) {
        await closeWorker(sessionId).catch((error: unknown) =>
          log.warn('The agent of an archived session has not ended.', { error, sessionId }),
        )
      }
      return find(sessionId)
    },
    async delete(sessionId, signal) {
      refuseWhenStopping()
      signal?.throwIfAborted()
      if (isHeld(sessionId)) {
        throw new AppError('worker_still_alive', "The session's last agent has not ended yet. Settle that first.")
      }
      await mutations.hold([sessionId], async ([lease]) => {
        await closeWorker(sessionId)
        if (lease !== undefined) await thinOut(lease)
        const files = await store.writeTx((tx) => {
          if (lease === undefined) throw busy(false)
          keeper.fence(tx, lease)
          const kept = tables.inputs.keptOf(sessionId)
          const { workDir } = find(sessionId)
          for (const inputId of kept) tables.removals.add({ id: inputId, kind: 'input', workDir }, clock.nowMs())
          const published = tables.artifacts.idsOf(sessionId)
          for (const artifactId of published) {
            tables.removals.add({ id: artifactId, kind: 'artifact', workDir: '' }, clock.nowMs())
          }
          executor.forgetSession?.(sessionId, tx)
          keeper.releaseIn(tx, lease)
          tables.sessions.delete(sessionId)
          store.afterCommit(tx, () => changes.tell({ kind: 'session', sessionId, deleted: true }))
          return [...kept, ...published]
        })
        await removals.now(files)
      })
    },
    async setRoots({ sessionId, dirs, expectedRev }) {
      refuseWhenStopping()
      const extraDirs = cleanRoots(dirs, find(sessionId).workDir)
      await refuseOwnFolder(paths.dataDir, extraDirs)
      await store.writeTx((tx) => configureIn(tx, sessionId, expectedRev, { extraDirs }))
      return find(sessionId)
    },
    async configure({ sessionId, expectedRev, mode, sandbox }) {
      refuseWhenStopping()
      checkMode(mode, find(sessionId).policySource)
      const change = { ...(mode === undefined ? {} : { mode }), ...(sandbox === undefined ? {} : { sandbox }) }
      return store.writeTx((tx) => configureIn(tx, sessionId, expectedRev, change))
    },
    applyChoice: ({ sessionId, choice, expectedRev }, tx) => {
      const { rev } = configureIn(tx, sessionId, expectedRev, { choice })
      return { rev }
    },
  }
}

function conflict(rev: number): AppError {
  return new AppError('config_conflict', 'Somebody changed this session since. Look again and repeat it.', {
    data: { rev },
  })
}

/** Without `.`, `..`, doubled and trailing separators. */
function cleanDir(dir: string): string {
  return resolve(normalize(dir))
}

/** @throws AppError `root_invalid`: one is relative or holds a NUL, or there are more than 16. */
function cleanRoots(dirs: readonly string[], workDir: string): string[] {
  const wrong = dirs.find((dir) => !isAbsolute(dir) || dir.includes('\0'))
  if (wrong !== undefined) {
    throw new AppError('root_invalid', 'A folder must be given by its full path.', { detail: JSON.stringify(wrong) })
  }
  const roots = [...new Set(dirs.map(cleanDir))].filter((dir) => dir !== workDir).sort()
  if (roots.length > MAX_EXTRA_DIRS) {
    throw new AppError('root_invalid', `A session has at most ${MAX_EXTRA_DIRS} extra folders.`)
  }
  return roots
}
