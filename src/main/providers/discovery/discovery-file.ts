/** `discovery.json`: the model ids last seen of each connection, and which of them a person switched off. */
import { rename } from 'node:fs/promises'
import { z } from 'zod'
import { AppError } from '../../../shared/errors.ts'
import type { Clock, DurableFile, PersistOutcome } from '../../platform/types.ts'
import { isModelId } from '../validation.ts'
import { MAX_MODELS } from './model-list.ts'

const MAX_BYTES = 16 * 1024 * 1024
const Ids = z.array(z.string().refine(isModelId)).max(MAX_MODELS)
const Shape = z.strictObject({
  schemaVersion: z.literal(1),
  connections: z.record(z.string(), z.strictObject({ ids: Ids, disabledIds: Ids, seenAtMs: z.int().nullable() })),
})

export interface Seen {
  readonly ids: readonly string[]
  readonly disabledIds: readonly string[]
  /** Wall clock, Unix ms; null: never asked. */
  readonly seenAtMs: number | null
}

export interface DiscoveryFile {
  /** @throws AppError `provider_discovery_cache_invalid`; the file is not touched. */
  load(): Promise<ReadonlyMap<string, Seen>>
  save(seen: ReadonlyMap<string, Seen>): Promise<PersistOutcome>
  /** Moves a file that cannot be read out of the way, under a name that says when. */
  setAside(): Promise<void>
}

export function createDiscoveryFile(deps: { path: string; files: DurableFile; clock: Clock }): DiscoveryFile {
  const { path, files, clock } = deps
  return {
    async load() {
      try {
        const bytes = await files.read(path, { maxBytes: MAX_BYTES })
        if (bytes === null) return new Map()
        return new Map(Object.entries(Shape.parse(JSON.parse(Buffer.from(bytes).toString('utf8'))).connections))
      } catch (cause) {
        throw new AppError(
          'provider_discovery_cache_invalid',
          'The list of models last seen cannot be read. Refresh the models to replace it.',
          { detail: path, cause },
        )
      }
    },
    async save(seen) {
      const text = `${JSON.stringify({ schemaVersion: 1, connections: Object.fromEntries(seen) })}\n`
      if (Buffer.byteLength(text) <= MAX_BYTES) return await files.write(path, text)
      throw new AppError('file_failed', 'There are more models than can be kept: they are as they were before.', {
        detail: path,
      })
    },
    async setAside() {
      const when = new Date(clock.nowMs()).toISOString().replace(/[:.]/g, '-')
      await rename(path, `${path}.corrupt-${when}`)
    },
  }
}
