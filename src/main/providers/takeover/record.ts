/** What is remembered of a takeover, in `takeover/<client>.json`, and the exact copies of the person's file beside it. */
import { readdir } from 'node:fs/promises'
import { hash } from 'node:crypto'
import { basename, join } from 'node:path'
import { z } from 'zod'
import type { Clock, DurableFile, PersistOutcome } from '../../platform/types.ts'
import type { TakeoverClient, TakeoverDetail } from './types.ts'

const MAX_RECORD_BYTES = 4_194_304
const MAX_BACKUP_BYTES = 1_048_576
const KEPT_BACKUPS = 5

const RecordShape = z.strictObject({
  schemaVersion: z.literal(1),
  enabled: z.boolean(),
  /** A change that a crash cut is found by it. */
  phase: z.enum(['enabling', 'disabling']).optional(),
  resumeOnStart: z.boolean().optional(),
  enabledAtMs: z.number().optional(),
  configPath: z.string().max(4_096),
  backupPath: z.string().max(4_096).optional(),
  kind: z.enum(['base_url', 'provider_table', 'env']),
  /** Codex's table alone. */
  keepLogin: z.literal(true).optional(),
  originals: z.array(
    z.strictObject({
      key: z.string().max(64),
      present: z.boolean(),
      text: z.string().optional(),
      inBackup: z.boolean().optional(),
    }),
  ),
  addedFinalEol: z.boolean(),
  createdFile: z.boolean(),
  /** Made for it, the innermost first: they go again once they are empty. */
  createdFolders: z.array(z.string().max(4_096)).optional(),
  /** Of the last time it was switched off. */
  detail: z.enum(['provider_line_user_changed', 'block_user_changed', 'original_unrecoverable']).optional(),
})

/** Secret-free: what may be a key is looked up in the backup. */
export type TakeoverRecord = z.infer<typeof RecordShape>

export function switchedOff(record: TakeoverRecord): TakeoverRecord {
  const { phase: _phase, resumeOnStart: _resume, detail: _detail, createdFolders: _made, ...off } = record
  return { ...off, enabled: false }
}

/** What is told of a takeover that is off. */
export function isKept(detail: TakeoverDetail | null): detail is NonNullable<TakeoverRecord['detail']> {
  return (
    detail === 'provider_line_user_changed' || detail === 'block_user_changed' || detail === 'original_unrecoverable'
  )
}

export interface Records {
  /** Null: there is none. `unreadable`: there is one that this version does not know; it is not touched. */
  load(): Promise<TakeoverRecord | 'unreadable' | null>
  save(record: TakeoverRecord): Promise<PersistOutcome>
  forget(): Promise<PersistOutcome>
  /** A copy of the bytes; one that is there already serves again. Of all copies the oldest go, but never `alsoKept`. */
  keepBackup(bytes: Uint8Array, alsoKept?: string): Promise<{ path: string; isNew: boolean }>
  /** Null: it is gone, or no longer what was put there. */
  readBackup(path: string | undefined): Promise<Uint8Array | null>
  dropBackup(path: string): Promise<void>
}

export function createRecords(deps: {
  client: TakeoverClient
  /** `<data>/providers/takeover`. */
  dir: string
  files: DurableFile
  clock: Clock
}): Records {
  const { client, files, clock } = deps
  const path = join(deps.dir, `${client}.json`)
  const backups = join(deps.dir, 'backups')

  async function names(): Promise<readonly string[]> {
    const all = await readdir(backups).catch(() => [])
    return all.filter((name) => name.startsWith(`${client}-`) && name.endsWith('.bak')).sort()
  }

  /** A copy is called by what it holds. */
  async function readCopy(at: string): Promise<Uint8Array | null> {
    const bytes = await files.read(at, { maxBytes: MAX_BACKUP_BYTES }).catch(() => null)
    return bytes !== null && at.endsWith(endOf(bytes)) ? bytes : null
  }

  async function prune(kept: readonly string[]): Promise<void> {
    const all = await names()
    const old = all.filter((name) => !kept.includes(name))
    for (const name of old.slice(0, Math.max(0, all.length - KEPT_BACKUPS))) await files.remove(join(backups, name))
  }

  return {
    async load() {
      try {
        const bytes = await files.read(path, { maxBytes: MAX_RECORD_BYTES })
        if (bytes === null) return null
        return RecordShape.parse(JSON.parse(Buffer.from(bytes).toString('utf8')))
      } catch {
        return 'unreadable'
      }
    },
    save: (record) => files.write(path, `${JSON.stringify(record, null, 2)}\n`),
    forget: () => files.remove(path),
    async keepBackup(bytes, alsoKept = '') {
      const end = endOf(bytes)
      const same = (await names()).findLast((name) => name.endsWith(end))
      if (same !== undefined && (await readCopy(join(backups, same))) !== null) {
        return { path: join(backups, same), isNew: false }
      }
      const at = new Date(clock.nowMs()).toISOString().replaceAll(/[-:.]/g, '')
      const name = `${client}-${at}${end}`
      await files.write(join(backups, name), bytes)
      await prune([name, basename(alsoKept)])
      return { path: join(backups, name), isNew: true }
    },
    async readBackup(at) {
      return at === undefined ? null : await readCopy(at)
    },
    async dropBackup(at) {
      await files.remove(at)
    },
  }
}

function endOf(bytes: Uint8Array): string {
  return `-${hash('sha256', bytes, 'hex').slice(0, 16)}.bak`
}
