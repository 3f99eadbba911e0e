/** Programs run for a check: bounded in time and output, and gone with all that they started. */
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createIds, createSecretRegistry } from '../../../src/main/platform/index.ts'
import type { Clock } from '../../../src/main/platform/index.ts'
import { createPlatformTable, LIMITS } from '../../../src/main/workers/index.ts'
import type { ProbeResult } from '../../../src/main/workers/index.ts'
import { runProbe } from '../../../src/main/workers/probe.ts'
import { createRedactor } from '../../../src/main/workers/text/redactor.ts'
import { createTempDir } from '../../support/dir.ts'
import { createMemoryLog } from '../../support/log.ts'
import { clock, failure, isAlive, until } from './harness.ts'

const table = createPlatformTable(clock)

/** A probe of a shell script in `dir`. */
function probe(dir: string, script: string, signal?: AbortSignal, by: Clock = clock): Promise<ProbeResult> {
  const secrets = createSecretRegistry()
  return runProbe(
    {
      table,
      clock: by,
      log: createMemoryLog(),
      ids: createIds(),
      redactor: (redaction) => createRedactor(secrets, redaction),
    },
    { program: '/bin/sh', args: ['-c', script], env: { PATH: '/usr/bin:/bin' }, cwd: dir },
    signal ?? new AbortController().signal,
  )
}

/** Deaf to every wish, with a child in a session of its own. */
const DEAF = `trap '' TERM HUP; setsid sleep 300 & echo $! > child; while :; do sleep 300; done`

describe.runIf(process.platform === 'linux')('a probe', () => {
  test('WK-58 that hangs is ended at its bound, its children with it', async () => {
    using dir = createTempDir()
    // A hundredth of each wait.
    const hasty: Clock = {
      ...clock,
      after: (ms, call) => clock.after(ms / 100, call),
      sleep: (ms, signal) => clock.sleep(ms / 100, signal),
    }
    expect(await probe(dir.path, DEAF, undefined, hasty)).toMatchObject({ exit: null, timedOut: true })
    expect(await isAlive(table, Number(readFileSync(dir.at('child'), 'utf8')))).toBe(false)
  })

  test('WK-58 that is given up is gone before it is said', async () => {
    using dir = createTempDir()
    const leave = new AbortController()
    const given = failure(probe(dir.path, DEAF, leave.signal))
    await until('it runs', () => existsSync(dir.at('child')) && readFileSync(dir.at('child'), 'utf8') !== '')
    leave.abort()
    expect(await given).toMatchObject({ code: 'aborted' })
    expect(await isAlive(table, Number(readFileSync(dir.at('child'), 'utf8')))).toBe(false)
  })

  test('WK-58 that floods is read to its end, and little of it is kept', async () => {
    using dir = createTempDir()
    const found = await probe(dir.path, 'yes | head -c 20000000; exit 3')
    expect(found).toMatchObject({ exit: 3, timedOut: false })
    expect(found.stdout.length).toBeLessThanOrEqual(LIMITS.probeBytes)
  })
})
