import { expect, test } from 'vitest'
import type { Admission } from '../../../src/main/runtime/index.ts'
import { startReceiver } from '../deliveries/support.ts'
import { createSharedDatabase, startProcess } from './support/workers.ts'
import type { RuntimeProcess, SharedDatabase } from './support/workers.ts'

const GENEROUS_MS = 90_000
/** Past the lease of a worker that died. */
const LATER_MS = 60_000
const STATES = 'SELECT kind, status, failure_code FROM delivery_operations ORDER BY sequence'

async function begin(process: RuntimeProcess, db: SharedDatabase): Promise<{ sessionId: string; runId: string }> {
  const sessionId = await process.call<string>('create')
  const { runId } = await process.call<Admission>('submit', { sessionId })
  await db.until(`SELECT id FROM runs WHERE state = 'running'`)
  return { sessionId, runId }
}

/** A process is killed while the receiver has its text and has not answered yet; then another one looks. */
async function killWhileSending(look: (db: SharedDatabase) => void): Promise<unknown[]> {
  using db = createSharedDatabase()
  await using receiver = await startReceiver()
  const webhook = { url: receiver.url, idempotencyHeader: null }
  const arrived = new Promise<void>((resolve) => {
    receiver.answer = () => resolve()
  })
  await using first = await startProcess(db.dir, { webhook })
  const { runId } = await begin(first, db)
  await first.call('publish', { runId, text: 'bytes' })
  await first.call('text', { text: 'done' })
  await first.call('end')
  await arrived
  await first.kill()
  expect(db.rows(STATES)).toMatchObject([{ status: 'sending' }, { status: 'pending' }, { status: 'pending' }])
  receiver.answer = (response) => void response.writeHead(204).end()
  await using second = await startProcess(db.dir, { webhook, aheadMs: LATER_MS })
  await second.call('deliver')
  look(db)
  return receiver.seen.map(({ headers, body }) => [headers['x-key'], headers['content-type'], String(body)])
}

test(
  'RT-A68 a worker killed while it sent, to a receiver without keys, leaves it uncertain with all that follows, and nothing is sent again',
  { timeout: GENEROUS_MS },
  async () => {
    const seen = await killWhileSending((db) => {
      expect(db.rows(STATES)).toEqual([
        { kind: 'send_text', status: 'uncertain', failure_code: 'worker_lost' },
        { kind: 'upload_artifact', status: 'uncertain', failure_code: 'dependency_uncertain' },
        { kind: 'send_artifact', status: 'uncertain', failure_code: 'dependency_uncertain' },
      ])
      expect(db.rows('SELECT status FROM delivery_intents')).toEqual([{ status: 'uncertain' }])
      expect(db.rows(`SELECT 1 FROM run_events WHERE type = 'delivery_updated'`)).toHaveLength(1)
    })
    expect(seen).toHaveLength(1)
  },
)

test(
  'a crash between an answer of the receiver and its record sends once more under the same key, and not without one',
  { timeout: GENEROUS_MS },
  async () => {
    for (const idempotencyHeader of ['x-key', null]) {
      using db = createSharedDatabase()
      await using receiver = await startReceiver()
      const webhook = { url: receiver.url, idempotencyHeader }
      await using first = await startProcess(db.dir, { webhook, killAt: { name: 'delivery.before_commit', times: 1 } })
      await begin(first, db)
      await first.call('text', { text: 'done' })
      await first.call('end').catch(() => undefined)
      await first.died
      await using second = await startProcess(db.dir, { webhook, aheadMs: LATER_MS })
      await second.call('deliver')
      expect(db.rows('SELECT status FROM delivery_intents')).toEqual([
        { status: idempotencyHeader === null ? 'uncertain' : 'delivered' },
      ])
      expect(receiver.seen.map(({ headers }) => headers['x-key'])).toEqual(
        idempotencyHeader === null
          ? [undefined]
          : [receiver.seen[0]?.headers['x-key'], receiver.seen[0]?.headers['x-key']],
      )
    }
  },
)

test(
  'RT-A88 a receiver that asks for 30 s gets them, and another process sends the very same bytes, whatever the session is called',
  { timeout: GENEROUS_MS },
  async () => {
    using db = createSharedDatabase()
    await using receiver = await startReceiver()
    const webhook = { url: receiver.url, idempotencyHeader: null }
    receiver.answer = (response) => void response.writeHead(429, { 'retry-after': '30' }).end()
    // Its clock is ahead, so that the wait is not over however long the next process takes to start.
    await using first = await startProcess(db.dir, { webhook, aheadMs: LATER_MS })
    const { sessionId } = await begin(first, db)
    await first.call('text', { text: 'the answer' })
    await first.call('end')
    const { waits } = await db.until<{ waits: number }>(
      `SELECT next_attempt_at - updated_at AS waits FROM delivery_operations WHERE status = 'retry_wait'`,
    )
    expect(waits).toBeGreaterThan(10_000)
    expect(waits).toBeLessThanOrEqual(30_000)
    await first.kill()

    receiver.answer = (response) => void response.writeHead(204).end()
    await using early = await startProcess(db.dir, { webhook })
    await early.call('rename', { sessionId, title: 'Another name' })
    await early.call('deliver')
    expect(receiver.seen).toHaveLength(1)
    await early.kill()
    await using later = await startProcess(db.dir, { webhook, aheadMs: LATER_MS + 31_000 })
    await later.call('deliver')
    expect(db.rows('SELECT status FROM delivery_intents')).toEqual([{ status: 'delivered' }])
    const [before, after] = receiver.seen
    expect(receiver.seen).toHaveLength(2)
    expect(after?.body.equals(before?.body ?? Buffer.alloc(0))).toBe(true)
    expect(JSON.parse(String(after?.body))).toMatchObject({ text: 'the answer' })
  },
)
