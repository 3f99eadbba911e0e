import { AppError } from '../../../shared/errors.ts'
import { sha256 } from '../admission/fingerprint.ts'
import type { RuntimeContext } from '../context.ts'
import { resolveSource } from '../policy/index.ts'
import type { BindingRow } from '../store/bindings.ts'
import type { SessionRow } from '../types.ts'

const MAX_KEY_BYTES = 1_024
const MAX_LABEL_BYTES = 200

export interface Binding {
  source: 'cron' | 'channel'
  /** Names the schedule or the outside conversation. Stored as a hash alone. */
  externalKey: string
  label?: string
}

export interface Bindings {
  /** Inside the transaction that makes the session, or later. @throws AppError as `bind`. */
  bindIn(session: SessionRow, binding: Binding): BindingRow
  /**
   * One session per outside key, one key per session; the same once more is a success.
   * @throws AppError `session_not_found`, `binding_taken` (`data`: `{ sessionId }`), `source_conflict`, `input_invalid`.
   */
  bind(sessionId: string, binding: Binding): Promise<BindingRow>
  /** Removes the binding alone: what the session is by its origin stays. False: there was none. */
  unbind(sessionId: string): Promise<boolean>
  of(sessionId: string): BindingRow | null
  /** The session of this outside key. */
  find(binding: Pick<Binding, 'source' | 'externalKey'>): BindingRow | null
}

export function createBindings({ clock, store, tables, changes }: RuntimeContext): Bindings {
  function bindIn(session: SessionRow, { source, externalKey, label = '' }: Binding): BindingRow {
    resolveSource({ binding: source, header: session.policySource })
    const keyHash = hashOf(externalKey)
    if (Buffer.byteLength(label) > MAX_LABEL_BYTES) throw new AppError('input_invalid', 'The label is too long.')
    const taken = tables.bindings.byKey(source, keyHash) ?? tables.bindings.of(session.id)
    const same = taken !== null && taken.sessionId === session.id && tables.bindings.byKey(source, keyHash) !== null
    if (same) return taken
    if (taken !== null) {
      throw new AppError('binding_taken', 'There is a session for this schedule or conversation already.', {
        detail: taken.sessionId,
        data: { sessionId: taken.sessionId },
      })
    }
    const row = { sessionId: session.id, source, label }
    tables.bindings.insert({ ...row, keyHash, at: clock.nowMs() })
    return row
  }

  return {
    bindIn,
    bind: (sessionId, binding) =>
      store.writeTx((tx) => {
        const session = tables.sessions.get(sessionId)
        if (session === null) {
          throw new AppError('session_not_found', 'This session no longer exists.', { detail: sessionId })
        }
        const row = bindIn(session, binding)
        store.afterCommit(tx, () => changes.tell({ kind: 'session', sessionId }))
        return row
      }),
    unbind: (sessionId) =>
      store.writeTx((tx) => {
        const gone = tables.bindings.delete(sessionId)
        if (gone) store.afterCommit(tx, () => changes.tell({ kind: 'session', sessionId }))
        return gone
      }),
    of: (sessionId) => tables.bindings.of(sessionId),
    find: ({ source, externalKey }) => tables.bindings.byKey(source, hashOf(externalKey)),
  }
}

function hashOf(externalKey: string): string {
  if (externalKey === '' || Buffer.byteLength(externalKey) > MAX_KEY_BYTES) {
    throw new AppError('input_invalid', 'An outside key has 1 to 1024 bytes.')
  }
  return sha256(externalKey)
}
