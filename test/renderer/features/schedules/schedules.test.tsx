import { screen, waitFor, within } from '@testing-library/react'
import { beforeEach, describe, expect, test } from 'vitest'
import { cronWords } from '../../../../src/renderer/features/schedules/cron-words.ts'
import { SchedulesView } from '../../../../src/renderer/features/schedules/index.ts'
import type { ScheduleView } from '../../../../src/shared/bridge/index.ts'
import { seriousFindings } from '../../support/axe.ts'
import { aCatalog, aConnection, aModel, WORK_ID } from '../../support/catalog.ts'
import { numbered, SESSION_ID } from '../../support/decisions.ts'
import { createFakeBridge, renderWithBridge } from '../../support/fake-bridge.tsx'
import type { FakeHandlers } from '../../support/fake-bridge.tsx'
import { RUN_ID } from '../../support/sessions.ts'

beforeEach(() => window.history.replaceState(null, '', '/'))

const schedule = (change: Partial<ScheduleView> = {}): ScheduleView => ({
  id: numbered(81),
  name: 'Morning tests',
  cron: '0 8 * * 1-5',
  timeZone: 'Europe/Berlin',
  agentId: 'builtin',
  workDir: '/home/me/api',
  mode: 'agent',
  choice: null,
  choiceLabel: null,
  prompt: 'Run the tests.',
  deliverTo: [],
  catchUp: false,
  enabled: true,
  rev: 4,
  sessionId: SESSION_ID,
  nextAt: Date.now() + 3_600_000,
  last: null,
  createdAt: 1,
  updatedAt: 1,
  ...change,
})

function show(schedules: ScheduleView[], handlers: FakeHandlers = {}, executing = true) {
  const host = createFakeBridge(
    {
      'agents.list': () => ({ agents: [] }),
      'deliveries.targets.list': () => ({ targets: [], notificationsUnavailable: null }),
      'system.info': () => ({
        version: '0',
        host: 'browser',
        platform: 'linux',
        dataDir: '/d',
        homeDir: '/home/me',
        suggestedWorkDir: '/home/me/w',
        canPickFolder: false,
        firstRun: false,
      }),
      'projects.recent': () => ({ projects: [] }),
      'schedules.times': () => ({ times: [Date.now() + 60_000], timeZone: 'Europe/Berlin' }),
      ...handlers,
    },
    {
      schedules: { schedules, executing },
      providers: aCatalog({
        connections: [aConnection({ client: 'builtin' })],
        models: { [WORK_ID]: [aModel('gpt-x')] },
      }),
    },
  )
  return { host, user: renderWithBridge(<SchedulesView />, host) }
}

