import { mkdirSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createTempDir } from '../support/dir.ts'
import type { TempDir } from '../support/dir.ts'
import { openApp, SHELLS } from './support/app.ts'
import type { OpenedApp } from './support/app.ts'
import { PATIENCE_MS, prompt, send, untilState, walkFirstRun } from './support/walk.ts'

/** Both shells run the same client; what differs is the channel below it. */
const RELOADS = { browser: 20, electron: 8 }
/** Twenty page loads and a long stream, on a machine that has other work. */
const LIMIT_MS = 240_000

describe.each(SHELLS)('a reload in the %s shell', (shell) => {
  let dir: TempDir
  let app: OpenedApp

  beforeEach(async () => {
    dir = createTempDir()
    mkdirSync(dir.at('project'))
    app = await openApp(shell, { home: dir.at('data') })
  })

  afterEach(async () => {
    await app.stop()
    dir[Symbol.dispose]()
  })

  test(
    `DT-A06 ${RELOADS[shell]} reloads in mid-stream leave the transcript equal to the database’s, without a gap or a double`,
    { timeout: LIMIT_MS },
    async () => {
      const { page } = app
      await walkFirstRun(page, dir.at('project'))
      await send(page, 'Count slowly')
      await page
        .getByRole('main')
        .getByText(/1, 2, 3|1 2 3|\b1\b/)
        .first()
        .waitFor({ timeout: PATIENCE_MS })
      for (let n = 0; n < RELOADS[shell]; n++) {
        await page.reload()
        await prompt(page).waitFor({ timeout: PATIENCE_MS })
      }
      await untilState(page, 'Completed')
      const sessionId = /session\/([0-9a-f-]+)/.exec(page.url())?.[1] ?? ''
      const { events, headSeq } = await app.call('runs.events', { sessionId, afterSeq: 0, limit: 1_000 })
      expect(events.map((event) => event.seq)).toEqual(Array.from({ length: headSeq }, (_, index) => index + 1))
      const written = events
        .filter((event) => event.type === 'output_text')
        .map((event) => String(event.data['text']))
        .join('')
      const shown = await page.getByRole('main').innerText()
      const squeeze = (text: string): string => text.replace(/\s+/g, '')
      expect(squeeze(shown)).toContain(squeeze(written))
      expect(squeeze(shown).split(squeeze(written))).toHaveLength(2)
      expect(app.consoleErrors).toEqual([])
    },
  )
})
