/** `gateway.json`: which account each client's requests go to. While it is there, the gateway listens. */
import { z } from 'zod'
import { AppError } from '../../../shared/errors.ts'
import type { DurableFile, PersistOutcome } from '../../platform/types.ts'
import type { GatewayClient } from './paths.ts'

const MAX_BYTES = 4_096

const Shape = z.strictObject({
  schemaVersion: z.literal(1),
  upstreams: z.strictObject({ codex: z.string().max(64).optional(), claude: z.string().max(64).optional() }),
})

export type GatewayChoice = Readonly<Partial<Record<GatewayClient, string>>>

export interface GatewayFile {
  /** Null: the gateway was never used. @throws AppError `file_failed`: it cannot be read, and is left as it is. */
  load(): Promise<GatewayChoice | null>
  save(upstreams: GatewayChoice): Promise<PersistOutcome>
}

export function createGatewayFile({ path, files }: { path: string; files: DurableFile }): GatewayFile {
  return {
    async load() {
      const bytes = await files.read(path, { maxBytes: MAX_BYTES })
      if (bytes === null) return null
      try {
        const { codex, claude } = Shape.parse(JSON.parse(Buffer.from(bytes).toString('utf8'))).upstreams
        return { ...(codex === undefined ? {} : { codex }), ...(claude === undefined ? {} : { claude }) }
      } catch (cause) {
        throw new AppError('file_failed', `The gateway’s settings ${path} cannot be read, and were left as they are.`, {
          detail: path,
          cause,
        })
      }
    },
    save: (upstreams) => files.write(path, `${JSON.stringify({ schemaVersion: 1, upstreams }, null, 2)}\n`),
  }
}
