import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createTempDir } from '../support/dir.ts'
import type { TempDir } from '../support/dir.ts'
import { openApp } from './support/app.ts'
import type { OpenedApp } from './support/app.ts'
import { allow, PATIENCE_MS, prompt, send, untilState, walkFirstRun } from './support/walk.ts'

/** Ignores what ends an ordinary process, in a kernel session of its own. */
const STUBBORN = `setsid bash -c 'trap "" TERM HUP; sleep 600; sleep 600' & sleep 600`

/** How many processes carry the mark of this worker. */
function marked(workerId: string): number {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`WHEELHOUSE_WORKER=${workerId}\0`)
    } catch {
      return false
    }
  }).length
}

describe('a host that is killed', () => {
  let dir: TempDir
  let app: OpenedApp

  beforeEach(async () => {
    dir = createTempDir()
    mkdirSync(dir.at('project'))
    app = await openApp('browser', { home: dir.at('data') })
  })

  afterEach(async () => {
    await app.stop()
    dir[Symbol.dispose]()
  })

  test('DT-A07 the open tab comes back by itself, says what became of the run, and no worker of the old host lives', async () => {
    const { page } = app
    await walkFirstRun(page, dir.at('project'))
    await send(page, `run: ${STUBBORN}`)
    await allow(page, /setsid/)
    const { workers } = await app.call('workers.list', {})
    const [worker] = workers
    const left = (): number => marked(worker?.workerId ?? 'nobody')
    // The agent, its shell, the two sleeps and the shell that ignores what ends others.
    await expect.poll(left, { timeout: PATIENCE_MS }).toBeGreaterThan(3)

    await app.kill()
    await page
      .getByText(/not answering|host is away|gone/i)
      .first()
      .waitFor({ timeout: PATIENCE_MS })
    await app.restart()

    await expect.poll(left, { timeout: 15_000 }).toBe(0)
    await untilState(page, 'Failed')
    await page
      .getByRole('main')
      .getByText(/Wheelhouse ended while this run was under way/)
      .first()
      .waitFor({ timeout: PATIENCE_MS })

    const sessionId = /session\/([0-9a-f-]+)/.exec(page.url())?.[1] ?? ''
    const { events, headSeq } = await app.call('runs.events', { sessionId, afterSeq: 0, limit: 1_000 })
    expect(events.map((event) => event.seq)).toEqual(Array.from({ length: headSeq }, (_, index) => index + 1))
    expect(events.at(-1)).toMatchObject({
      type: 'run_recovered',
      state: 'failed',
      data: { error: { code: 'owner_lost', sideEffectState: 'unknown' } },
    })

    await prompt(page).fill('And now without a crash')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await untilState(page, 'Waiting for you')
  })
})
