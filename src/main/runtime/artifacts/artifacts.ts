import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open, readdir, stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../../shared/errors.ts'
import { isTerminal } from '../../../shared/vocabulary.ts'
import { makeFolders, systemCode } from '../../platform/index.ts'
import type { RuntimeContext } from '../context.ts'
import type { ActiveRun, RunRegistry } from '../execution/active.ts'
import { aborted } from '../execution/waits.ts'
import { artifactsDir } from '../housekeeping/removals.ts'
import type { Removals } from '../housekeeping/removals.ts'
import { isUuid } from '../inputs/root.ts'
import { withExtension } from '../materials/filename.ts'
import { IMAGES } from '../materials/identify.ts'
import { MATERIAL_LIMITS } from '../materials/limits.ts'
import type { MaterialKind, OpenMaterial } from '../materials/limits.ts'
import { INCOMING, receive } from '../materials/receive.ts'
import type { Received } from '../materials/receive.ts'
import { evaluate, onDisk } from '../policy/index.ts'
import type { ArtifactRow } from '../store/artifacts.ts'
import type { EndWork } from '../types.ts'
import { findSource, unresolvable } from './source.ts'

const DAY_MS = 24 * 3_600_000
const KEPT_MS = 7 * DAY_MS
/** A folder that no row names may still be filled, or be another process's. */
const RECLAIM_MS = KEPT_MS + DAY_MS
const PAGE = 256
const CONTENT = 'content'

/** Exactly one of `path` and `open`. */
export interface ArtifactOffer {
  path?: string
  open?: OpenMaterial
  filename?: string
  kind?: MaterialKind
}

export interface Artifacts extends EndWork {
  /**
   * Copies what a run's agent offers. When this resolves, nothing that the agent does can change what was published.
   * @throws AppError `run_ending`, `run_not_found`, `artifact_unresolvable`, `input_path_escape`, `policy_*`, what `receive`
   *   throws; the run's log has it as `artifact_failed`, and the run goes on.
   */
  publish(request: ArtifactOffer & { runId: string }, signal?: AbortSignal): Promise<ArtifactRow>
  /** The same without an answer. Never rejects. */
  offered(run: ActiveRun, offer: ArtifactOffer): void
  /** @throws AppError `artifact_not_found`: also for another session's. */
  get(request: { sessionId: string; artifactId: string }): ArtifactRow
  ofRun(runId: string): ArtifactRow[]
  /**
   * The bytes as they were published. The stream has to be read to its end or given up (`return`).
   * @throws AppError `artifact_not_found`, `artifact_expired`, `artifact_corrupt`.
   */
  open(request: {
    sessionId: string
    artifactId: string
  }): Promise<{ artifact: ArtifactRow; stream: AsyncIterable<Uint8Array> }>
  /** Lets go of what is past its time, and of copies that were never finished. */
  cleanup(): Promise<{ expired: number; reclaimed: number }>
}

interface Copy {
  giveUp(error: AppError): void
  done: Promise<unknown>
}