describe('the schedules', () => {
  test('each says when, where and what became of the last time, in words', async () => {
    show([
      schedule({
        last: {
          at: Date.now() - 120_000,
          dueAt: null,
          outcome: 'failed',
          runId: null,
          runState: null,
          code: 'work_dir_missing',
          message: 'The folder is gone.',
        },
      }),
    ])
    const row = within(await screen.findByRole('list', { name: 'Schedules' })).getByRole('listitem')
    expect(row.textContent).toMatch(/On.*Morning tests.*Every weekday at 08:00.*Europe\/Berlin/)
    expect(row.textContent).toMatch(/Could not start 2 min ago: The folder is gone\. work_dir_missing/)
    expect(await seriousFindings()).toEqual([])
  })

  test('the address of a new one opens its dialog, and closing that leaves the address', async () => {
    window.history.replaceState(null, '', '#/schedules/add')
    const { user } = show([])
    expect(await screen.findByRole('dialog', { name: 'New schedule' })).toBeDefined()
    await user.keyboard('{Escape}')
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(window.location.hash).toBe('#/schedules')
  })

  test('one is started now, and its session is opened', async () => {
    const { host, user } = show([schedule()], {
      'schedules.run': () => ({ sessionId: SESSION_ID, runId: RUN_ID, state: 'created' }),
    })
    await user.click(await screen.findByRole('button', { name: 'Run now: Morning tests' }))
    await waitFor(() => expect(window.location.hash).toBe(`#/session/${SESSION_ID}`))
    expect(host.calls('schedules.run')).toEqual([{ id: numbered(81) }])
  })

  test('one is switched off by the revision that was seen, and deleted only after a question', async () => {
    const { host, user } = show([schedule()], {
      'schedules.update': () => schedule({ enabled: false, rev: 5 }),
      'schedules.delete': () => ({ deleted: true }),
    })
    await user.click(await screen.findByRole('button', { name: 'More: Morning tests' }))
    await user.click(await screen.findByRole('menuitem', { name: 'Turn off' }))
    await waitFor(() =>
      expect(host.calls('schedules.update')).toEqual([
        { id: numbered(81), expectedRev: 4, change: { enabled: false } },
      ]),
    )
    await user.click(screen.getByRole('button', { name: 'More: Morning tests' }))
    await user.click(await screen.findByRole('menuitem', { name: 'Delete…' }))
    const dialog = await screen.findByRole('alertdialog', { name: 'Delete Morning tests?' })
    expect(host.calls('schedules.delete')).toEqual([])
    await user.click(within(dialog).getByRole('button', { name: 'Delete schedule' }))
    await waitFor(() => expect(host.calls('schedules.delete')).toEqual([{ id: numbered(81) }]))
  })

  test('given to another agent, it keeps nothing of what the one before ran on', async () => {
    const agent = { available: true, version: null, path: null, checks: [], unchecked: false }
    const { host, user } = show(
      [schedule({ choice: { connectionId: numbered(9), modelId: 'gpt-5.5', effort: 'high' } })],
      {
        'agents.list': () => ({
          agents: [
            { ...agent, id: 'builtin', label: 'Built-in agent' },
            { ...agent, id: 'codex', label: 'Codex' },
          ],
        }),
        'schedules.update': () => schedule({ agentId: 'codex', rev: 5 }),
      },
    )
    await user.click(await screen.findByRole('button', { name: 'More: Morning tests' }))
    await user.click(await screen.findByRole('menuitem', { name: 'Edit' }))
    const dialog = await screen.findByRole('dialog', { name: 'Edit Morning tests' })
    await user.click(within(dialog).getByRole('combobox', { name: 'Agent' }))
    await user.click(await screen.findByRole('option', { name: 'Codex' }))
    await user.click(within(dialog).getByRole('button', { name: 'Save' }))
    await waitFor(() =>
      expect(host.calls('schedules.update')).toMatchObject([
        { id: numbered(81), expectedRev: 4, change: { agentId: 'codex', choice: null } },
      ]),
    )
  })

  test('it runs on the Provider and the model that were chosen for it; what is gone from the catalog stays chosen', async () => {
    const chosen = { connectionId: numbered(9), modelId: 'gone-1', effort: 'high' as const }
    const { host, user } = show([schedule({ choice: chosen })], { 'schedules.update': () => schedule({ rev: 5 }) })
    await user.click(await screen.findByRole('button', { name: 'More: Morning tests' }))
    await user.click(await screen.findByRole('menuitem', { name: 'Edit' }))
    const dialog = await screen.findByRole('dialog', { name: 'Edit Morning tests' })
    const model = within(dialog).getByRole('combobox', { name: 'Model' })
    expect(model.textContent).toContain('gone-1')
    await user.click(model)
    await user.click(await screen.findByRole('option', { name: 'Work · gpt-x' }))
    await user.click(within(dialog).getByRole('button', { name: 'Save' }))
    await waitFor(() =>
      expect(host.calls('schedules.update')).toMatchObject([
        { change: { choice: { connectionId: WORK_ID, modelId: 'gpt-x', effort: 'default' } } },
      ]),
    )
  })

  test('a new one says what is missing under its fields, shows its next times, and is made', async () => {
    const { host, user } = show([], { 'schedules.create': () => schedule() })
    await user.click(await screen.findByRole('button', { name: 'New schedule' }))
    const dialog = await screen.findByRole('dialog', { name: 'New schedule' })
    await user.click(within(dialog).getByRole('button', { name: 'Save' }))
    expect(within(dialog).getByText('Give it a name.')).toBeDefined()
    expect(within(dialog).getByText('Say what the agent should do.')).toBeDefined()
    expect(host.calls('schedules.create')).toEqual([])
    await user.type(within(dialog).getByRole('textbox', { name: 'Name' }), 'Nightly')
    await user.type(within(dialog).getByRole('textbox', { name: 'Prompt' }), 'Look round.')
    await user.type(within(dialog).getByRole('textbox', { name: /folder/i }), '/home/me/api')
    expect((await within(dialog).findByRole('status')).textContent).toContain('Every weekday at 08:00')
    expect(await seriousFindings()).toEqual([])
    await user.click(within(dialog).getByRole('button', { name: 'Save' }))
    await waitFor(() =>
      expect(host.calls('schedules.create')).toMatchObject([
        { name: 'Nightly', prompt: 'Look round.', workDir: '/home/me/api', cron: '0 8 * * 1-5' },
      ]),
    )
  })
})

describe('a crontab line in words', () => {
  test.each([
    ['0 8 * * *', 'Every day at 08:00'],
    ['5 9 * * 1-5', 'Every weekday at 09:05'],
    ['0 8 * * 7', 'Every Sunday at 08:00'],
    ['30 6 1 * *', 'On day 1 of every month at 06:30'],
    ['15 * * * *', 'Every hour at :15'],
    ['@daily', 'Every day at 00:00'],
    ['*/5 8-18 * * 1-5', '*/5 8-18 * * 1-5'],
    ['0 8 * 1 *', '0 8 * 1 *'],
  ])('%s is %s', (line, words) => {
    expect(cronWords(line)).toBe(words)
  })
})
