import { execFileSync } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readPlain, readPlainSync } from '../../../src/main/platform/file-read.ts'
import { createTempDir } from '../../support/dir.ts'

describe.each([
  ['readPlain', readPlain],
  ['readPlainSync', async (path: string, maxBytes: number) => readPlainSync(path, maxBytes)],
])('%s', (_name, read) => {
  test('reads a file, and through a link', async () => {
    using dir = createTempDir()
    writeFileSync(dir.at('a'), 'content')
    symlinkSync(dir.at('a'), dir.at('b'))
    expect((await read(dir.at('a'), 7)).toString()).toBe('content')
    expect((await read(dir.at('b'), 7)).toString()).toBe('content')
  })

  test('says what the system says of one that is not there', async () => {
    using dir = createTempDir()
    await expect(read(dir.at('a'), 7)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('waits for no pipe, and reads no device, folder or large file', async () => {
    using dir = createTempDir()
    execFileSync('mkfifo', [dir.at('pipe')])
    writeFileSync(dir.at('large'), '12345678')
    for (const path of [dir.at('pipe'), '/dev/zero', dir.path, dir.at('large')]) {
      await expect(read(path, 7)).rejects.toMatchObject({ code: 'file_unsafe' })
    }
  })

  // Empty by its own account: some of its kind have no end.
  test.runIf(process.platform === 'linux')('reads nothing of a file that holds more than it says', async () => {
    await expect(read('/proc/self/status', 1_000)).rejects.toMatchObject({ code: 'file_failed' })
  })
})
