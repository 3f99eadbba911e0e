/** The catalog files that Codex launches point at: `codex-catalogs/<connectionId>.json`. They hold no secret. */
import { join } from 'node:path'
import type { DurableFile, Log } from '../../platform/types.ts'

export interface CodexCatalogFiles {
  /** Null text: none is to be handed to that worker. A file that cannot be written is done without. */
  write(workerId: string, connectionId: string, text: string | null): Promise<void>
  pathFor(workerId: string): string | null
  forget(workerId: string): void
}

export function createCodexCatalogFiles(deps: { dir: string; files: DurableFile; log: Log }): CodexCatalogFiles {
  const paths = new Map<string, string>()
  return {
    async write(workerId, connectionId, text) {
      paths.delete(workerId)
      if (text === null) return
      const path = join(deps.dir, `${connectionId}.json`)
      try {
        const outcome = await deps.files.write(path, text)
        if (outcome.applied) paths.set(workerId, path)
      } catch (error) {
        deps.log.warn('the model catalog for Codex could not be written', { error })
      }
    },
    pathFor: (workerId) => paths.get(workerId) ?? null,
    forget: (workerId) => void paths.delete(workerId),
  }
}
