import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { defaultDataDir, dropEmptyHome, makeDataDir, pathsIn } from '../../../src/main/platform/paths.ts'
import { createTempDir } from '../../support/dir.ts'

describe('defaultDataDir', () => {
  const home = '/home/ann'
  test.each([
    ['WHEELHOUSE_HOME before all else', { WHEELHOUSE_HOME: '/w', XDG_DATA_HOME: '/x' }, 'linux', '/w'],
    ['XDG_DATA_HOME', { WHEELHOUSE_HOME: '', XDG_DATA_HOME: '/x' }, 'linux', '/x/wheelhouse'],
    [
      'the default when XDG_DATA_HOME is relative',
      { XDG_DATA_HOME: 'x' },
      'linux',
      '/home/ann/.local/share/wheelhouse',
    ],
    ['the default', {}, 'linux', '/home/ann/.local/share/wheelhouse'],
    ['Application Support', { XDG_DATA_HOME: '/x' }, 'darwin', '/home/ann/Library/Application Support/Wheelhouse'],
  ] as const)('takes %s', (_what, env, platform, expected) => {
    expect(defaultDataDir({ env, platform, home })).toBe(expected)
  })

  test('a relative WHEELHOUSE_HOME is made absolute', () => {
    expect(defaultDataDir({ env: { WHEELHOUSE_HOME: 'here' }, platform: 'linux', home })).toBe(`${process.cwd()}/here`)
  })
})

describe('dropEmptyHome', () => {
  test('an empty HOME is none; any other stays', () => {
    const [empty, told] = [{ HOME: '', PATH: '' }, { HOME: '/home/ann' }]
    dropEmptyHome(empty)
    dropEmptyHome(told)
    expect([empty, told]).toEqual([{ PATH: '' }, { HOME: '/home/ann' }])
  })
})

describe('pathsIn', () => {
  const machine = { env: { XDG_RUNTIME_DIR: '/run/user/1' }, platform: 'linux', home: '/home/ann' } as const

  test('everything lies in the data folder', () => {
    const { dataDir, ...paths } = pathsIn('/data', machine)
    expect(Object.values(paths).filter((path) => !path.startsWith(`${dataDir}/`))).toEqual([])
    expect(paths.hostSocket).toBe('/data/host.sock')
  })

  test('a socket path of more than 103 bytes moves to a short one, the same for the same folder', () => {
    const fits = `/${'d'.repeat(92)}`
    expect(Buffer.byteLength(pathsIn(fits, machine).hostSocket)).toBe(103)
    const long = pathsIn(`${fits}d`, machine).hostSocket
    expect(long).toMatch(/^\/run\/user\/1\/wheelhouse-\d+\/[0-9a-f]{16}\.sock$/)
    expect(pathsIn(`${fits}d`, machine).hostSocket).toBe(long)
    expect(pathsIn(`${fits}e`, machine).hostSocket).not.toBe(long)
    expect(pathsIn('/ä'.repeat(40), machine).hostSocket).toMatch(/^\/run\/user\/1/)
  })

  test('without a runtime folder it moves below the temporary one', () => {
    const { hostSocket } = pathsIn('/d'.repeat(60), { ...machine, env: {} })
    expect(Buffer.byteLength(hostSocket)).toBeLessThanOrEqual(103)
  })

  test('on Windows it is a named pipe', () => {
    expect(pathsIn('/data', { ...machine, platform: 'win32' }).hostSocket).toMatch(
      /^\\\\\.\\pipe\\wheelhouse-[0-9a-f]{32}$/,
    )
  })
})

describe('makeDataDir', () => {
  test('makes a private folder with those above it, and is content with it afterwards', async () => {
    using dir = createTempDir()
    await makeDataDir(dir.at('a', 'b'))
    expect(statSync(dir.at('a', 'b')).mode & 0o777).toBe(0o700)
    await makeDataDir(dir.at('a', 'b'))
  })

  test.each([[[]], [['host.lock', 'wheelhouse.db']]])(
    'closes an open folder that is empty or ours: %j',
    async (names) => {
      using dir = createTempDir()
      for (const name of names) writeFileSync(dir.at(name), '')
      chmodSync(dir.path, 0o755)
      await makeDataDir(dir.path)
      expect(statSync(dir.path).mode & 0o777).toBe(0o700)
    },
  )

  test('refuses an open folder with other things in it, and changes nothing there', async () => {
    using dir = createTempDir()
    writeFileSync(dir.at('letter.txt'), '')
    chmodSync(dir.path, 0o755)
    await expect(makeDataDir(dir.path)).rejects.toMatchObject({ code: 'data_dir_unwritable' })
    expect(statSync(dir.path).mode & 0o777).toBe(0o755)
  })

  test('says what stands in the way, where, and what to do', async () => {
    using dir = createTempDir()
    writeFileSync(dir.at('file'), '')
    mkdirSync(dir.at('folder'))
    await expect(makeDataDir(dir.at('file'))).rejects.toMatchObject({
      code: 'data_dir_unwritable',
      message: `The data folder ${dir.at('file')} cannot be used: there is a file of that name. Set WHEELHOUSE_HOME to a folder of your own.`,
    })
    await expect(makeDataDir(dir.at('file', 'below'))).rejects.toMatchObject({
      code: 'data_dir_unwritable',
      message: expect.stringContaining('a part of its path is a file') as string,
    })
    await expect(makeDataDir('/proc/wheelhouse')).rejects.toMatchObject({ code: 'data_dir_unwritable' })
  })
})
