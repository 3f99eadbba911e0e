import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { AppError } from '../../../src/shared/errors.ts'
import { createLog, type FileLog, type LogOptions } from '../../../src/main/platform/log.ts'
import { readLogTail } from '../../../src/main/platform/log-tail.ts'
import { createSecret } from '../../../src/main/platform/secret.ts'
import { createSecretRegistry } from '../../../src/main/platform/secret-registry.ts'
import type { SecretRegistry } from '../../../src/main/platform/types.ts'
import { createFakeClock, type FakeClock } from '../../support/clock.ts'
import { createTempDir, type TempDir } from '../../support/dir.ts'

interface LogUnderTest {
  log: FileLog
  dir: TempDir
  clock: FakeClock
  secrets: SecretRegistry
  lines: () => Record<string, unknown>[]
}

function openLog(options: Partial<LogOptions> = {}): LogUnderTest {
  const dir = createTempDir()
  const clock = createFakeClock()
  const secrets = createSecretRegistry()
  const log = createLog({ dir: dir.at('logs'), clock, secrets, ...options })
  onTestFinished(async () => {
    await log.close()
    dir[Symbol.dispose]()
  })
  const lines = (): Record<string, unknown>[] =>
    readFileSync(dir.at('logs', 'wheelhouse.log'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  return { log, dir, clock, secrets, lines }
}

describe('a line', () => {
  test("is JSON with time, level, process, message, and fields apart, children's included", async () => {
    const { log, clock, lines } = openLog()
    log.child({ system: 'runtime', level: 'mine' }).child({ run: 'r1' }).warn('Slow.', { ms: 12 })
    log.debug('not shown')
    await log.flush()
    expect(lines()).toEqual([
      {
        level: 'warn',
        time: clock.nowMs(),
        pid: process.pid,
        fields: { system: 'runtime', level: 'mine', run: 'r1', ms: 12 },
        msg: 'Slow.',
      },
    ])
  })

  test('DT-A33 holds an error once, with its code, its stack and all its causes', async () => {
    const { log, lines } = openLog()
    const root = Object.assign(new Error('no space'), { code: 'ENOSPC' })
    log.error('Failed.', { error: new AppError('file_failed', 'Not written.', { detail: '/x', cause: root }) })
    await log.flush()
    expect(lines()).toHaveLength(1)
    expect(lines()[0]).toMatchObject({
      fields: {
        error: {
          name: 'AppError',
          code: 'file_failed',
          message: 'Not written.',
          detail: '/x',
          stack: expect.stringContaining('log.test') as string,
          cause: { name: 'Error', message: 'no space', code: 'ENOSPC' },
        },
      },
    })
  })

  test('survives whatever is handed in', async () => {
    const { log, lines } = openLog()
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    const hostile = Object.defineProperty({}, 'boom', {
      enumerable: true,
      get() {
        throw new Error('no')
      },
    })
    log.info('Odd.', {
      circle,
      hostile,
      big: 10n,
      fn: () => 1,
      bytes: new Uint8Array(9),
      map: new Map([['k', 1]]),
      date: new Date(Number.NaN),
      long: 'x'.repeat(100_000),
      many: Array.from({ length: 1_000 }, (_, index) => index),
      nan: Number.NaN,
      aggregate: new AggregateError([new Error('one'), new Error('two')], 'both'),
      nothing: undefined,
    })
    await log.flush()
    const [line] = lines()
    expect(line?.['fields']).toMatchObject({ hostile: '[unreadable]', big: '10', bytes: '[9 bytes]', nan: 'NaN' })
    expect(JSON.stringify(line).length).toBeLessThan(60_000)
    expect(JSON.stringify(line)).toContain('two')
  })

  test('shows no secret: neither a wrapped one nor one that stands in a text, a message or an error', async () => {
    const { log, dir, secrets } = openLog()
    const key = 'sk-"live"-0123456789'
    const secret = createSecret(key)
    secrets.add(secret, 'test')
    const request = { headers: { authorization: `Bearer ${key}` }, key: secret }
    log.info(`Sent ${key}`, { request, error: new Error(`401 for ${key}`), url: `/v1?key=${encodeURIComponent(key)}` })
    log.child({ login: Buffer.from(key).toString('base64') }).warn('Login.')
    await log.flush()
    const text = readFileSync(dir.at('logs', 'wheelhouse.log'), 'utf8')
    expect(secrets.find(text)).toEqual([])
    expect(text).not.toContain('0123456789')
    expect(text.match(/\[secret\]/g)?.length).toBeGreaterThanOrEqual(6)
    for (const line of text.trimEnd().split('\n')) expect(() => JSON.parse(line) as unknown).not.toThrow()
  })
})

describe('the files', () => {
  test('DT-A33 rotate at their size, five are kept, and all are private', async () => {
    const { log, dir } = openLog({ maxFileBytes: 2_000 })
    for (let index = 0; index < 100; index++) {
      log.info(`line ${index}`, { filler: 'x'.repeat(200) })
      await log.flush()
    }
    await log.close()
    const names = readdirSync(dir.at('logs')).sort()
    expect(names).toEqual(['', '.1', '.2', '.3', '.4'].map((suffix) => `wheelhouse.log${suffix}`))
    for (const name of names) {
      expect(statSync(dir.at('logs', name)).mode & 0o777).toBe(0o600)
      expect(statSync(dir.at('logs', name)).size).toBeLessThan(2_600)
    }
    expect(readFileSync(dir.at('logs', 'wheelhouse.log.1'), 'utf8')).toContain('line 9')
  })

  test('an existing file is continued', async () => {
    const { log, dir, secrets, clock, lines } = openLog()
    log.info('first')
    await log.close()
    const again = createLog({ dir: dir.at('logs'), clock, secrets })
    again.info('second')
    await again.close()
    expect(lines().map(({ msg }) => msg)).toEqual(['first', 'second'])
  })

  test('a folder that cannot be written loses lines, not the host, and says how many once it can', async () => {
    const { log, dir, clock, lines } = openLog()
    writeFileSync(dir.at('logs'), 'in the way')
    log.info('lost 1')
    log.info('lost 2')
    await log.flush()
    rmSync(dir.at('logs'))
    log.info('lost 3: it is too early to try again')
    clock.jumpWall(60_000)
    await clock.advance(30_000)
    log.info('back')
    await log.flush()
    expect(lines()).toMatchObject([{ level: 'warn', fields: { dropped: 3 } }, { msg: 'back' }])
  })

  test('logging after close does nothing', async () => {
    const { log, dir } = openLog()
    await log.close()
    log.info('late')
    await log.close()
    expect(existsSync(dir.at('logs', 'wheelhouse.log'))).toBe(false)
  })
})

describe('readLogTail', () => {
  test('answers the newest lines of all files, oldest first', async () => {
    const { log, dir } = openLog({ maxFileBytes: 1_000 })
    for (let index = 0; index < 30; index++) {
      log.info(`line ${index}`)
      await log.flush()
    }
    const tail = await readLogTail(dir.at('logs'), { maxLines: 20, maxBytes: 1_000_000 })
    expect(tail.map(({ message }) => message)).toEqual(Array.from({ length: 20 }, (_, index) => `line ${index + 10}`))
  })

  test('reads no more bytes than it may, and leaves out what is no whole line', async () => {
    using dir = createTempDir()
    mkdirSync(dir.at('logs'))
    const line = (index: number): string => `{"level":"info","time":${index},"msg":"line ${index}"}\n`
    writeFileSync(dir.at('logs', 'wheelhouse.log'), `${line(1)}${line(2)}garbage\n${line(3)}{"level":"in`)
    const read = (maxLines: number, maxBytes: number): Promise<readonly { message: string }[]> =>
      readLogTail(dir.at('logs'), { maxLines, maxBytes })
    expect((await read(10, 10_000)).map(({ message }) => message)).toEqual(['line 1', 'line 2', 'line 3'])
    expect((await read(10, 100)).map(({ message }) => message)).toEqual(['line 3'])
    expect(await read(0, 10_000)).toEqual([])
    expect(await readLogTail(dir.at('none'), { maxLines: 10, maxBytes: 100 })).toEqual([])
  })
})
