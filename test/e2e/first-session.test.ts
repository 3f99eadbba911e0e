import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTempDir } from '../support/dir.ts'
import type { TempDir } from '../support/dir.ts'
import { openApp, SHELLS } from './support/app.ts'
import type { OpenedApp } from './support/app.ts'
import {
  allow,
  card,
  denyWithReason,
  folderBytes,
  PATIENCE_MS,
  prompt,
  send,
  state,
  untilState,
  walkFirstRun,
} from './support/walk.ts'

describe.each(SHELLS)('the first session in the %s shell', (shell) => {
  let dir: TempDir
  let app: OpenedApp
  let folder: string
  let content: string

  beforeAll(async () => {
    dir = createTempDir()
    folder = dir.at('project')
    mkdirSync(folder)
    content = `${randomBytes(12).toString('hex')}\n${randomBytes(12).toString('hex')}\n`
    writeFileSync(`${folder}/notes.txt`, content)
    app = await openApp(shell, { home: dir.at('data') })
  })

  afterAll(async () => {
    await app.stop()
    dir[Symbol.dispose]()
  })

  test('DT-A01 an empty data folder, three steps, the rehearsal, two approvals: the file on disk is the one proposed', async () => {
    const { page } = app
    await page.getByRole('heading', { name: 'Welcome to Wheelhouse' }).waitFor({ timeout: PATIENCE_MS })
    expect(await page.getByRole('button', { name: 'Skip' }).count()).toBe(1)
    await walkFirstRun(page, folder)
    expect(await page.getByText('Rehearsal', { exact: true }).count()).toBeGreaterThan(0)
    await send(page, null)

    const edit = card(page, /notes\.txt/)
    await edit.waitFor({ timeout: PATIENCE_MS })
    // What is proposed comes from what the read tool returned: nobody else knows these bytes.
    const [firstLine = ''] = content.split('\n')
    expect(await edit.innerText()).toContain(firstLine)
    expect(readFileSync(`${folder}/notes.txt`, 'utf8')).toBe(content)
    const proposed = /\+\s*\n?\s*(Rehearsed on .+)/.exec(await edit.innerText())?.[1]?.trim() ?? 'no line was proposed'
    await allow(page, /notes\.txt/)
    await allow(page, /chmod/)
    await untilState(page, 'Completed')

    const after = readFileSync(`${folder}/notes.txt`, 'utf8')
    expect(after).toBe(content.replace(`${firstLine}\n`, `${firstLine}\n${proposed}\n`))
    expect(app.consoleErrors).toEqual([])
  })

  test('DT-A02 a denied edit with a reason leaves the folder as it was, and the agent says that it got the reason', async () => {
    const { page } = app
    const { id } = await app.call('sessions.create', { agentId: 'builtin', workDir: folder })
    await page.evaluate((hash) => {
      location.hash = hash
    }, `#/session/${id}`)
    await state(page, 'Completed').first().waitFor({ state: 'detached', timeout: PATIENCE_MS })
    await prompt(page).waitFor({ timeout: PATIENCE_MS })
    const before = folderBytes(folder)
    await send(page, 'Improve something')
    await denyWithReason(page, /notes\.txt/, 'the notes are frozen until Friday')
    await untilState(page, 'Completed')
    await page
      .getByRole('main')
      .getByText(/frozen until Friday/)
      .last()
      .waitFor({ timeout: PATIENCE_MS })
    expect(await page.getByRole('main').innerText()).toMatch(/Denied/)
    expect(folderBytes(folder)).toEqual(before)
    await prompt(page).waitFor()
    expect(app.consoleErrors).toEqual([])
  })
})
