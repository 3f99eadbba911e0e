/** The catalog in memory: the last one that was written. Every change carries the revision that its author saw. */
import { AppError } from '../../../shared/errors.ts'
import type { PersistOutcome } from '../../../shared/vocabulary.ts'
import type { Catalog } from '../types.ts'
import { freeze, sorted } from './catalog-file.ts'
import type { CatalogFile } from './catalog-file.ts'

export interface CatalogState {
  load(): Promise<void>
  /** A deep-frozen snapshot. */
  current(): Catalog
  /** @throws AppError `model_profile_conflict`; `detail` is the revision of now. */
  demandRevision(revision: number): void
  /** Writes the next revision; memory follows only what was applied. @throws AppError `file_failed`. */
  commit(change: Pick<Catalog, 'connections' | 'defaults'>): Promise<PersistOutcome>
}

export function createCatalogState(file: CatalogFile): CatalogState {
  let catalog: Catalog = freeze({ schemaVersion: 1, revision: 0, connections: [], defaults: {} })
  return {
    async load() {
      catalog = await file.load()
    },
    current: () => catalog,
    demandRevision(revision) {
      if (revision === catalog.revision) return
      throw new AppError(
        'model_profile_conflict',
        'Somebody changed the Providers in the meantime. Look again, then save.',
        {
          detail: String(catalog.revision),
          data: { revision: catalog.revision },
          retryable: false,
        },
      )
    },
    async commit({ connections, defaults }) {
      const next = freeze({
        schemaVersion: 1,
        revision: catalog.revision + 1,
        connections: structuredClone(sorted(connections)),
        defaults: structuredClone(defaults),
      })
      const outcome = await file.save(next)
      if (!outcome.applied) throw new AppError('file_failed', 'The Providers could not be saved. Nothing was changed.')
      catalog = next
      return outcome
    },
  }
}
