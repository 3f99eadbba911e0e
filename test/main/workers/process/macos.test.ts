import { describe, expect, test } from 'vitest'
import { createMacosSource, parsePs, parsePsRow } from '../../../../src/main/workers/process/macos.ts'
import type { RunCommand } from '../../../../src/main/workers/process/macos.ts'
import { releaseProcess } from '../../../../src/main/workers/process/release.ts'
import { createPlatformTable, createProcessTable } from '../../../../src/main/workers/process/table.ts'
import { createFakeClock } from '../../../support/clock.ts'

const uid = process.getuid?.() ?? 0
const LISTING = [
  `    1     0     1     0 Ss   Sun Nov  1 08:00:00 2026`,
  `  700     1   700   ${uid} Ss   Sun Nov 29 10:00:00 2026`,
  `  701   700   700   ${uid} S    Sun Nov 29 10:00:01 2026`,
  `  702   700   702   ${uid} S+   Sun Nov 29 10:00:02 2026`,
  `  703   702   703   ${uid} Z    Sun Nov 29 10:00:03 2026`,
  `  704   702   704 99999 S    Sun Nov 29 10:00:04 2026`,
  `  800     1   800   ${uid} S    Sun Nov 29 10:00:05 2026`,
  `  801     1   801    -2 Ss   Thu Nov  5 10:00:05 2026    `,
  '',
].join('\n')

const listing: RunCommand = (file, args) => {
  if (file.endsWith('sysctl')) return Promise.resolve({ code: 0, stdout: 'BOOT-1\n' })
  if (args.includes('-A')) return Promise.resolve({ code: 0, stdout: LISTING })
  const line = LISTING.split('\n').find((each) => each.trim().startsWith(`${args.at(-1)} `))
  return Promise.resolve(line === undefined ? { code: 1, stdout: '' } : { code: 0, stdout: `${line}\n` })
}

describe('processes on macOS', () => {
  test('a row of ps is read with its start time as the token', () => {
    expect(parsePsRow('  702   700   702   501 S+   Sun Nov 29 10:00:02 2026    ')).toEqual({
      pid: 702,
      ppid: 700,
      pgid: 702,
      sid: null,
      uid: 501,
      zombie: false,
      startToken: 'Sun Nov 29 10:00:02 2026',
      startedAtMs: Date.UTC(2026, 10, 29, 10, 0, 2),
    })
    expect(parsePsRow('  703   702   703   501 Z    Sun Nov  1 10:00:03 2026')).toMatchObject({ zombie: true })
  })

  test('a listing with a line that cannot be read proves nothing', () => {
    expect(parsePs(LISTING)).toHaveLength(8)
    expect(parsePs(`${LISTING}ps: something went wrong\n`)).toBeNull()
  })

  test('the family is found by parent; zombies, strangers and other users are not of it', async () => {
    const table = createProcessTable({ source: createMacosSource(listing), clock: createFakeClock(), hostPid: 800 })
    const leader = await table.lookup(700)
    expect(leader).toMatchObject({ bootId: 'BOOT-1', startToken: 'Sun Nov 29 10:00:00 2026', exact: true })
    if (leader === null) return
    expect((await table.members(leader))?.map(({ pid }) => pid)).toEqual([700, 701])
    expect((await table.family(leader, 'worker')).map(({ pid }) => pid)).toEqual([702])
    expect(await table.lookup(703)).toBeNull()
    expect(await table.lookup(9_999)).toBeNull()
  })

  test('P-6 a release that ends with its input asks ps no more than sixteen times, one that is killed neither', async () => {
    for (const stubborn of [false, true]) {
      let asked = 0
      let alive = true
      const run: RunCommand = async (file, args) => {
        asked += file === '/bin/ps' ? 1 : 0
        const answer = await listing(file, args)
        if (alive) return answer
        const rows = LISTING.split('\n').filter((line) => !/^ *70[0-4] /.test(line))
        if (args.includes('-A')) return { code: 0, stdout: rows.join('\n') }
        return /^70[0-4]$/.test(args.at(-1) ?? '') ? { code: 1, stdout: '' } : answer
      }
      const clock = createFakeClock()
      const kill = (_pid: number, signal: string | number): void => {
        if (!alive) throw Object.assign(new Error('none'), { code: 'ESRCH' })
        if (signal === 'SIGKILL') alive = false
      }
      const table = createProcessTable({ source: createMacosSource(run), clock, hostPid: 800, kill })
      const leader = await table.lookup(700)
      if (leader === null) throw new Error('no leader')
      asked = 0
      const outcome = await releaseProcess({
        table,
        clock,
        workerId: 'worker',
        process: leader,
        options: { closeStdinMs: 1, termGraceMs: 0, confirmMs: 5_000 },
        endStdin() {
          alive = stubborn
          return Promise.resolve(!stubborn)
        },
      })
      expect(outcome).toEqual({ kind: 'gone', strongest: stubborn ? 'kill' : 'stdin', strays: [] })
      expect(asked).toBeLessThanOrEqual(16)
    }
  })

  test('without an answer of ps nobody is known', async () => {
    const silent: RunCommand = () => Promise.resolve({ code: null, stdout: '' })
    const table = createProcessTable({ source: createMacosSource(silent), clock: createFakeClock(), hostPid: 800 })
    expect(await table.lookup(700)).toMatchObject({ exact: false })
  })

  test.each([
    ['linux', true],
    ['darwin', true],
    ['win32', false],
    ['freebsd', false],
  ] as const)('WK-34 %s has a table of its own: %s', (platform, supported) => {
    expect(createPlatformTable(createFakeClock(), platform).supported).toBe(supported)
  })
})
