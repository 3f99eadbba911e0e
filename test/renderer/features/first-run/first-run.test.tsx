import { screen, waitFor } from '@testing-library/react'
import { beforeEach, describe, expect, test } from 'vitest'
import { FirstRun } from '../../../../src/renderer/features/first-run/index.ts'
import type { AgentView, SessionView } from '../../../../src/shared/bridge/index.ts'
import { AppError } from '../../../../src/shared/errors.ts'
import { seriousFindings } from '../../support/axe.ts'
import { aCatalog, aModel, rehearsal, REHEARSAL_ID } from '../../support/catalog.ts'
import { SESSION_ID } from '../../support/decisions.ts'
import { createFakeBridge, renderWithBridge } from '../../support/fake-bridge.tsx'
import type { FakeHandlers } from '../../support/fake-bridge.tsx'

const FOLDER = '/home/me/Wheelhouse/261129/first-session'
const agent = (change: Partial<AgentView>): AgentView => ({
  id: 'builtin',
  label: 'Built-in agent',
  available: true,
  version: '0.1.0',
  path: null,
  checks: [],
  unchecked: false,
  ...change,
})
const session: SessionView = {
  id: SESSION_ID,
  title: 'New session',
  agentId: 'builtin',
  workDir: FOLDER,
  extraDirs: [],
  mode: 'agent',
  choice: { connectionId: REHEARSAL_ID, modelId: 'rehearsal', effort: 'default' },
  choiceLabel: 'Rehearsal',
  rehearsal: true,
  configRev: 1,
  state: 'idle',
  activeRun: null,
  lastRun: null,
  pendingDecisions: 0,
  headSeq: 0,
  createdAt: 1,
  updatedAt: 1,
  archivedAt: null,
}

function show(handlers: FakeHandlers = {}) {
  let catalog = aCatalog()
  const changed = (next: Partial<typeof catalog>) => {
    catalog = { ...catalog, ...next, revision: catalog.revision + 1 }
    return { catalog, connectionId: REHEARSAL_ID, durable: true }
  }
  const host = createFakeBridge(
    {
      'system.info': () => ({
        version: '0.1.0',
        host: 'browser',
        platform: 'linux',
        dataDir: '/data',
        homeDir: '/home/me',
        suggestedWorkDir: FOLDER,
        canPickFolder: false,
        firstRun: true,
      }),
      'projects.recent': () => ({ projects: [] }),
      'agents.list': () => ({
        agents: [
          agent({}),
          agent({
            id: 'claude',
            label: 'Claude Code',
            available: false,
            version: null,
            checks: [
              { id: 'program', label: 'program', status: 'fail', message: 'It was not found.', hint: 'Install it.' },
            ],
          }),
        ],
      }),
      'providers.list': () => catalog,
      'providers.upsert': () => {
        const answer = changed({ connections: [rehearsal], models: { [REHEARSAL_ID]: [aModel('rehearsal')] } })
        host.publish('providers', answer.catalog)
        return answer
      },
      'providers.discover': () => ({ models: [aModel('rehearsal')], stale: false }),
      'providers.setDefault': () => {
        const answer = changed({ defaults: { builtin: { connectionId: REHEARSAL_ID, modelId: 'rehearsal' } } })
        host.publish('providers', answer.catalog)
        return answer
      },
      'fs.createFolder': ({ path }) => ({ path }),
      'sessions.create': () => session,
      'drafts.set': ({ text }) => ({ rev: 1, text, inputIds: [], queued: false }),
      'settings.set': () => ({ values: {}, durable: true }),
      ...handlers,
    },
    { providers: aCatalog() },
  )
  return { host, user: renderWithBridge(<FirstRun />, host) }
}

beforeEach(() => {
  window.location.hash = ''
})

