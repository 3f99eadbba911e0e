import { screen, within } from '@testing-library/react'
import { useState } from 'react'
import { describe, expect, test } from 'vitest'
import { FolderPicker } from '../../../../src/renderer/features/folders/index.ts'
import { AppError } from '../../../../src/shared/errors.ts'
import { createFakeBridge, renderWithBridge } from '../../support/fake-bridge.tsx'
import type { FakeHandlers } from '../../support/fake-bridge.tsx'

function Picking({ from = '' }: { from?: string }) {
  const [path, setPath] = useState(from)
  return <FolderPicker value={path} onChange={setPath} />
}

function show(canPickFolder: boolean, handlers: FakeHandlers = {}, from = '') {
  const host = createFakeBridge({
    'system.info': () => ({
      version: '0',
      host: 'browser',
      platform: 'linux',
      dataDir: '/d',
      homeDir: '/home/me',
      suggestedWorkDir: '/home/me/x',
      canPickFolder,
      firstRun: false,
    }),
    'projects.recent': () => ({
      projects: [
        { path: '/home/me/api', name: 'api', lastUsedAt: 2, exists: true },
        { path: '/home/me/gone', name: 'gone', lastUsedAt: 1, exists: false },
      ],
    }),
    ...handlers,
  })
  return { host, user: renderWithBridge(<Picking from={from} />, host) }
}

const field = () => screen.getByRole('textbox', { name: 'Project folder' })

describe('the folder picker', () => {
  test('a recent folder is one press away; one that is gone is not offered', async () => {
    const { user } = show(false)
    await user.click(await screen.findByRole('button', { name: 'Use /home/me/api' }))
    expect(field()).toHaveProperty('value', '/home/me/api')
    expect(screen.queryByRole('button', { name: 'Use /home/me/gone' })).toBeNull()
  })

  test('asks the system where it can', async () => {
    const { user } = show(true, { 'system.pickFolder': () => ({ path: '/picked' }) })
    await screen.findByRole('button', { name: 'Use /home/me/api' })
    await user.click(screen.getByRole('button', { name: 'Choose a project folder' }))
    expect(await screen.findByDisplayValue('/picked')).toBe(field())
  })

  test('looks round the host’s folders, page by page, and makes a new one', async () => {
    const { host, user } = show(false, {
      'fs.folders': ({ path, after }) => ({
        path: path ?? '/home/me',
        parent: '/home',
        folders: after === undefined ? [{ path: '/home/me/a', name: 'a' }] : [{ path: '/home/me/b', name: 'b' }],
        next: after === undefined ? 'a' : null,
      }),
      'fs.createFolder': ({ path }) => ({ path }),
    })
    await screen.findByRole('button', { name: 'Use /home/me/api' })
    await user.click(screen.getByRole('button', { name: 'Choose a project folder' }))
    const dialog = await screen.findByRole('dialog', { name: 'Choose a folder' })
    await user.click(await within(dialog).findByRole('button', { name: 'Show more' }))
    await user.click(await within(dialog).findByRole('button', { name: 'Open b' }))
    await within(dialog).findByRole('group', { name: 'Folders in /home/me/b' })
    await user.click(within(dialog).getByRole('button', { name: 'New folder' }))
    await user.type(within(dialog).getByRole('textbox', { name: 'Name of the new folder' }), 'c{Enter}')
    await within(dialog).findByRole('group', { name: 'Folders in /home/me/b/c' })
    await user.click(within(dialog).getByRole('button', { name: 'Use this folder' }))
    expect(field()).toHaveProperty('value', '/home/me/b/c')
    expect(host.calls('fs.createFolder')).toEqual([{ path: '/home/me/b/c' }])
  })

  test('begins at the first folder that is there, above one that is not', async () => {
    const { host, user } = show(
      false,
      {
        'fs.folders': ({ path }) => {
          if (path !== '/home/me') throw new AppError('folder_unreadable', `The folder ${path} cannot be read.`)
          return { path, parent: '/home', folders: [{ path: '/home/me/a', name: 'a' }], next: null }
        },
      },
      '/home/me/new/first/',
    )
    await screen.findByRole('button', { name: 'Use /home/me/api' })
    await user.click(screen.getByRole('button', { name: 'Choose a project folder' }))
    await screen.findByRole('group', { name: 'Folders in /home/me' })
    expect(host.calls('fs.folders').map(({ path }) => path)).toEqual([
      '/home/me/new/first/',
      '/home/me/new',
      '/home/me',
    ])

    await user.click(screen.getByRole('button', { name: 'Open a' }))
    expect(await screen.findByText('The folder /home/me/a cannot be read.')).toBeDefined()
  })
})
