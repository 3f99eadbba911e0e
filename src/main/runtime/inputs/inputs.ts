import { AppError } from '../../../shared/errors.ts'
import type { PromptInput } from '../../../shared/vocabulary.ts'
import type { RuntimeContext } from '../context.ts'
import type { Removals } from '../housekeeping/removals.ts'
import { MATERIAL_LIMITS } from '../materials/limits.ts'
import type { MaterialHints, MaterialKind, MaterialLimits, OpenMaterial } from '../materials/limits.ts'
import { receive } from '../materials/receive.ts'
import type { Received } from '../materials/receive.ts'
import type { InputRow } from '../store/inputs.ts'
import { createItemKeys } from './item-key.ts'
import type { ItemIdentity } from './item-key.ts'
import { findInputFile, makeInputFolder, relativeInputPath } from './root.ts'

const DRAFT_MS = 24 * 3_600_000
/** Longer than any item may take: a folder without a row before that may still be filled. */
const UNCLAIMED_MS = 3_600_000
const PAGE = 256

export interface PrepareInput extends ItemIdentity {
  sessionId: string
  kind: MaterialKind
  hints?: MaterialHints
  /** Called once, unless the item is there already or is refused for its size. */
  open: OpenMaterial
}

export interface PreparedInput {
  input: InputRow
  /** The same item was there already. */
  replayed: boolean
  /** False: it is there, but a power failure might still take it. */
  durable: boolean
}

export interface Inputs {
  limits(): Readonly<Record<MaterialKind, MaterialLimits>>
  /**
   * Streams one item into the session's work directory. The same item of the same event is the same input, whoever brings it.
   * @throws AppError `session_not_found`, `work_dir_missing`, `input_path_escape`, `input_root_unwritable`, what `receive` throws.
   */
  prepare(request: PrepareInput, signal?: AbortSignal): Promise<PreparedInput>
  /** @throws AppError `input_unavailable`: the session has none with this id. */
  get(request: { sessionId: string; inputId: string }): InputRow
  /** In the order in which the run got them. */
  ofRun(runId: string): InputRow[]
  /** An unsent one goes. Repeated, a success. @throws AppError `input_unavailable`, `input_attached`. */
  discard(request: { sessionId: string; inputId: string }): Promise<InputRow>
  /** Also one that was sent: its file goes, its row stays. Repeated, a success. @throws AppError `input_unavailable`. */
  delete(request: { sessionId: string; inputId: string }): Promise<InputRow>
  /** Lets drafts of a day ago go, and marks those whose files are gone. */
  cleanup(): Promise<{ expired: number; missing: number }>
  /**
   * The files of what is to be submitted, in that order. `intentId`: of the intent that may have attached them already.
   * @throws AppError `input_unavailable`, `input_attached_elsewhere`.
   */
  forPrompt(request: {
    sessionId: string
    workDir: string
    ids: readonly string[]
    intentId: string | null
  }): Promise<PromptInput[]>
}

export interface InputDeps {
  ctx: RuntimeContext
  removals: Removals
  refuseWhenStopping: () => void
  /** Aborts when the runtime stops. */
  stopping: AbortSignal
}

