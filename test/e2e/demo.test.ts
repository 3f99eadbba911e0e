import { describe, expect, test } from 'vitest'
import { createTempDir } from '../support/dir.ts'
import { openApp, SHELLS } from './support/app.ts'
import { PATIENCE_MS, prompt, send, untilState } from './support/walk.ts'

describe.each(SHELLS)('--demo in the %s shell', (shell) => {
  test('opens a rehearsal session at once, its first prompt written', async () => {
    using dir = createTempDir()
    const app = await openApp(shell, { home: dir.at('data'), args: ['--demo'], env: { HOME: dir.path } })
    try {
      const { page } = app
      await prompt(page).waitFor({ timeout: PATIENCE_MS })
      await expect.poll(() => prompt(page).inputValue(), { timeout: PATIENCE_MS }).toContain('look around')
      expect(await page.getByText('Rehearsal', { exact: true }).count()).toBeGreaterThan(0)
      expect(page.url()).not.toContain('token')
      await send(page, null)
      await untilState(page, 'Waiting for you')
      expect(app.consoleErrors).toEqual([])
    } finally {
      await app.stop()
    }
  })
})
