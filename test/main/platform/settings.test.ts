import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createDurableFile } from '../../../src/main/platform/durable-file.ts'
import { openSettings } from '../../../src/main/platform/settings.ts'
import type { Settings } from '../../../src/main/platform/types.ts'
import { defaultSettings, SETTINGS } from '../../../src/shared/settings.ts'
import { createTempDir, type TempDir } from '../../support/dir.ts'
import { createFakeFailpoints } from '../../support/failpoints.ts'
import { createFakeIds } from '../../support/ids.ts'
import { createMemoryLog } from '../../support/log.ts'

const failpoints = createFakeFailpoints()
const files = createDurableFile({ ids: createFakeIds(), failpoints })
const log = createMemoryLog()

function open(dir: TempDir): Promise<Settings> {
  return openSettings(dir.at('settings.json'), { files, log })
}

function saved(dir: TempDir): unknown {
  return JSON.parse(readFileSync(dir.at('settings.json'), 'utf8'))
}

test.each(Object.entries(SETTINGS))(
  '%s has a default that its own schema takes, and a line for people',
  (_key, setting) => {
    expect(setting.schema.safeParse(setting.default)).toMatchObject({ success: true, data: setting.default })
    expect(setting.about).toMatch(/^[A-Z].{5,120}\.$/)
  },
)

describe('settings', () => {
  test('without a file are the defaults, and no file is made', async () => {
    using dir = createTempDir()
    const settings = await open(dir)
    expect(settings.values()).toEqual(defaultSettings())
    expect(settings.get('requestBodyCapMiB')).toBe(32)
    expect(() => statSync(dir.at('settings.json'))).toThrow('ENOENT')
  })

  test('are saved as what was chosen, told, and there at the next start', async () => {
    using dir = createTempDir()
    const settings = await open(dir)
    const told: string[] = []
    const subscription = settings.subscribe(({ theme }) => told.push(theme))
    const { values, durable } = await settings.set('theme', 'dark')
    expect([values.theme, durable]).toEqual(['dark', true])
    expect(values).toBe(settings.values())
    subscription[Symbol.dispose]()
    await settings.set('theme', 'light')
    expect(told).toEqual(['dark'])
    expect(saved(dir)).toEqual({ theme: 'light' })
    expect((await open(dir)).get('theme')).toBe('light')
  })

  test('keep keys of another version, and what a person changed by hand meanwhile', async () => {
    using dir = createTempDir()
    writeFileSync(dir.at('settings.json'), '{"fromTheFuture":{"a":1},"theme":"dark"}')
    const settings = await open(dir)
    writeFileSync(dir.at('settings.json'), '{"fromTheFuture":{"a":2},"theme":"dark","webPort":4000}')
    const { values } = await settings.set('keepInTray', false)
    expect(saved(dir)).toEqual({ fromTheFuture: { a: 2 }, theme: 'dark', webPort: 4_000, keepInTray: false })
    expect(values).toMatchObject({ theme: 'dark', webPort: 4_000, keepInTray: false })
  })

  test('changed at the same time are all saved', async () => {
    using dir = createTempDir()
    const settings = await open(dir)
    await Promise.all([settings.set('theme', 'dark'), settings.set('webPort', 4_000), settings.set('theme', 'light')])
    expect(saved(dir)).toEqual({ theme: 'light', webPort: 4_000 })
  })

  test.each([
    ['no JSON', '{"theme":'],
    ['no object', '[]'],
    ['a value that cannot be', '{"theme":"pink"}'],
    ['bytes that are no text', Buffer.from([0x7b, 0xff, 0x7d])],
  ])('a file with %s is settings_invalid, is named and stays as it is', async (_what, content) => {
    using dir = createTempDir()
    writeFileSync(dir.at('settings.json'), content)
    const invalid = { code: 'settings_invalid', message: expect.stringContaining(dir.at('settings.json')) as string }
    await expect(open(dir)).rejects.toMatchObject(invalid)
    expect(readFileSync(dir.at('settings.json')).equals(Buffer.from(content))).toBe(true)
  })

  test('broken by hand while the host runs: nothing is written over, the old values hold', async () => {
    using dir = createTempDir()
    const settings = await open(dir)
    writeFileSync(dir.at('settings.json'), 'oops')
    await expect(settings.set('theme', 'dark')).rejects.toMatchObject({ code: 'settings_invalid' })
    expect(readFileSync(dir.at('settings.json'), 'utf8')).toBe('oops')
    expect(settings.get('theme')).toBe('system')
  })

  test.each([
    ['theme', 'pink'],
    ['keepInTray', 'yes'],
    ['requestBodyCapMiB', 0],
    ['requestBodyCapMiB', 1.5],
    ['webPort', 80],
    ['doNotDisturb', { from: '22:00', to: '24:00' }],
    ['upstreamProxy', 'socks://proxy'],
    ['upstreamProxy', 'http://user:key@proxy:3128'],
    ['defaultMode', 'os'],
    ['__proto__', {}],
    ['constructor', 1],
    ['unknown', 1],
  ])('%s cannot be %j', async (key, value) => {
    using dir = createTempDir()
    const settings = await open(dir)
    await expect(settings.set(key, value)).rejects.toMatchObject({ code: 'input_invalid' })
    expect(settings.values()).toEqual(defaultSettings())
  })

  test.each([
    ['doNotDisturb', { from: '22:00', to: '07:30' }],
    ['upstreamProxy', 'http://proxy.example.com:3128'],
    ['upstreamProxy', 'http://10.0.0.1:3128'],
    ['upstreamProxy', 'system'],
    ['webPort', null],
  ])('%s can be %j', async (key, value) => {
    using dir = createTempDir()
    const { values } = await (await open(dir)).set(key, value)
    expect(values).toMatchObject({ [key]: value })
  })

  test('a write that may be undone by a power failure says so; one that failed changes nothing', async () => {
    using dir = createTempDir()
    const settings = await open(dir)
    failpoints.failAt('before_dirsync')
    expect(await settings.set('theme', 'dark')).toMatchObject({ durable: false })
    failpoints.failAt('before_rename')
    await expect(settings.set('theme', 'light')).rejects.toMatchObject({ code: 'file_failed' })
    expect(settings.get('theme')).toBe('dark')
    expect((await settings.set('theme', 'light')).durable).toBe(true)
  })
})
