import { screen, waitFor } from '@testing-library/react'
import { beforeEach, describe, expect, test } from 'vitest'
import { NewSession } from '../../../../src/renderer/features/new-session/index.ts'
import { AppError } from '../../../../src/shared/errors.ts'
import { SESSION_ID } from '../../support/decisions.ts'
import { createFakeBridge, renderWithBridge } from '../../support/fake-bridge.tsx'
import type { FakeHandlers } from '../../support/fake-bridge.tsx'
import { aSession, RUN_ID } from '../../support/sessions.ts'

beforeEach(() => window.history.replaceState(null, '', '/'))

function show(handlers: FakeHandlers = {}) {
  const host = createFakeBridge(
    {
      'agents.list': () => ({
        agents: [
          {
            id: 'builtin',
            label: 'Built-in agent',
            available: true,
            version: '1',
            path: null,
            checks: [],
            unchecked: false,
          },
          {
            id: 'codex',
            label: 'Codex',
            available: false,
            version: null,
            path: null,
            unchecked: false,
            checks: [{ id: 'p', label: 'p', status: 'fail', message: 'Codex was not found.', hint: 'Install it.' }],
          },
        ],
      }),
      'projects.recent': () => ({ projects: [] }),
      'system.info': () => ({
        version: '1',
        host: 'browser',
        platform: 'linux',
        dataDir: '/d',
        homeDir: '/home/me',
        suggestedWorkDir: '/home/me/Wheelhouse/first',
        canPickFolder: false,
        firstRun: false,
      }),
      'fs.createFolder': ({ path }) => ({ path }),
      'sessions.create': () => aSession(),
      'runs.submit': () => ({ runId: RUN_ID, state: 'created', replayed: false }),
      ...handlers,
    },
    { settings: { values: { defaultMode: 'plan' } } },
  )
  return { host, user: renderWithBridge(<NewSession />, host) }
}

const folder = () => screen.findByRole('textbox', { name: 'Folder' })

describe('a new session', () => {
  test('keeps the agent to its folders where it can be, and says why where it cannot', async () => {
    const one = { version: '1', path: null, checks: [], available: true, unchecked: false }
    const { host, user } = show({
      'agents.list': () => ({
        agents: [
          { ...one, id: 'builtin', label: 'Built-in agent', whyNotConfined: null },
          { ...one, id: 'codex', label: 'Codex', whyNotConfined: 'bubblewrap is not installed.' },
        ],
      }),
    })
    await screen.findByText('What it runs can write wherever you can.')
    await user.click(screen.getByRole('combobox', { name: 'Confinement' }))
    await user.click(await screen.findByRole('option', { name: /Kept to its folders/ }))
    await user.click(screen.getByRole('radio', { name: 'Codex' }))
    await screen.findByText('bubblewrap is not installed.')
    await user.click(screen.getByRole('radio', { name: 'Built-in agent' }))
    await user.click(screen.getByRole('button', { name: 'Start' }))
    await waitFor(() => expect(host.calls('sessions.create')).toMatchObject([{ agentId: 'builtin', sandbox: true }]))
  })

  test('starts in the suggested folder, made for it, with its first prompt', async () => {
    const { host, user } = show()
    await waitFor(async () => expect((await folder()).getAttribute('value')).toBe('/home/me/Wheelhouse/first'))
    await user.type(screen.getByRole('textbox', { name: 'Prompt' }), 'Do it')
    await user.click(screen.getByRole('button', { name: 'Start' }))
    await waitFor(() => expect(window.location.hash).toBe(`#/session/${SESSION_ID}`))
    expect(host.calls('fs.createFolder')).toEqual([{ path: '/home/me/Wheelhouse/first' }])
    expect(host.calls('sessions.create')).toMatchObject([
      { agentId: 'builtin', workDir: '/home/me/Wheelhouse/first', mode: 'plan' },
    ])
    expect(host.calls('runs.submit')).toMatchObject([{ sessionId: SESSION_ID, text: 'Do it' }])
  })

  test('without a prompt nothing is run', async () => {
    const { host, user } = show()
    await user.clear(await folder())
    await user.type(await folder(), '/home/me/api')
    await user.click(screen.getByRole('button', { name: 'Start' }))
    await waitFor(() => expect(window.location.hash).toBe(`#/session/${SESSION_ID}`))
    expect(host.calls('fs.createFolder')).toEqual([])
    expect(host.calls('runs.submit')).toEqual([])
  })

  test('a prompt that could not be sent stands in the session as its draft', async () => {
    const { host, user } = show({
      'runs.submit': () => {
        throw new AppError('runtime_stopping', 'Wheelhouse is stopping.')
      },
      'drafts.set': ({ text }) => ({ rev: 1, text, inputIds: [], queued: false }),
    })
    await folder()
    await user.type(screen.getByRole('textbox', { name: 'Prompt' }), 'Do it{Enter}')
    await waitFor(() => expect(window.location.hash).toBe(`#/session/${SESSION_ID}`))
    expect(host.calls('drafts.set')).toMatchObject([{ expectedRev: 0, text: 'Do it' }])
  })

  test('a folder that is not there can be made', async () => {
    let there = false
    const { user } = show({
      'fs.createFolder': ({ path }) => {
        there = true
        return { path }
      },
      'sessions.create': () => {
        if (!there) throw new AppError('work_dir_missing', 'This folder does not exist.')
        return aSession()
      },
    })
    await user.clear(await folder())
    await user.type(await folder(), '/home/me/new')
    await user.click(screen.getByRole('button', { name: 'Start' }))
    expect((await screen.findByRole('alert')).textContent).toContain('work_dir_missing')
    await user.click(screen.getByRole('button', { name: 'Create this folder' }))
    await waitFor(() => expect(window.location.hash).toBe(`#/session/${SESSION_ID}`))
  })

  test('an agent that is not ready says why and what to do', async () => {
    show()
    const codex = await screen.findByRole('radio', { name: 'Codex' })
    const why = document.getElementById(codex.getAttribute('aria-describedby') ?? '')
    expect(why?.textContent).toBe('Codex was not found. Install it.')
  })
})
