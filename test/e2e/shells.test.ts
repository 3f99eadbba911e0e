import { describe, expect, test } from 'vitest'
import { createTempDir } from '../support/dir.ts'
import { openApp, SHELLS } from './support/app.ts'

describe.each(SHELLS)('in the %s', (shell) => {
  test(
    'the app opens, shows its interface in two windows, comes back after kill -9, and ends in order',
    { timeout: 120_000 },
    async () => {
      using home = createTempDir()
      const app = await openApp(shell, { home: home.path })
      try {
        const interfaceIn = (page: typeof app.page): Promise<void> =>
          page.locator('#root > *').first().waitFor({ state: 'attached' })
        await interfaceIn(app.page)
        const second = await app.newWindow()
        await interfaceIn(second)
        expect(app.consoleErrors).toEqual([])
        expect((await app.call('system.info', {})).host).toBe(shell)
        await app.kill()
        await app.restart()
        await interfaceIn(app.page)
      } finally {
        expect(await app.stop()).toBe(0)
      }
    },
  )
})
