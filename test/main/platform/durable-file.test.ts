import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { createDurableFile, sweepTempFiles } from '../../../src/main/platform/durable-file.ts'
import { createTempDir } from '../../support/dir.ts'
import { createFakeFailpoints } from '../../support/failpoints.ts'
import { createFakeIds } from '../../support/ids.ts'

const NAMES = ['before_write', 'after_write', 'before_rename', 'after_rename', 'before_dirsync', 'after_dirsync']
const failpoints = createFakeFailpoints()
const files = createDurableFile({ ids: createFakeIds(), failpoints })

describe('write', () => {
  test('passes its six places in order and leaves a private file and nothing else', async () => {
    using dir = createTempDir()
    const passed = createFakeFailpoints()
    const outcome = await createDurableFile({ ids: createFakeIds(), failpoints: passed }).write(dir.at('a'), 'content')
    expect(outcome).toEqual({ applied: true, durable: true })
    expect(passed.hits).toEqual(NAMES)
    expect(readdirSync(dir.path)).toEqual(['a'])
    expect(readFileSync(dir.at('a'), 'utf8')).toBe('content')
    expect(statSync(dir.at('a')).mode & 0o777).toBe(0o600)
  })

  test('makes missing folders private, keeps a mode that is asked for, takes bytes', async () => {
    using dir = createTempDir()
    await files.write(dir.at('x', 'y', 'a'), new Uint8Array([1, 2]), { mode: 0o644 })
    expect(statSync(dir.at('x')).mode & 0o777).toBe(0o700)
    expect(statSync(dir.at('x', 'y', 'a')).mode & 0o777).toBe(0o644)
    expect([...readFileSync(dir.at('x', 'y', 'a'))]).toEqual([1, 2])
  })

  test.each(['before_write', 'after_write', 'before_rename'])(
    'that fails at %s leaves the old file alone',
    async (name) => {
      using dir = createTempDir()
      writeFileSync(dir.at('a'), 'old')
      failpoints.failAt(name)
      await expect(files.write(dir.at('a'), 'new')).rejects.toMatchObject({ code: 'file_failed', detail: dir.at('a') })
      expect(readdirSync(dir.path)).toEqual(['a'])
      expect(readFileSync(dir.at('a'), 'utf8')).toBe('old')
    },
  )

  test.each(['after_rename', 'before_dirsync'])('that fails at %s is applied and not durable', async (name) => {
    using dir = createTempDir()
    failpoints.failAt(name)
    expect(await files.write(dir.at('a'), 'new')).toEqual({ applied: true, durable: false })
    expect(readFileSync(dir.at('a'), 'utf8')).toBe('new')
  })

  test('onto a full disk is storage_full', async () => {
    using dir = createTempDir()
    failpoints.failAt('after_write', { error: Object.assign(new Error('full'), { code: 'ENOSPC' }) })
    await expect(files.write(dir.at('a'), 'new')).rejects.toMatchObject({ code: 'storage_full', retryable: true })
  })

  test('to a place that is a folder is file_failed', async () => {
    using dir = createTempDir()
    mkdirSync(dir.at('a'))
    await expect(files.write(dir.at('a'), 'new')).rejects.toMatchObject({ code: 'file_failed' })
    expect(readdirSync(dir.path)).toEqual(['a'])
  })

  test('replaces a link by a file and does not write through it', async () => {
    using dir = createTempDir()
    writeFileSync(dir.at('target'), 'target')
    symlinkSync(dir.at('target'), dir.at('a'))
    await files.write(dir.at('a'), 'new')
    expect([readFileSync(dir.at('target'), 'utf8'), readFileSync(dir.at('a'), 'utf8')]).toEqual(['target', 'new'])
  })

  test('keeps writes of one path in the order in which they were asked for', async () => {
    using dir = createTempDir()
    const sizes = [200_000, 10, 100_000, 1]
    await Promise.all(sizes.map((size, index) => files.write(dir.at('a'), String(index).repeat(size))))
    expect(readFileSync(dir.at('a'), 'utf8')).toBe('3')
  })

  // The process ends as by kill -9 at each place: whoever looks afterwards sees the old file whole or the new one whole.
  test.each(NAMES)('killed at %s leaves a whole file', async (name) => {
    using dir = createTempDir()
    writeFileSync(dir.at('a'), 'old')
    const child = spawn(process.execPath, [fixture('write-file.ts'), dir.at('a'), 'new'], {
      env: { WHEELHOUSE_FAILPOINT: `${name}:kill`, WHEELHOUSE_TEST_BUILD: '1' },
      stdio: 'ignore',
    })
    const [, signal] = (await once(child, 'exit')) as [number | null, string | null]
    expect(signal).toBe('SIGKILL')
    const isNew = NAMES.indexOf(name) >= NAMES.indexOf('after_rename')
    expect(readFileSync(dir.at('a'), 'utf8')).toBe(isNew ? 'new' : 'old')
    await sweepTempFiles(dir.path)
    expect(readdirSync(dir.path)).toEqual(['a'])
  })
})

