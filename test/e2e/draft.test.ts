import { mkdirSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { createTempDir } from '../support/dir.ts'
import type { TempDir } from '../support/dir.ts'
import { openApp, SHELLS } from './support/app.ts'
import type { OpenedApp } from './support/app.ts'
import { PATIENCE_MS, prompt, send, walkFirstRun } from './support/walk.ts'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)

/** Two hosts and a run that is cut off, on a machine that has other work. */
const LIMIT_MS = 180_000

describe.each(SHELLS)('a draft in the %s shell', (shell) => {
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

  const attach = (page: Page, name: string): Promise<void> =>
    page.locator('input[data-attach]').setInputFiles({ name, mimeType: 'image/png', buffer: PNG })
  const chip = (page: Page, name: string) => page.getByRole('list', { name: 'Attached files' }).getByText(name)
  const queued = (page: Page) => page.getByRole('region', { name: /^Queued/ })

  /** Until the host holds what the page shows. */
  async function untilKept(sessionId: string, text: string, isQueued: boolean): Promise<void> {
    await expect
      .poll(async () => (await app.call('drafts.get', { sessionId })).draft, { timeout: PATIENCE_MS })
      .toMatchObject({ text, queued: isQueued, inputIds: [expect.any(String)] })
  }

  test(
    'DT-A09 text, an attached image and a queued follow-up survive a reload and a restart',
    { timeout: LIMIT_MS },
    async () => {
      const { page } = app
      await walkFirstRun(page, dir.at('project'))
      const sessionId = /session\/([0-9a-f-]+)/.exec(page.url())?.[1] ?? ''
      await prompt(page).fill('Look at this')
      await attach(page, 'shot.png')
      await untilKept(sessionId, 'Look at this', false)

      await page.reload()
      await chip(page, 'shot.png').waitFor({ timeout: PATIENCE_MS })
      await expect.poll(() => prompt(page).inputValue(), { timeout: PATIENCE_MS }).toBe('Look at this')

      await app.kill()
      await app.restart()
      await chip(app.page, 'shot.png').waitFor({ timeout: PATIENCE_MS })
      await expect.poll(() => prompt(app.page).inputValue(), { timeout: PATIENCE_MS }).toBe('Look at this')

      await app.page.getByRole('button', { name: 'Remove: shot.png' }).click()
      await chip(app.page, 'shot.png').waitFor({ state: 'detached', timeout: PATIENCE_MS })
      await send(app.page, 'run: sleep 600')
      await app.page.getByRole('button', { name: 'Stop', exact: true }).waitFor({ timeout: PATIENCE_MS })
      await prompt(app.page).fill('And then this')
      await attach(app.page, 'next.png')
      await chip(app.page, 'next.png').waitFor({ timeout: PATIENCE_MS })
      await send(app.page, null)
      await queued(app.page).waitFor({ timeout: PATIENCE_MS })
      await untilKept(sessionId, 'And then this', true)

      await app.kill()
      await app.restart()
      await queued(app.page).getByText('And then this').waitFor({ timeout: PATIENCE_MS })
      await queued(app.page).getByText('next.png').waitFor({ timeout: PATIENCE_MS })
      // What was cut off did not complete: the follow-up waits for the person.
      await untilKept(sessionId, 'And then this', true)
    },
  )
})
