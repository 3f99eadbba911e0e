import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import Sqlite from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { openStore } from '../../../src/main/platform/sqlite.ts'
import type { Migration } from '../../../src/main/platform/types.ts'
import { createFakeClock } from '../../support/clock.ts'
import { createTempDir } from '../../support/dir.ts'
import { createMemoryLog } from '../../support/log.ts'
import { openTestStore } from '../../support/store.ts'

const notes: Migration = {
  system: 'runtime',
  version: 1,
  name: 'notes',
  up: (db) => db.exec('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT'),
}
const tags: Migration = {
  system: 'runtime',
  version: 2,
  name: 'tags',
  up: (db) => db.exec('CREATE TABLE tags (note INTEGER NOT NULL REFERENCES notes(id), tag TEXT NOT NULL) STRICT'),
}
const agents: Migration = {
  system: 'executor',
  version: 1,
  name: 'agents',
  up: (db) => db.exec('CREATE TABLE agents (id TEXT PRIMARY KEY) STRICT'),
}

/** Of the file and its log, by another process: to open them in this one would drop SQLite's locks on them. */
function checksums(path: string): string {
  return execFileSync('cksum', [path, `${path}-wal`], { encoding: 'utf8' })
}

describe('opening', () => {
  test('refuses a pipe, a folder and a device in its place, and waits for none', async () => {
    using dir = createTempDir()
    execFileSync('mkfifo', [dir.at('pipe')])
    for (const path of [dir.at('pipe'), dir.path, '/dev/null']) {
      const options = {
        path,
        backupDir: dir.at('backups'),
        migrations: [],
        clock: createFakeClock(),
        log: createMemoryLog(),
      }
      await expect(openStore(options)).rejects.toMatchObject({ code: 'persistence_failed', detail: path })
    }
  })

  test('sets WAL, FULL, foreign keys and a short busy timeout, also on a file that exists', async () => {
    using dir = createTempDir()
    for (let round = 0; round < 2; round++) {
      using store = await openTestStore([notes], { dir: dir.path })
      const read = (name: string): unknown => store.db.pragma(name, { simple: true })
      expect(['journal_mode', 'synchronous', 'foreign_keys', 'busy_timeout'].map(read)).toEqual(['wal', 2, 1, 100])
      expect(statSync(store.path).mode & 0o777).toBe(0o600)
    }
  })

  test('applies migrations by system, then by number, each once', async () => {
    using dir = createTempDir()
    for (let round = 0; round < 2; round++) {
      using store = await openTestStore([agents, tags, notes], { dir: dir.path })
      const rows = store.db.prepare('SELECT system, version, name FROM schema_migrations ORDER BY rowid').raw().all()
      expect(rows).toEqual([
        ['runtime', 1, 'notes'],
        ['runtime', 2, 'tags'],
        ['executor', 1, 'agents'],
      ])
    }
  })

  test('a migration that fails leaves the schema at the one before', async () => {
    using dir = createTempDir()
    const broken: Migration = {
      ...tags,
      up(db) {
        tags.up(db)
        db.exec('CREATE TABLE notes (id TEXT) STRICT')
      },
    }
    await expect(openTestStore([notes, broken], { dir: dir.path })).rejects.toMatchObject({
      code: 'persistence_failed',
    })
    using store = await openTestStore([notes], { dir: dir.path })
    expect(store.db.prepare("SELECT name FROM sqlite_master WHERE name = 'tags'").all()).toEqual([])
  })

  test('killed in the middle of a migration, the next start goes on where the last whole one ended', async () => {
    using dir = createTempDir()
    const program = fileURLToPath(new URL('../../fixtures/platform/migrate-and-die.ts', import.meta.url))
    const child = spawn(process.execPath, [program, dir.at('wheelhouse.db')], { stdio: 'ignore' })
    const [, signal] = (await once(child, 'exit')) as [number | null, string | null]
    expect(signal).toBe('SIGKILL')
    using store = await openTestStore([notes, tags], { dir: dir.path })
    const names = store.db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").pluck().all()
    expect(names).toEqual(['notes', 'schema_migrations', 'tags'])
    expect(store.db.prepare('SELECT name FROM schema_migrations ORDER BY version').pluck().all()).toEqual([
      'notes',
      'tags',
    ])
  })

  test('a migration that leaves a dangling reference is refused', async () => {
    const dangling: Migration = {
      ...tags,
      up(db) {
        tags.up(db)
        db.exec("INSERT INTO tags VALUES (7, 'lost')")
      },
    }
    await expect(openTestStore([notes, dangling])).rejects.toMatchObject({ code: 'persistence_failed' })
  })

  test('copies a database that was used before it changes its schema, and keeps three copies', async () => {
    using dir = createTempDir()
    const clock = createFakeClock()
    const all = [1, 2, 3, 4, 5].map((version): Migration => ({
      system: 'runtime',
      version,
      name: `step-${version}`,
      up: (db) => db.exec(`CREATE TABLE step_${version} (id INTEGER) STRICT`),
    }))
    for (let count = 1; count <= all.length; count++) {
      using store = await openTestStore(all.slice(0, count), { dir: dir.path, clock })
      expect(store.db.prepare('SELECT count(*) FROM schema_migrations').pluck().get()).toBe(count)
      clock.jumpWall(60_000)
    }
    const copies = (await readdir(dir.at('backups'))).sort()
    expect(copies).toHaveLength(3)
    const newest = new Sqlite(dir.at('backups', copies[2] ?? ''), { readonly: true })
    expect(newest.prepare('SELECT max(version) FROM schema_migrations').pluck().get()).toBe(4)
    newest.close()
  })

  test('DT-A28 a newer database is refused before a byte of it changes', async () => {
    using dir = createTempDir()
    using newer = await openTestStore([notes, tags], { dir: dir.path })
    await newer.writeTx(({ db }) => db.exec("INSERT INTO notes (text) VALUES ('still in the log')"))
    const before = checksums(newer.path)
    expect(statSync(`${newer.path}-wal`).size).toBeGreaterThan(0)

    await expect(openTestStore([notes], { dir: dir.path })).rejects.toMatchObject({
      code: 'schema_too_new',
      detail: 'runtime 2 (tags)',
    })
    expect(checksums(newer.path)).toBe(before)
  })

  test('a closed newer database stays the same byte by byte', async () => {
    using dir = createTempDir()
    const newer = await openTestStore([notes, tags], { dir: dir.path })
    newer.close()
    const before = readFileSync(newer.path)
    await expect(openTestStore([notes], { dir: dir.path })).rejects.toMatchObject({ code: 'schema_too_new' })
    expect(readFileSync(newer.path).equals(before)).toBe(true)
    expect(
      (await readdir(dir.path)).filter((name) => statSync(dir.at(name)).size > 0 && name.endsWith('-wal')),
    ).toEqual([])
  })

  test("the same number under another name is somebody else's history", async () => {
    using dir = createTempDir()
    ;(await openTestStore([notes], { dir: dir.path })).close()
    const renamed = openTestStore([{ ...notes, name: 'other' }], { dir: dir.path })
    await expect(renamed).rejects.toMatchObject({ code: 'schema_too_new' })
  })

  test.each([
    ['text', 'this is not a database, however long it may be '.repeat(200)],
    ['a cut page', 'SQLite format 3\0'],
  ])('a file that holds %s is database_corrupt and stays as it is', async (_what, content) => {
    using dir = createTempDir()
    writeFileSync(dir.at('wheelhouse.db'), content)
    await expect(openTestStore([notes], { dir: dir.path })).rejects.toMatchObject({ code: 'database_corrupt' })
    expect(readFileSync(dir.at('wheelhouse.db'), 'utf8')).toBe(content)
  })

  test('a database of another program is refused', async () => {
    using dir = createTempDir()
    const other = new Sqlite(dir.at('wheelhouse.db'))
    other.exec('CREATE TABLE bookmarks (url TEXT)')
    other.close()
    await expect(openTestStore([notes], { dir: dir.path })).rejects.toMatchObject({ code: 'database_corrupt' })
  })

  test('a gap in the numbers is our own mistake', async () => {
    await expect(openTestStore([tags])).rejects.toMatchObject({ code: 'internal' })
  })

  test('makes its folder when that is missing', async () => {
    using dir = createTempDir()
    const clock = createFakeClock()
    const path = dir.at('new', 'x.db')
    const options = { path, backupDir: dir.at('b'), migrations: [notes], clock, log: createMemoryLog() }
    const store = await openStore(options)
    expect(statSync(dir.at('new')).mode & 0o777).toBe(0o700)
    store.close()
  })

  test('what cannot be opened is persistence_failed', async () => {
    using dir = createTempDir()
    mkdirSync(dir.at('wheelhouse.db'))
    await expect(openTestStore([notes], { dir: dir.path })).rejects.toMatchObject({ code: 'persistence_failed' })
  })
})

test('backup writes a whole copy with what stands in the write-ahead log', async () => {
  using store = await openTestStore([notes])
  await store.writeTx(({ db }) => db.exec("INSERT INTO notes (text) VALUES ('a')"))
  using dir = createTempDir()
  await store.backup(dir.at('copy.db'))
  const copy = new Sqlite(dir.at('copy.db'), { readonly: true })
  expect(copy.prepare('SELECT text FROM notes').pluck().all()).toEqual(['a'])
  copy.close()
  expect(statSync(dir.at('copy.db')).mode & 0o777).toBe(0o600)
  await expect(store.backup(dir.at('none', 'copy.db'))).rejects.toMatchObject({ code: 'persistence_failed' })
  expect((await readdir(dir.path)).filter((name) => name.endsWith('.partial'))).toEqual([])
})
