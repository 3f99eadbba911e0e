/** `wheelhouse doctor`, and `npm start` on a machine that has nothing. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { Check } from '../../../src/shared/bridge/index.ts'
import { ensureBuilt, ROOT } from '../host/support/built.ts'
import { createMachine } from '../host/support/command.ts'
import type { Machine } from '../host/support/command.ts'

/** Tells its version, then never answers; `asked` in the home's parent says that it was asked. */
const SILENT_CODEX = `#!/bin/sh
if [ "$1" = --version ]; then echo codex-cli 0.171.0; exit; fi
: > "$HOME/../asked"
exec sleep 600
`

let machine: Machine

// Each test starts processes; a busy machine takes its time over them.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 })
beforeAll(ensureBuilt)
beforeEach(() => {
  machine = createMachine()
})
afterEach(() => machine[Symbol.asyncDispose]())

describe('doctor', () => {
  test('DT-A30 on a bare machine tells every check with what to do, and ends with 0', async () => {
    const { code, stdout, stderr } = await machine.run(['doctor'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^ok {4}Database: SQLite .*reaches the disk$/m)
    expect(stdout).toMatch(/^ok {4}Built-in agent: /m)
    expect(stdout).toMatch(/^warn {2}Codex: .*\n {6}\S.*npm install/m)
    expect(machine.workers()).toEqual([])
  })

  test('DT-A30 --json parses with the contract’s schema', async () => {
    const { code, stdout } = await machine.run(['doctor', '--json'])
    expect(code).toBe(0)
    const { checks } = JSON.parse(stdout) as { checks: unknown[] }
    const parsed = checks.map((check) => Check.parse(check))
    expect(new Set(parsed.map(({ id }) => id)).size).toBe(parsed.length)
    expect(parsed.filter(({ status, hint }) => status !== 'pass' && hint === null)).toEqual([])
  })

  test('DT-A30 told to end in the middle, it leaves nothing behind', async () => {
    // An agent that never answers, so that there is a middle.
    mkdirSync(machine.at('bin'))
    writeFileSync(machine.at('bin', 'codex'), SILENT_CODEX, { mode: 0o755 })
    const doctor = machine.start(['doctor'], { env: { PATH: `${machine.at('bin')}:/usr/local/bin:/usr/bin:/bin` } })
    await expect.poll(() => machine.workers().length, { timeout: 60_000 }).toBeGreaterThan(0)
    await expect.poll(() => existsSync(machine.at('asked')), { timeout: 60_000 }).toBe(true)
    doctor.kill('SIGINT')
    expect((await doctor.ended).code).toBe(130)
    await expect.poll(() => machine.workers(), { timeout: 60_000 }).toEqual([])
  })
})

describe('npm start', () => {
  test('DT-A31 without Electron and network says why in one line, and serves a browser', async () => {
    const nowhere = machine.at('nowhere')
    mkdirSync(nowhere)
    const child = spawn(process.execPath, [join(ROOT, 'tools/start.ts')], {
      cwd: ROOT,
      env: {
        PATH: '/usr/local/bin:/usr/bin:/bin',
        HOME: machine.at('home'),
        WHEELHOUSE_HOME: machine.data,
        // A display there is, so that it is Electron's binary that is missing, and no way to fetch it.
        DISPLAY: ':99',
        ELECTRON_SKIP_BINARY_DOWNLOAD: '1',
        https_proxy: 'http://127.0.0.1:9',
        ELECTRON_MIRROR: 'http://127.0.0.1:9/',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
    try {
      let stdout = ''
      let stderr = ''
      child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
      child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
      await expect.poll(() => stdout, { timeout: 110_000 }).toMatch(/Open http:\/\/(127\.0\.0\.1|localhost):\d+\//)
      await expect.poll(() => stderr).toMatch(/^Starting in the browser: /m)
      expect(stderr.match(/^Starting in the browser: /gm)).toHaveLength(1)
    } finally {
      child.kill('SIGTERM')
      expect(await ended).toBe(0)
    }
  })
})
