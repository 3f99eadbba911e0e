import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createSecret, openPlatform, type Migration } from '../../../src/main/platform/index.ts'
import { createTempDir } from '../../support/dir.ts'

const migrations: Migration[] = [
  { system: 'desktop', version: 1, name: 'x', up: (db) => db.exec('CREATE TABLE x (y TEXT) STRICT') },
]

test('opens a folder with everything in it, and closes it again', async () => {
  using dir = createTempDir()
  const dataDir = dir.at('data')
  const platform = await openPlatform({ dataDir, migrations })
  await platform.store.writeTx(({ db }) => db.exec("INSERT INTO x VALUES ('row')"))
  await platform.settings.set('theme', 'dark')
  using _known = platform.secrets.add(createSecret('sk-0123456789'), 'test')
  platform.log.info('Says sk-0123456789.')
  await platform.log.flush()
  const lines = await platform.readLog({ maxLines: 10, maxBytes: 10_000 })
  expect(lines.map(({ message }) => message)).toEqual(['Updated the database.', 'Says [secret].'])
  await platform.close()
  await platform.close()
  expect(readdirSync(dataDir).sort()).toEqual(['logs', 'settings.json', 'wheelhouse.db'])

  const again = await openPlatform({ dataDir, migrations })
  expect(again.store.db.prepare('SELECT y FROM x').pluck().get()).toBe('row')
  expect(again.settings.get('theme')).toBe('dark')
  await again.close()
})

test('what stops it stands in the log, and the database is closed again', async () => {
  using dir = createTempDir()
  writeFileSync(dir.at('settings.json'), 'broken')
  await expect(openPlatform({ dataDir: dir.path, migrations })).rejects.toMatchObject({ code: 'settings_invalid' })
  expect(readFileSync(dir.at('logs', 'wheelhouse.log'), 'utf8')).toContain('settings_invalid')
  // Closed in order, so that its log was moved into it.
  expect(readdirSync(dir.path).filter((name) => name.endsWith('-wal'))).toEqual([])
})

test('a temporary file that a killed process left is swept', async () => {
  using dir = createTempDir()
  writeFileSync(dir.at('.wheelhouse-0123456789abcdef.tmp'), 'half')
  writeFileSync(dir.at('.wheelhouse-mine.tmp'), 'not ours')
  const platform = await openPlatform({ dataDir: dir.path, migrations })
  await platform.close()
  expect(readdirSync(dir.path).filter((name) => name.endsWith('.tmp'))).toEqual(['.wheelhouse-mine.tmp'])
})

test('failpoints stay off in an ordinary build, whatever the environment says', async () => {
  using dir = createTempDir()
  const env = { WHEELHOUSE_FAILPOINT: 'before_write:fail', WHEELHOUSE_TEST_BUILD: '1' }
  const ordinary = await openPlatform({ dataDir: dir.path, migrations, env })
  expect((await ordinary.settings.set('theme', 'dark')).durable).toBe(true)
  await ordinary.close()
  const underTest = await openPlatform({ dataDir: dir.path, migrations, env, testFailpoints: true })
  await expect(underTest.settings.set('theme', 'light')).rejects.toMatchObject({ code: 'file_failed' })
  await underTest.close()
})