export function createArtifacts(ctx: RuntimeContext, registry: RunRegistry, removals: Removals): Artifacts {
  const { clock, ids, log, paths, store, tables, failpoints } = ctx
  const root = artifactsDir(paths.dataDir)
  const copies = new Map<string, Set<Copy>>()

  function start(run: ActiveRun, offer: ArtifactOffer, signal?: AbortSignal): Promise<ArtifactRow> {
    const { runId } = run.spec
    const stop = new AbortController()
    const signals = [stop.signal, run.lease.lost, ...(signal === undefined ? [] : [signal])]
    let told = false
    let settled = false
    /** Before the end event or not at all. */
    const tell = (error: unknown): void => {
      if (told) return
      told = true
      const { code, message } = error instanceof AppError ? error : FAILED
      const filename = offer.filename ?? offer.path ?? null
      const data = { code, message, filename: filename?.slice(-255) ?? null }
      run.stream.push({ runId, type: 'artifact_failed', data }, { urgent: true })
    }
    const work = copyOffer(run, offer, AbortSignal.any(signals))
    work.catch((error: unknown) => {
      log.warn('What an agent offered was not published.', { error, runId })
      tell(error)
    })
    const copy: Copy = {
      done: work
        .catch(() => undefined)
        .finally(() => {
          settled = true
        }),
      giveUp(error) {
        if (settled) return
        tell(error)
        stop.abort(error)
      },
    }
    const own = copies.get(runId) ?? new Set()
    copies.set(runId, own.add(copy))
    void copy.done.then(() => {
      own.delete(copy)
      if (own.size === 0) copies.delete(runId)
    })
    run.looked()
    return work
  }

  async function copyOffer(run: ActiveRun, offer: ArtifactOffer, signal: AbortSignal): Promise<ArtifactRow> {
    if (run.closing()) throw ending()
    const opening = await sourceOf(run, offer)
    const id = ids.next()
    const folder = join(root, id)
    await makeFolders(folder)
    try {
      const received = await receive(
        { clock, ids },
        {
          folder,
          kind: offer.kind ?? 'file',
          hints: offer.filename === undefined ? {} : { filename: offer.filename },
          open: opening,
          storedAs: CONTENT,
          onPiece: () => failpoints.hit('artifact.mid_copy'),
        },
        signal,
      )
      return await record(run, id, offer, received)
    } catch (error) {
      await store.writeTx(() => tables.removals.add({ id, kind: 'artifact', workDir: '' }, clock.nowMs()))
      await removals.now([id])
      throw error
    }
  }

  async function sourceOf(run: ActiveRun, { path, open: given, filename }: ArtifactOffer): Promise<OpenMaterial> {
    if (given !== undefined && path === undefined) return given
    const { policy, sessionId } = run.spec
    const workDir = policy.roots[0] ?? ''
    if (path === undefined || given !== undefined) throw unresolvable(path ?? '')
    const source = await findSource(workDir, path)
    const verdict = evaluate(
      policy,
      { kind: 'read', toolName: 'publish_artifact', action: null, complete: true, locations: [source.path] },
      { dataDir: paths.dataDir, rules: tables.rules.for(sessionId, workDir), ...onDisk },
    )
    if (verdict.effect !== 'allow') throw new AppError(verdict.code ?? 'policy_blocked', verdict.reason)
    if (filename === undefined) return source.open
    return async (signal) => ({ ...(await source.open(signal)), filename })
  }

  function record(run: ActiveRun, id: string, offer: ArtifactOffer, received: Received): Promise<ArtifactRow> {
    const { runId, sessionId } = run.spec
    const { filename, mediaType, bytes, sha256 } = received
    const extensions = IMAGES[mediaType]
    const isImage = offer.kind === undefined && extensions !== undefined && bytes <= MATERIAL_LIMITS.image.maxBytes
    const kind = isImage ? 'image' : received.kind
    const named = isImage && !filename.includes('.') ? withExtension(filename, extensions) : filename
    return run.stream.commit((_tx, emit) => {
      const state = tables.runs.get(runId)?.state
      if (state === undefined || isTerminal(state)) throw ending()
      const createdAt = clock.nowMs()
      const facts = { kind, filename: named, mediaType, bytes }
      const times = { createdAt, expiresAt: createdAt + KEPT_MS }
      const row = { id, sessionId, runId, ...facts, sha256, ...times }
      tables.artifacts.insert({ ...row, origin: 'agent', storageKey: `${id}/${CONTENT}` })
      emit({ runId, type: 'artifact_published', data: { artifactId: id, ...facts } })
      return { ...row, status: 'generated' }
    })
  }

  function find(sessionId: string, artifactId: string): ArtifactRow {
    const artifact = tables.artifacts.get(artifactId)
    if (artifact?.sessionId === sessionId) return artifact
    throw new AppError('artifact_not_found', 'There is no such file in this session.', { detail: artifactId })
  }

  async function expire(): Promise<number> {
    for (let count = 0; ;) {
      const past = tables.artifacts.past(clock.nowMs(), PAGE)
      if (past.length === 0) return count
      await store.writeTx(() => {
        for (const id of past) {
          tables.artifacts.expire(id)
          tables.removals.add({ id, kind: 'artifact', workDir: '' }, clock.nowMs())
        }
      })
      count += past.length
    }
  }

  async function reclaim(): Promise<number> {
    const stale: string[] = []
    for (const name of await listing(root)) {
      if (!isUuid(name) || tables.artifacts.get(name) !== null) continue
      const held = await listing(join(root, name))
      if (!held.every((file) => file === CONTENT || file.startsWith(INCOMING))) continue
      const { mtimeMs } = await stat(join(root, name))
      if (mtimeMs + RECLAIM_MS <= clock.nowMs()) stale.push(name)
    }
    if (stale.length === 0) return 0
    await store.writeTx(() => {
      for (const id of stale) tables.removals.add({ id, kind: 'artifact', workDir: '' }, clock.nowMs())
    })
    return stale.length
  }

  return {
    async publish({ runId, ...offer }, signal) {
      const run = registry.get(runId)
      if (run !== null) return start(run, offer, signal)
      if (tables.runs.get(runId) !== null) throw ending()
      throw new AppError('run_not_found', 'This run no longer exists.', { detail: runId })
    },
    offered(run, offer) {
      void start(run, offer).catch(() => undefined)
    },
    pending: (runId) => copies.has(runId),
    async settle({ runId }, signal) {
      const own = [...(copies.get(runId) ?? [])]
      const giveUp = (): void => {
        const late = new AppError('deadline_exceeded', 'The file was not copied in time.')
        for (const copy of own) copy.giveUp(late)
      }
      // At once: what a copy says of itself has to stand before the end.
      signal.addEventListener('abort', giveUp, { once: true })
      await Promise.race([Promise.all(own.map(({ done }) => done)), aborted(signal)])
      signal.removeEventListener('abort', giveUp)
    },
    get: ({ sessionId, artifactId }) => find(sessionId, artifactId),
    ofRun: (runId) => tables.artifacts.ofRun(runId),
    async open({ sessionId, artifactId }) {
      const artifact = find(sessionId, artifactId)
      if (artifact.status === 'expired' || artifact.expiresAt <= clock.nowMs()) {
        throw new AppError('artifact_expired', 'This file was kept for seven days and is gone.', { detail: artifactId })
      }
      return { artifact, stream: await openWhole(join(root, artifact.id, CONTENT), artifact) }
    },
    cleanup: async () => ({ expired: await expire(), reclaimed: await reclaim() }),
  }
}

const FAILED = new AppError('file_failed', 'The file could not be copied.')

function ending(): AppError {
  return new AppError('run_ending', 'The run is over: it can publish nothing more.')
}

async function listing(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return []
    throw error
  })
}

/** Nothing is handed out before all of it was seen to be what was published. */
async function openWhole(path: string, { id, bytes, sha256 }: ArtifactRow): Promise<AsyncIterable<Uint8Array>> {
  const corrupt = (cause?: unknown): AppError =>
    new AppError('artifact_corrupt', 'The stored copy of this file is damaged.', { detail: id, cause })
  let file: FileHandle
  try {
    file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  } catch (error) {
    throw corrupt(error)
  }
  try {
    const seen = await file.stat()
    if (!seen.isFile() || seen.size !== bytes) throw corrupt()
    const hash = createHash('sha256')
    for await (const piece of file.createReadStream({ autoClose: false, start: 0 })) hash.update(piece as Uint8Array)
    if (hash.digest('hex') !== sha256) throw corrupt()
    return file.createReadStream({ start: 0 })
  } catch (error) {
    await file.close()
    throw error
  }
}