describe('the first run', () => {
  test('DT-A01 three steps with the rehearsal lead to a first session in the offered folder', async () => {
    const { host, user } = show()
    expect((await screen.findByRole('radio', { name: 'Built-in agent' })).getAttribute('checked')).not.toBeNull()
    await user.click(screen.getByRole('button', { name: 'Continue' }))
    expect(document.activeElement?.textContent).toBe('A model for it')
    expect(screen.getByText('A scripted stand-in: no key, no network')).toBeDefined()
    await user.click(screen.getByRole('button', { name: 'Use the rehearsal model' }))
    expect(await screen.findByRole('heading', { name: 'A project folder' })).toBeDefined()
    expect(screen.getByRole('textbox', { name: 'Project folder' })).toHaveProperty('value', FOLDER)
    expect(screen.getByText('Built-in agent, Rehearsal for Built-in agent')).toBeDefined()
    await user.click(screen.getByRole('button', { name: 'Start the first session' }))
    await waitFor(() => expect(window.location.hash).toBe(`#/session/${SESSION_ID}`))
    expect(host.calls('fs.createFolder')).toEqual([{ path: FOLDER }])
    expect(host.calls('sessions.create')).toEqual([
      {
        agentId: 'builtin',
        workDir: FOLDER,
        extraDirs: [],
        choice: { connectionId: REHEARSAL_ID, modelId: 'rehearsal', effort: 'default' },
        sandbox: false,
      },
    ])
    expect(host.calls('drafts.set')[0]?.text).toBe('Have a look around and propose a small improvement.')
    expect(host.calls('settings.set')).toEqual([{ key: 'welcomeDone', value: true }])
  })

  test('DT-A01 each step can be skipped, and the last one ends it', async () => {
    const { host, user } = show()
    for (let step = 0; step < 3; step++) await user.click(await screen.findByRole('button', { name: 'Skip' }))
    await waitFor(() => expect(host.calls('settings.set')).toEqual([{ key: 'welcomeDone', value: true }]))
    expect(host.calls('sessions.create')).toEqual([])
  })

  test('an agent that is not ready says what it lacks and what to do', async () => {
    show()
    expect(await screen.findByText('It was not found. Install it.')).toBeDefined()
  })

  test('an agent that nobody checked yet is checked at once', async () => {
    const { host } = show({
      'agents.list': () => ({ agents: [agent({ id: 'codex', label: 'Codex', available: false, unchecked: true })] }),
      'agents.preflight': () => agent({ id: 'codex', label: 'Codex' }),
    })
    await waitFor(() => expect(host.calls('agents.preflight')).toEqual([{ agentId: 'codex' }]))
  })

  test('a folder that is not there is offered to be made', async () => {
    let there = false
    const { host, user } = show({
      'fs.createFolder': ({ path }) => {
        there = true
        return { path }
      },
      'sessions.create': () => {
        if (there) return session
        throw new AppError('work_dir_missing', 'This folder does not exist.')
      },
    })
    await user.click(await screen.findByRole('button', { name: 'Skip' }))
    await user.click(screen.getByRole('button', { name: 'Skip' }))
    const field = screen.getByRole('textbox', { name: 'Project folder' })
    await user.clear(field)
    await user.type(field, '/home/me/new')
    await user.click(screen.getByRole('button', { name: 'Start the first session' }))
    expect(await screen.findByText('This folder does not exist.')).toBeDefined()
    await user.click(screen.getByRole('button', { name: 'Create this folder and start' }))
    await waitFor(() => expect(window.location.hash).toBe(`#/session/${SESSION_ID}`))
    expect(host.calls('fs.createFolder')).toEqual([{ path: '/home/me/new' }])
  })

  test('DT-A21 has no serious accessibility finding', async () => {
    const { user } = show()
    await screen.findByRole('radio', { name: 'Built-in agent' })
    expect(await seriousFindings()).toEqual([])
    await user.click(screen.getByRole('button', { name: 'Continue' }))
    expect(await seriousFindings()).toEqual([])
  })
})
