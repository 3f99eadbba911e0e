import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createFolder } from '../../../src/main/bridge/handlers/folders.ts'
import { createTempDir } from '../../support/dir.ts'

test('a folder is made with what is missing above it, open as other projects are', async () => {
  using dir = createTempDir()
  const path = join(dir.path, 'one', 'two')
  expect(await createFolder(path)).toBe(path)
  expect(await createFolder(path)).toBe(path)
  expect(statSync(join(dir.path, 'one')).mode & 0o700).toBe(0o700)
})

test.runIf(process.platform === 'linux')(
  'DT-A24 a place where no folder can ever be made is refused, not tried for good',
  async () => {
    for (const path of ['/proc/no/such/place', '/proc/1/no/such', '/dev/null/no', '/proc/self/fd/no/where']) {
      await expect(createFolder(path)).rejects.toMatchObject({ code: 'folder_unreadable' })
    }
  },
)
