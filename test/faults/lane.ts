/** A database of its own with processes around it: some stay, and bring to its end what the others left when they died. */
import Sqlite from 'better-sqlite3'
import { startReceiver } from '../main/deliveries/support.ts'
import type { Receiver } from '../main/deliveries/support.ts'
import { PROGRAM, spawnProcess } from '../main/runtime/support/workers.ts'
import type { ProcessOptions, RuntimeProcess, SpareProcess } from '../main/runtime/support/workers.ts'
import { auditOf } from '../support/invariants.ts'
import { createFastTempDir } from '../support/dir.ts'
import { same } from './types.ts'
import type { FaultCase } from './types.ts'

/** Later than every lease of a process that died. */
const LATER_MS = 60_000

export interface Lane extends AsyncDisposable {
  readonly dir: string
  /** Never killed: recovers what the others leave. */
  readonly keeper: RuntimeProcess
  /** Takes what deliveries send, where the lane has any. */
  readonly receiver: Receiver | null
  /** A second one that stays, on this machine, or as if on another, or as if a minute later. */
  peer(kind?: 'here' | 'elsewhere' | 'later'): Promise<RuntimeProcess>
  /** One that is to die. */
  victim(options?: ProcessOptions): Promise<RuntimeProcess>
  rows<T = Record<string, unknown>>(sql: string, ...values: readonly unknown[]): T[]
  /** Waits until `sql` answers a row. */
  until<T = Record<string, unknown>>(sql: string, ...values: readonly unknown[]): Promise<T>
  /** What does not hold in the whole database, once nothing runs. */
  audit(): string[]
}

/** `program`: the runtime's process, bundled; its source without one. */
export async function openLane(kind: FaultCase['lane'], program = PROGRAM): Promise<Lane> {
  const temp = createFastTempDir()
  const receiver = kind === 'webhook' ? await startReceiver() : null
  const common: ProcessOptions =
    receiver === null ? {} : { webhook: { url: receiver.url, idempotencyHeader: 'idempotency-key' } }
  const spawn = (): SpareProcess => spawnProcess(program, receiver !== null)
  // The next one loads while the one before it does its part.
  let spare = spawn()
  const start = (options: ProcessOptions): Promise<RuntimeProcess> => {
    const next = spare
    spare = spawn()
    return next.open(temp.path, { ...common, ...options })
  }
  const keeper = await start({})
  const db = new Sqlite(temp.at('wheelhouse.db'), { readonly: true, timeout: 5_000 })
  const peers = new Map<string, Promise<RuntimeProcess>>()
  const victims = new Set<RuntimeProcess>()

  function rows<T>(sql: string, ...values: readonly unknown[]): T[] {
    return db.prepare<unknown[], T>(sql).all(...values)
  }

  return {
    dir: temp.path,
    keeper,
    receiver,
    peer(as = 'here') {
      const more = { here: {}, elsewhere: { ownerHost: 'another' }, later: { aheadMs: LATER_MS } }
      const known = peers.get(as) ?? start(more[as])
      peers.set(as, known)
      return known
    },
    async victim(options = {}) {
      const victim = await start(options)
      victims.add(victim)
      void victim.died.then(() => victims.delete(victim))
      return victim
    },
    rows,
    async until<T>(sql: string, ...values: readonly unknown[]): Promise<T> {
      for (let tries = 0; tries < 6_000; tries++) {
        const [row] = rows<T>(sql, ...values)
        if (row !== undefined) return row
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      throw new Error(`never came true: ${sql}`)
    },
    audit: () => auditOf(temp.at('wheelhouse.db')),
    async [Symbol.asyncDispose]() {
      db.close()
      const others = await Promise.all(peers.values())
      await Promise.all([keeper, spare, ...others, ...victims].map(async (each) => each.kill()))
      await receiver?.[Symbol.asyncDispose]()
      temp[Symbol.dispose]()
    },
  }
}

/** A session with a run under way in `owner`. */
export async function begin(
  lane: Lane,
  owner: RuntimeProcess,
  more: Record<string, string> = {},
): Promise<{ sessionId: string; runId: string }> {
  const sessionId = await lane.keeper.call<string>('create')
  const { runId } = await owner.call<{ runId: string }>('submit', { sessionId, key: 'k', ...more })
  await lane.until(`SELECT 1 FROM runs WHERE id = ? AND state = 'running'`, runId)
  return { sessionId, runId }
}

/** Has the keeper look for runs without an owner, of which there is one. */
export async function recovered(
  lane: Lane,
  as: 'failed' | 'finished',
  by: RuntimeProcess = lane.keeper,
): Promise<void> {
  const none = { failed: 0, finished: 0, kept: 0, skipped: 0 }
  same('what the scan did', await by.call('scan'), { ...none, [as]: 1 })
}

/** Ends the newest run of `owner`, and waits for it. */
export async function finish(owner: RuntimeProcess, runId: string): Promise<void> {
  await owner.call('end')
  const { terminal } = await owner.call<{ terminal: boolean }>('wait', { runId })
  same('whether the run ended', terminal, true)
}

export const stateOf = (lane: Lane, runId: string): unknown =>
  lane.rows<{ state: string }>('SELECT state FROM runs WHERE id = ?', runId)[0]?.state

/** The events that end a run. */
export const endsOf = (lane: Lane, runId: string): unknown[] =>
  lane
    .rows<{ type: string }>(`SELECT type FROM run_events WHERE run_id = ? AND dedupe_key LIKE 'end:%'`, runId)
    .map(({ type }) => type)

/** The numbers of a session's events follow each other. */
export function gapless(lane: Lane, sessionId: string): void {
  const seqs = lane.rows<{ seq: number }>('SELECT seq FROM run_events WHERE session_id = ? ORDER BY seq', sessionId)
  same(
    'the numbers of the events',
    seqs.map(({ seq }) => seq),
    seqs.map((_, index) => index + 1),
  )
}
