import { writeFileSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import type { Migration } from '../../../src/main/platform/types.ts'
import { createFakeClock, settled } from '../../support/clock.ts'
import { createTempDir } from '../../support/dir.ts'
import { createMemoryLog } from '../../support/log.ts'
import { openTestStore, type TestStore } from '../../support/store.ts'

const migrations: Migration[] = [
  {
    system: 'runtime',
    version: 1,
    name: 'notes',
    up: (db) => db.exec('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT'),
  },
]

function insert(store: TestStore, text: string): Promise<void> {
  return store.writeTx(({ db }) => void db.prepare('INSERT INTO notes (text) VALUES (?)').run(text))
}

function texts(store: TestStore): unknown[] {
  return store.db.prepare('SELECT text FROM notes ORDER BY id').pluck().all()
}

/** Another connection that holds the write lock until it is closed. */
function holdLock(store: TestStore): Disposable {
  const other = new Sqlite(store.path)
  other.exec('BEGIN IMMEDIATE')
  return { [Symbol.dispose]: () => void other.close() }
}

describe('writeTx', () => {
  test('answers what fn answers, committed, within the call when nothing waits', async () => {
    using store = await openTestStore(migrations)
    let ran = false
    const outcome = store.writeTx(({ db }) => {
      ran = true
      db.exec("INSERT INTO notes (text) VALUES ('a')")
      return 'done'
    })
    expect([ran, store.db.inTransaction]).toEqual([true, false])
    expect(await outcome).toBe('done')
    expect(texts(store)).toEqual(['a'])
  })

  test('what fn throws comes out as it is, and nothing stays', async () => {
    using store = await openTestStore(migrations)
    const error = new Error('no')
    const outcome = store.writeTx(({ db }) => {
      db.exec("INSERT INTO notes (text) VALUES ('a')")
      throw error
    })
    await expect(outcome).rejects.toBe(error)
    expect(texts(store)).toEqual([])
  })

  test('fn must not be asynchronous', async () => {
    using store = await openTestStore(migrations)
    const outcome = store.writeTx(({ db }) => {
      db.exec("INSERT INTO notes (text) VALUES ('a')")
      return Promise.resolve()
    })
    await expect(outcome).rejects.toMatchObject({ code: 'internal' })
    expect(texts(store)).toEqual([])
  })

  test('waits for a busy database without blocking, then runs fn again', async () => {
    const clock = createFakeClock()
    using store = await openTestStore(migrations, { clock })
    const lock = holdLock(store)
    const waiting = insert(store, 'patient')
    await settled()
    expect(clock.pending()).toBe(1)
    lock[Symbol.dispose]()
    await clock.advance(10)
    await waiting
    expect(texts(store)).toEqual(['patient'])
  })

  test('waits 10, 20, 40, 80, 160, then 250 ms each, and gives up after 5 s with database_busy', async () => {
    const clock = createFakeClock()
    using store = await openTestStore(migrations, { clock })
    using _lock = holdLock(store)
    store.db.pragma('busy_timeout = 0')
    const outcome = insert(store, 'late').catch((error: unknown) => error)
    const waits: number[] = []
    let sinceMs = 0
    for (let atMs = 0; atMs < 6_000; atMs += 10) {
      const before = clock.fired()
      await clock.advance(10)
      if (clock.fired() === before) continue
      waits.push(clock.monotonicMs() - sinceMs)
      sinceMs = clock.monotonicMs()
    }
    expect(await outcome).toMatchObject({ code: 'database_busy', retryable: true })
    expect(waits.slice(0, 7)).toEqual([10, 20, 40, 80, 160, 250, 250])
    expect(waits.reduce((sum, wait) => sum + wait, 0)).toBe(5_000)
    expect(texts(store)).toEqual([])
  })

  test('writes are served in the order in which they came, also behind one that waits', async () => {
    const clock = createFakeClock()
    using store = await openTestStore(migrations, { clock })
    const lock = holdLock(store)
    const writes = ['a', 'b', 'c'].map((text) => insert(store, text))
    await settled()
    lock[Symbol.dispose]()
    const late = insert(store, 'd')
    await clock.advance(10)
    await Promise.all([...writes, late])
    expect(texts(store)).toEqual(['a', 'b', 'c', 'd'])
  })

  test('a caller may leave while it waits, first in the queue or not; the rest go on', async () => {
    const clock = createFakeClock()
    using store = await openTestStore(migrations, { clock })
    const lock = holdLock(store)
    const first = new AbortController()
    const second = new AbortController()
    const left = [first, second].map(({ signal }) => store.writeTx(({ db }) => db.exec('DELETE FROM notes'), signal))
    const outcomes = Promise.allSettled(left)
    const stays = insert(store, 'stays')
    second.abort(new Error('gone'))
    first.abort(new Error('gone'))
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    lock[Symbol.dispose]()
    await clock.advance(10)
    await stays
    expect(texts(store)).toEqual(['stays'])
    await expect(store.writeTx(() => 1, first.signal)).rejects.toThrow('gone')
  })

  test('two stores over one file lose no write', async () => {
    using dir = createTempDir()
    using a = await openTestStore(migrations, { dir: dir.path })
    using b = await openTestStore(migrations, { dir: dir.path })
    const bump = (store: TestStore): Promise<unknown> =>
      store.writeTx(({ db }) => {
        const count = db.prepare('SELECT count(*) FROM notes').pluck().get()
        db.prepare('INSERT INTO notes (text) VALUES (?)').run(String(count))
      })
    await Promise.all(Array.from({ length: 60 }, (_, index) => bump(index % 2 === 0 ? a : b)))
    expect(texts(a)).toEqual(Array.from({ length: 60 }, (_, index) => String(index)))
  })

  test('a long row of writes lets everything else have its turn between', async () => {
    // A clock by which each look at it costs a millisecond, however fast the disk is.
    let nowMs = 0
    using store = await openTestStore(migrations, { clock: { ...createFakeClock(), monotonicMs: () => ++nowMs } })
    let turns = 0
    const writes = Promise.all(Array.from({ length: 200 }, (_, index) => insert(store, String(index))))
    const turn = (): void => {
      turns++
      next = setImmediate(turn)
    }
    let next = setImmediate(turn)
    await writes
    clearImmediate(next)
    expect(turns).toBeGreaterThan(2)
  })

  test('a closed store refuses, and fails what still waited', async () => {
    const clock = createFakeClock()
    using store = await openTestStore(migrations, { clock })
    using _lock = holdLock(store)
    const waiting = insert(store, 'a').catch((error: unknown) => error)
    await settled()
    store.close()
    expect(await waiting).toMatchObject({ code: 'host_stopping' })
    await expect(insert(store, 'b')).rejects.toMatchObject({ code: 'host_stopping' })
  })
})

describe('errors of the database', () => {
  test('a full disk is storage_full', async () => {
    using store = await openTestStore(migrations)
    store.db.pragma(`max_page_count = ${String(store.db.pragma('page_count', { simple: true }))}`)
    await expect(insert(store, 'x'.repeat(100_000))).rejects.toMatchObject({ code: 'storage_full', retryable: true })
    store.db.pragma('max_page_count = 100000')
    await insert(store, 'fits again')
    expect(texts(store)).toEqual(['fits again'])
  })

  test("a broken constraint and a read-only database are persistence_failed with SQLite's word as detail", async () => {
    using store = await openTestStore(migrations)
    await insert(store, 'once')
    await expect(insert(store, 'once')).rejects.toMatchObject({
      code: 'persistence_failed',
      detail: expect.stringContaining('SQLITE_CONSTRAINT_UNIQUE') as string,
    })
    store.db.pragma('query_only = ON')
    await expect(insert(store, 'twice')).rejects.toMatchObject({
      code: 'persistence_failed',
      detail: expect.stringContaining('SQLITE_READONLY') as string,
    })
  })

  test('a damaged page is database_corrupt', async () => {
    using dir = createTempDir()
    {
      using store = await openTestStore(migrations, { dir: dir.path })
      await insert(store, 'x'.repeat(50_000))
    }
    // Every page but the first, which holds the header and the schema.
    writeFileSync(dir.at('wheelhouse.db'), Buffer.alloc(30_000, 0x5a), { flag: 'r+', flush: true })
    await expect(openTestStore(migrations, { dir: dir.path })).rejects.toMatchObject({ code: 'database_corrupt' })
  })
})

describe('afterCommit', () => {
  test('runs in order once the rows are there, before the caller hears', async () => {
    using store = await openTestStore(migrations)
    const seen: unknown[] = []
    await store
      .writeTx((tx) => {
        store.afterCommit(tx, () => seen.push(['first', store.db.inTransaction, texts(store)]))
        store.afterCommit(tx, () => seen.push('second'))
        tx.db.exec("INSERT INTO notes (text) VALUES ('a')")
        seen.push('in')
      })
      .then(() => seen.push('told'))
    expect(seen).toEqual(['in', ['first', false, ['a']], 'second', 'told'])
  })

  test('is dropped when the transaction fails, and runs once when it is tried again', async () => {
    const clock = createFakeClock()
    using store = await openTestStore(migrations, { clock })
    const seen: string[] = []
    const failed = store.writeTx((tx) => {
      store.afterCommit(tx, () => seen.push('never'))
      throw new Error('no')
    })
    await expect(failed).rejects.toThrow('no')
    const lock = holdLock(store)
    const retried = store.writeTx((tx) => store.afterCommit(tx, () => seen.push('once')))
    lock[Symbol.dispose]()
    await clock.advance(10)
    await retried
    expect(seen).toEqual(['once'])
  })

  test('one that throws is logged and spoils neither the write nor the next one', async () => {
    const log = createMemoryLog()
    using store = await openTestStore(migrations, { log })
    const seen: string[] = []
    await store.writeTx((tx) => {
      store.afterCommit(tx, () => {
        throw new Error('bad subscriber')
      })
      store.afterCommit(tx, () => seen.push('next'))
    })
    expect(seen).toEqual(['next'])
    expect(log.entries.filter(({ level }) => level === 'error')).toHaveLength(1)
  })

  test('may ask for another one, which runs at once, and for another write, which follows', async () => {
    using store = await openTestStore(migrations)
    const seen: string[] = []
    let follow: Promise<void> | undefined
    await store.writeTx((tx) => {
      store.afterCommit(tx, () => {
        store.afterCommit(tx, () => seen.push('inner'))
        seen.push('outer')
        follow = insert(store, 'follow')
      })
    })
    await follow
    expect(seen).toEqual(['inner', 'outer'])
    expect(texts(store)).toEqual(['follow'])
  })
})
