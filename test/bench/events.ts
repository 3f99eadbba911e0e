/**
 * The event log against the database alone: the same events at the same pragmas, through the runtime's writer (lease,
 * redaction, schema bound, numbering, telling subscribers) and by a bare insert into a plain table with the same key.
 */
import Sqlite from 'better-sqlite3'
import { createSecretRegistry, createSystemClock } from '../../src/main/platform/index.ts'
import type { Store } from '../../src/main/platform/index.ts'
import { createEventHub } from '../../src/main/runtime/events/hub.ts'
import { createEventWriter } from '../../src/main/runtime/events/writer.ts'
import type { EventWriter, RunStream } from '../../src/main/runtime/events/writer.ts'
import { readHostIdentity } from '../../src/main/runtime/host-identity.ts'
import { runtimeMigrations } from '../../src/main/runtime/index.ts'
import { createLeaseKeeper, isLease } from '../../src/main/runtime/leases/keeper.ts'
import { createLeaseValidity } from '../../src/main/runtime/leases/validity.ts'
import { createTables } from '../../src/main/runtime/store/index.ts'
import { TIMING } from '../../src/main/runtime/timing.ts'
import { createTestRuntime, quiet } from '../main/runtime/support/runtime.ts'
import { createTempDir } from '../support/dir.ts'
import { createFakeFailpoints } from '../support/failpoints.ts'
import { createFakeIds } from '../support/ids.ts'
import { createMemoryLog } from '../support/log.ts'
import { openTestStore } from '../support/store.ts'
import { median } from './types.ts'
import type { Benchmark, Figure } from './types.ts'

const ROUNDS = 5
const BATCH = 64
const BATCHES_A_ROUND = 50
const SINGLES_A_ROUND = 200
const EVENT_BYTES = 400
const PRAGMAS = ['journal_mode = wal', 'synchronous = full', 'foreign_keys = on']

export const eventAppend: Benchmark = {
  name: 'event-append',
  group: 'runtime',
  how: `Events a second of the runtime's event writer over those of bare better-sqlite3, ${EVENT_BYTES} B each, ${ROUNDS} alternating rounds in one process.`,
  async run() {
    using dir = createTempDir()
    const run = await makeRun(dir.path)
    using store = await openTestStore(runtimeMigrations, { dir: dir.path })
    using raw = openRaw(dir.at('raw.db'))
    const ours = await openStream(store, run)
    const batches = await compare(
      async () => {
        for (let n = 0; n < BATCHES_A_ROUND; n++) await ours.batch(BATCH)
      },
      () => {
        for (let n = 0; n < BATCHES_A_ROUND; n++) raw.batch(BATCH)
      },
    )
    const singles = await compare(
      async () => {
        for (let n = 0; n < SINGLES_A_ROUND; n++) await ours.single()
      },
      () => {
        for (let n = 0; n < SINGLES_A_ROUND; n++) raw.batch(1)
      },
    )
    ours.stop()
    return [
      ratioFigure(`${BATCH} events a transaction`, batches, 0.5),
      ratioFigure('one event a transaction', singles, 0.45),
    ]
  },
}

function ratioFigure(name: string, samples: readonly number[], target: number): Figure {
  return { name, unit: 'times', value: median(samples), samples, target: { kind: 'at_least', value: target } }
}

/** Ours over bare, in throughput; who begins changes with each round. The first round of both warms up. */
async function compare(ours: () => Promise<void>, raw: () => void): Promise<number[]> {
  const ratios: number[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    let oursMs = 0
    let rawMs = 0
    const timeOurs = async (): Promise<void> => {
      const began = performance.now()
      await ours()
      oursMs = performance.now() - began
    }
    if (round % 2 === 0) await timeOurs()
    const began = performance.now()
    raw()
    rawMs = performance.now() - began
    if (round % 2 === 1) await timeOurs()
    if (round > 0) ratios.push(rawMs / oursMs)
  }
  return ratios
}

function openRaw(path: string) {
  const db = new Sqlite(path)
  for (const pragma of PRAGMAS) db.pragma(pragma)
  db.exec(
    `CREATE TABLE events (session_id TEXT NOT NULL, seq INTEGER NOT NULL, run_id TEXT, type TEXT NOT NULL, state TEXT,
       at INTEGER NOT NULL, dedupe_key TEXT, data TEXT NOT NULL, PRIMARY KEY (session_id, seq)) STRICT`,
  )
  const insert = db.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
  let seq = 0
  return {
    batch: db.transaction((count: number) => {
      for (let n = 0; n < count; n++) {
        seq++
        insert.run('session', seq, 'run', 'output_text', null, seq, null, JSON.stringify(eventData(seq)))
      }
    }),
    [Symbol.dispose]: () => void db.close(),
  }
}

/** Of a message of its own, so that the writer cannot join two into one. */
function eventData(n: number): { messageId: string; text: string } {
  const messageId = `message-${n}`
  const around = JSON.stringify({ messageId, text: '' }).length
  return { messageId, text: 'word '.repeat(EVENT_BYTES).slice(0, EVENT_BYTES - around) }
}

interface Stream {
  batch(count: number): Promise<void>
  single(): Promise<void>
  stop(): void
}

/** Events need a run that is in the database: one that has ended, so that its lease is free. */
async function makeRun(dir: string): Promise<{ sessionId: string; runId: string }> {
  await using t = await createTestRuntime({ dir })
  const { runId } = await t.submit()
  await quiet()
  t.executor.last().end()
  await quiet()
  return { sessionId: t.session.id, runId }
}

/** The writer's stream to a run, behind a lease of its own. */
async function openStream(store: Store, { sessionId, runId }: { sessionId: string; runId: string }): Promise<Stream> {
  const clock = createSystemClock()
  const ids = createFakeIds(1)
  const log = createMemoryLog()
  const failpoints = createFakeFailpoints()
  const secrets = createSecretRegistry()
  const base = { clock, ids, log, failpoints, store, secrets }
  const host = readHostIdentity()
  const tables = createTables(store.db, ids)
  const isValid = createLeaseValidity({ clock, host })
  const keeper = createLeaseKeeper({ ...base, host, leases: tables.leases, isValid, timing: TIMING })
  const lease = await store.writeTx((tx) => keeper.take(tx, { sessionId, purpose: 'execution', runId }))
  if (!isLease(lease)) throw new Error('the session is taken')
  const writer: EventWriter = createEventWriter({ ...base, tables, keeper, hub: createEventHub(), timing: TIMING })
  const overflow = (): never => {
    throw new Error('the buffer ran over')
  }
  const stream: RunStream = writer.open({ lease, runId, onOverflow: overflow })
  let n = 0
  const draft = () => ({ runId, type: 'output_text' as const, data: eventData(++n) })
  return {
    async batch(count) {
      for (let each = 0; each < count; each++) stream.push(draft())
      await writer.flush()
    },
    single: () => stream.commit((_tx, emit) => emit(draft())),
    stop() {
      stream.close()
      writer.stop()
      keeper.stop()
    },
  }
}