describe('remove', () => {
  test('removes, and takes what is not there for done', async () => {
    using dir = createTempDir()
    writeFileSync(dir.at('a'), '')
    expect(await files.remove(dir.at('a'))).toEqual({ applied: true, durable: true })
    expect(existsSync(dir.at('a'))).toBe(false)
    expect(await files.remove(dir.at('a'))).toEqual({ applied: true, durable: true })
  })

  test('says when a power failure may bring the file back', async () => {
    using dir = createTempDir()
    writeFileSync(dir.at('a'), '')
    failpoints.failAt('before_dirsync')
    expect(await files.remove(dir.at('a'))).toEqual({ applied: true, durable: false })
  })

  test('of a folder is file_failed', async () => {
    using dir = createTempDir()
    mkdirSync(dir.at('a'))
    await expect(files.remove(dir.at('a'))).rejects.toMatchObject({ code: 'file_failed' })
  })
})

describe('read', () => {
  const limits = { maxBytes: 5 }

  test('answers the bytes, and null for no file', async () => {
    using dir = createTempDir()
    writeFileSync(dir.at('a'), '12345')
    writeFileSync(dir.at('empty'), '')
    expect(Buffer.from((await files.read(dir.at('a'), limits)) ?? []).toString()).toBe('12345')
    expect(await files.read(dir.at('empty'), limits)).toHaveLength(0)
    expect(await files.read(dir.at('none'), limits)).toBeNull()
  })

  test('refuses a link, a folder, a pipe and more than was asked for', async () => {
    using dir = createTempDir()
    writeFileSync(dir.at('a'), '123456')
    symlinkSync(dir.at('a'), dir.at('link'))
    mkdirSync(dir.at('folder'))
    for (const name of ['a', 'link', 'folder']) {
      await expect(files.read(dir.at(name), limits)).rejects.toMatchObject({
        code: 'file_unsafe',
        detail: dir.at(name),
      })
    }
    const pipe = spawn('mkfifo', [dir.at('pipe')])
    await once(pipe, 'exit')
    await expect(files.read(dir.at('pipe'), limits)).rejects.toMatchObject({ code: 'file_unsafe' })
  })

  test('refuses a file of another user', async () => {
    using dir = createTempDir()
    writeFileSync(dir.at('a'), '1')
    const isRoot = process.getuid?.() === 0
    if (isRoot) chownSync(dir.at('a'), 12_345, 12_345)
    await expect(files.read(isRoot ? dir.at('a') : '/etc/passwd', limits)).rejects.toMatchObject({
      code: 'file_unsafe',
    })
  })

  test('what cannot be opened is file_failed', async () => {
    using dir = createTempDir()
    writeFileSync(dir.at('a'), '1')
    await expect(files.read(dir.at('a', 'below'), limits)).rejects.toMatchObject({ code: 'file_failed' })
  })
})

function fixture(name: string): string {
  return fileURLToPath(new URL(`../../fixtures/platform/${name}`, import.meta.url))
}