export function createInputs({ ctx, removals, refuseWhenStopping, stopping }: InputDeps): Inputs {
  const { clock, ids, log, paths, store, tables, writer, failpoints } = ctx
  const itemKey = createItemKeys({ dataDir: paths.dataDir, ids })

  function find(sessionId: string, inputId: string): InputRow {
    const input = tables.inputs.get(inputId)
    if (input?.sessionId === sessionId) return input
    throw unavailable(inputId)
  }

  function workDirOf(sessionId: string): string {
    const session = tables.sessions.get(sessionId)
    if (session !== null) return session.workDir
    throw new AppError('session_not_found', 'This session no longer exists.', { detail: sessionId })
  }

  function known(sessionId: string, key: string | null): PreparedInput | null {
    const input = key === null ? null : tables.inputs.byItemKey(sessionId, key)
    return input === null ? null : { input, replayed: true, durable: true }
  }

  /** Writes the row, unless somebody else brought the same item meanwhile. */
  function record(
    id: string,
    request: PrepareInput,
    received: Received,
    key: string | null,
  ): Promise<PreparedInput | null> {
    const { sessionId, origin } = request
    const { kind, filename, mediaType, bytes, sha256, durable } = received
    return writer.commitSession(sessionId, (_tx, emit) => {
      workDirOf(sessionId)
      const facts = { id, sessionId, origin, kind, filename, mediaType, bytes, sha256, itemKey: key, at: clock.nowMs() }
      if (!tables.inputs.insert({ ...facts, relativePath: relativeInputPath(id, filename) })) return null
      tables.removals.strike(id)
      emit({
        runId: null,
        type: 'input_prepared',
        data: { inputId: id, origin, kind, filename, mediaType, bytes },
      })
      return { input: find(sessionId, id), replayed: false, durable }
    })
  }

  async function letGo(
    input: InputRow,
    from: readonly InputRow['status'][],
    reason: 'discarded' | 'deleted' | 'expired',
  ): Promise<boolean> {
    const { id, sessionId } = input
    const gone = await writer.commitSession(sessionId, (tx, emit) => {
      if (!tables.inputs.settle(id, 'deleted', from, clock.nowMs())) return false
      tables.removals.add({ id, kind: 'input', workDir: workDirOf(sessionId) }, clock.nowMs())
      emit({ runId: null, type: 'input_deleted', data: { inputId: id, reason } })
      store.afterCommit(tx, () => failpoints.hit('input.after_delete_commit'))
      return true
    })
    if (gone) await removals.now([id])
    return gone
  }

  async function markMissing(input: InputRow): Promise<boolean> {
    return writer.commitSession(input.sessionId, (_tx, emit) => {
      if (!tables.inputs.settle(input.id, 'missing', ['prepared', 'attached'], clock.nowMs())) return false
      emit({ runId: null, type: 'input_missing', data: { inputId: input.id } })
      return true
    })
  }

  return {
    limits: () => MATERIAL_LIMITS,
    async prepare(request, signal) {
      refuseWhenStopping()
      const { sessionId, kind, hints = {}, open } = request
      const workDir = workDirOf(sessionId)
      const key = await itemKey(request)
      const earlier = known(sessionId, key)
      if (earlier !== null) return earlier
      const limit = MATERIAL_LIMITS[kind].maxBytes
      if ((hints.size ?? 0) > limit) {
        throw new AppError('input_too_large', `An attachment of this kind has at most ${limit / 1_048_576} MiB.`)
      }
      const id = ids.next()
      await store.writeTx(() => tables.removals.add({ id, kind: 'input', workDir }, clock.nowMs() + UNCLAIMED_MS))
      const both = signal === undefined ? stopping : AbortSignal.any([signal, stopping])
      try {
        const folder = await makeInputFolder(workDir, id)
        const received = await receive({ clock, ids }, { folder, kind, hints, open }, both)
        if (!received.durable) log.warn('An attachment is not safe from a power failure yet.', { id })
        const recorded = (await record(id, request, received, key)) ?? known(sessionId, key)
        if (recorded === null) throw unavailable(id)
        if (recorded.replayed) await removals.now([id])
        return recorded
      } catch (error) {
        await removals.now([id])
        throw error
      }
    },
    get: ({ sessionId, inputId }) => find(sessionId, inputId),
    ofRun: (runId) => tables.inputs.ofRun(runId),
    async discard({ sessionId, inputId }) {
      const input = find(sessionId, inputId)
      if (input.status === 'prepared') await letGo(input, ['prepared'], 'discarded')
      const now = find(sessionId, inputId)
      if (now.status !== 'attached') return now
      throw new AppError('input_attached', 'This attachment was sent already. It can only be deleted.', {
        detail: inputId,
      })
    },
    async delete({ sessionId, inputId }) {
      await letGo(find(sessionId, inputId), ['prepared', 'attached', 'missing'], 'deleted')
      return find(sessionId, inputId)
    },
    async cleanup() {
      let expired = 0
      let missing = 0
      for (;;) {
        const drafts = tables.inputs.drafts(clock.nowMs() - DRAFT_MS, PAGE)
        for (const draft of drafts) if (await letGo(draft, ['prepared'], 'expired')) expired++
        if (drafts.length < PAGE) break
      }
      for (let after = ''; ;) {
        const page = tables.inputs.keptAfter(after, PAGE)
        for (const input of page) {
          const workDir = tables.sessions.get(input.sessionId)?.workDir
          if (workDir === undefined || (await findInputFile(workDir, input.relativePath)) !== null) continue
          if (await markMissing(input)) missing++
        }
        const last = page.at(-1)
        if (last === undefined || page.length < PAGE) break
        after = last.id
      }
      return { expired, missing }
    },
    async forPrompt({ sessionId, workDir, ids, intentId }) {
      const found: PromptInput[] = []
      for (const id of ids) {
        const input = usable(tables, { sessionId, id, intentId })
        const path = await findInputFile(workDir, input.relativePath)
        if (path === null) throw unavailable(id)
        const { mediaType, filename, bytes } = input
        found.push({ path, mediaType, filename, bytes })
      }
      return found
    },
  }
}

/**
 * An input that this intent may be submitted with.
 * @throws AppError `input_unavailable`, `input_attached_elsewhere`.
 */
export function usable(
  tables: RuntimeContext['tables'],
  { sessionId, id, intentId }: { sessionId: string; id: string; intentId: string | null },
): InputRow {
  const input = tables.inputs.get(id)
  if (input === null || input.sessionId !== sessionId) throw unavailable(id)
  if (input.status === 'prepared') return input
  if (input.status !== 'attached') throw unavailable(id)
  const by = input.runId === null ? null : tables.runs.get(input.runId)
  if (intentId !== null && by?.intentId === intentId) return input
  throw new AppError('input_attached_elsewhere', 'This attachment belongs to an earlier message. Attach it anew.', {
    detail: id,
  })
}

function unavailable(inputId: string): AppError {
  return new AppError('input_unavailable', 'This attachment is not there any more. Attach it anew.', {
    detail: inputId,
  })
}
