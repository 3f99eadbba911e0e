import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createBrowserOpener } from '../../../src/main/web/index.ts'
import { createTempDir } from '../../support/dir.ts'
import { createMemoryLog } from '../../support/log.ts'

const URL = 'http://127.0.0.1:4000/#/approvals/1'

test('an address is opened by xdg-open, which is told nothing else of the host’s environment', async () => {
  using dir = createTempDir()
  writeFileSync(
    dir.at('xdg-open'),
    `#!/bin/sh\n{ echo "$*"; env; } > ${dir.at('part')}\nmv ${dir.at('part')} ${dir.at('said')}\n`,
    { mode: 0o700 },
  )
  const env = { PATH: `${dir.path}:/usr/bin:/bin`, DISPLAY: ':9', OPENAI_API_KEY: 'sk-not-for-a-browser' }
  createBrowserOpener({ env, log: createMemoryLog() })(URL)
  await expect.poll(() => existsSync(dir.at('said'))).toBe(true)
  const said = readFileSync(dir.at('said'), 'utf8')
  expect(said.split('\n')[0]).toBe(URL)
  expect(said).toContain('DISPLAY=:9')
  expect(said).not.toContain('sk-not-for-a-browser')
})

test('a machine without xdg-open is said in the log, one without a display is left alone', async () => {
  const log = createMemoryLog()
  createBrowserOpener({ env: { PATH: '/nonexistent' }, log })(URL)
  createBrowserOpener({ env: { PATH: '/nonexistent', DISPLAY: ':9' }, log })(URL)
  await expect.poll(() => log.entries.map(({ message }) => message)).toEqual(['no browser could be opened'])
})
