import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createTempDir } from '../support/dir.ts'
import type { TempDir } from '../support/dir.ts'
import { openApp } from './support/app.ts'
import type { OpenedApp } from './support/app.ts'
import { allow, PATIENCE_MS, prompt, send, untilState, walkFirstRun } from './support/walk.ts'

/** Ignores what ends an ordinary process, in a kernel session of its own. */
const STUBBORN = `setsid bash -c 'trap "" TERM HUP; sleep 600; sleep 600' & sleep 600`

/** Everything that still carries the mark of a worker of ours and works for this data folder's agents. */
function marked(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8')
      } catch {
        return ''
      }
    })
    .flatMap((environ) => /(?:^|\0)WHEELHOUSE_WORKER=([^\0]+)/.exec(environ)?.[1] ?? [])
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
    const others = new Set(marked())
    await walkFirstRun(page, dir.at('project'))
    await send(page, `run: ${STUBBORN}`)
    await allow(page, /setsid/)
    await expect
      .poll(() => marked().filter((mark) => !others.has(mark)).length, { timeout: PATIENCE_MS })
      .toBeGreaterThan(2)
    const ours = new Set(marked().filter((mark) => !others.has(mark)))

    await app.kill()
    await page
      .getByText(/not answering|host is away|gone/i)
      .first()
      .waitFor({ timeout: PATIENCE_MS })
    await app.restart()

    await expect.poll(() => marked().filter((mark) => ours.has(mark)), { timeout: 15_000 }).toEqual([])
    await untilState(page, 'Failed')
    await page
      .getByRole('main')
      .getByText(/ended while this ran/)
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
