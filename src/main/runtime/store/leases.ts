/** The leases table: who may write for a session, for what, and until when. Every change carries the epoch its author saw. */
import { z } from 'zod'
import type { Database } from '../../platform/types.ts'
import type { LeasePurpose } from '../types.ts'
import { MaybeCount } from './json.ts'

const Row = z.object({
  session_id: z.string(),
  epoch: z.number(),
  token_hash: z.string(),
  owner_instance: z.string(),
  owner_pid: z.number(),
  owner_host: z.string(),
  purpose: z.enum(['admission', 'execution', 'recovery', 'mutation', 'fork']),
  run_id: z.string().nullable(),
  state: z.enum(['active', 'released']),
  heartbeat_at: z.number(),
  expires_at: z.number(),
})

export interface LeaseRow {
  sessionId: string
  epoch: number
  tokenHash: string
  ownerInstance: string
  ownerPid: number
  ownerHost: string
  purpose: LeasePurpose
  runId: string | null
  state: 'active' | 'released'
  heartbeatAt: number
  expiresAt: number
}

function toLease(raw: unknown): LeaseRow {
  const row = Row.parse(raw)
  return {
    sessionId: row.session_id,
    epoch: row.epoch,
    tokenHash: row.token_hash,
    ownerInstance: row.owner_instance,
    ownerPid: row.owner_pid,
    ownerHost: row.owner_host,
    purpose: row.purpose,
    runId: row.run_id,
    state: row.state,
    heartbeatAt: row.heartbeat_at,
    expiresAt: row.expires_at,
  }
}

/** What names one holding of one lease. */
export interface LeaseKey {
  sessionId: string
  epoch: number
  tokenHash: string
  ownerInstance: string
}

export interface LeaseTake extends LeaseKey {
  ownerPid: number
  ownerHost: string
  purpose: LeasePurpose
  runId: string | null
  at: number
  expiresAt: number
}

export type LeaseTable = ReturnType<typeof createLeaseTable>

export function createLeaseTable(db: Database) {
  const getSql = db.prepare('SELECT * FROM leases WHERE session_id = ?')
  const insertSql = db.prepare(
    `INSERT INTO leases (session_id, epoch, token_hash, owner_instance, owner_pid, owner_host, purpose, run_id, state, acquired_at,
       heartbeat_at, expires_at)
     VALUES (@sessionId, @epoch, @tokenHash, @ownerInstance, @ownerPid, @ownerHost, @purpose, @runId, 'active', @at, @at, @expiresAt)
     ON CONFLICT (session_id) DO NOTHING`,
  )
  const takeSql = db.prepare(
    `UPDATE leases SET epoch = @epoch, token_hash = @tokenHash, owner_instance = @ownerInstance, owner_pid = @ownerPid,
       owner_host = @ownerHost, purpose = @purpose, run_id = @runId, state = 'active', acquired_at = @at, heartbeat_at = @at,
       expires_at = @expiresAt
     WHERE session_id = @sessionId AND epoch = @epoch - 1`,
  )
  const mine = `session_id = @sessionId AND epoch = @epoch AND token_hash = @tokenHash AND owner_instance = @ownerInstance
     AND state = 'active'`
  const fenceSql = db
    .prepare(`SELECT expires_at FROM leases WHERE ${mine} AND purpose = @purpose AND run_id IS @runId`)
    .pluck()
  const renewSql = db.prepare(`UPDATE leases SET heartbeat_at = @at, expires_at = @expiresAt WHERE ${mine}`)
  const convertSql = db.prepare(`UPDATE leases SET purpose = @purpose, run_id = @runId WHERE ${mine}`)
  const releaseSql = db.prepare(`UPDATE leases SET state = 'released', expires_at = @at WHERE ${mine}`)
  const othersSql = db
    .prepare(`SELECT 1 FROM leases WHERE state = 'active' AND owner_instance <> ? AND expires_at > ? LIMIT 1`)
    .pluck()

  const changed = (result: { changes: number }): boolean => result.changes === 1
  return {
    get(sessionId: string): LeaseRow | null {
      const row = getSql.get(sessionId)
      return row === undefined ? null : toLease(row)
    },
    /** Epoch 1 is an insert, every other one follows the epoch that was seen. False: somebody else was first. */
    take(lease: LeaseTake): boolean {
      return changed(lease.epoch === 1 ? insertSql.run(lease) : takeSql.run(lease))
    },
    /** When the holding ends (wall clock), or null: it is not ours any more, or not for this purpose and run. */
    expiry(key: LeaseKey & { purpose: LeasePurpose; runId: string | null }): number | null {
      return MaybeCount.parse(fenceSql.get(key) ?? null)
    },
    renew(key: LeaseKey, at: number, expiresAt: number): boolean {
      return changed(renewSql.run({ ...key, at, expiresAt }))
    },
    convert(key: LeaseKey, purpose: LeasePurpose, runId: string | null): boolean {
      return changed(convertSql.run({ ...key, purpose, runId }))
    },
    release(key: LeaseKey, at: number): boolean {
      return changed(releaseSql.run({ ...key, at }))
    },
    /** Whether another instance holds a lease that has not run out. */
    heldByOthers(instanceId: string, now: number): boolean {
      return othersSql.get(instanceId, now) !== undefined
    },
  }
}
