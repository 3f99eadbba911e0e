import { screen, waitFor, within } from '@testing-library/react'
import { beforeEach, describe, expect, test } from 'vitest'
import { TrustedFolders, TrustFact, TrustQuestion } from '../../../../src/renderer/features/trust/index.ts'
import type { ProjectView, TrustedFolder } from '../../../../src/shared/bridge/index.ts'
import { AppError } from '../../../../src/shared/errors.ts'
import type { AgentId } from '../../../../src/shared/vocabulary.ts'
import { seriousFindings } from '../../support/axe.ts'
import { createFakeBridge, renderWithBridge } from '../../support/fake-bridge.tsx'
import type { FakeHandlers } from '../../support/fake-bridge.tsx'

beforeEach(() => window.history.replaceState(null, '', '/'))

const FOLDER = '/home/me/api'
const answered = (trusted: boolean): TrustedFolder => ({ folder: FOLDER, trusted, rev: 1, answeredAt: Date.now() })

const aProject = (change: Partial<ProjectView> = {}): ProjectView => ({
  folder: FOLDER,
  answer: null,
  findings: [
    {
      path: '.claude/settings.json',
      agent: 'claude',
      kind: 'settings',
      effects: [{ what: 'hooks', names: ['PreToolUse: ./check.sh'], more: 2 }],
      unread: null,
    },
    { path: '.mcp.json', agent: 'claude', kind: 'mcp', effects: [], unread: 'leads_outside' },
    { path: '.codex/config.toml', agent: 'codex', kind: 'settings', effects: [], unread: null },
  ],
  more: false,
  ...change,
})

function show(project: ProjectView, { agentId = 'claude', ...handlers }: FakeHandlers & { agentId?: AgentId } = {}) {
  let now = project
  const host = createFakeBridge(
    {
      'trust.inspect': () => now,
      'trust.answer': ({ trusted }) => answered(trusted),
      ...handlers,
    },
    { trust: { folders: [] } },
  )
  const user = renderWithBridge(
    <>
      <ul aria-label="facts">
        <TrustFact agentId={agentId} folder={`${FOLDER}/sub`} />
      </ul>
      <TrustQuestion agentId={agentId} folder={`${FOLDER}/sub`} />
    </>,
    host,
  )
  return {
    host,
    user,
    /** As another window would have it. */
    settle(answer: TrustedFolder) {
      now = { ...project, answer }
      host.publish('trust', { folders: [answer] })
    },
  }
}

const question = () => screen.findByRole('region', { name: 'Do you trust this project?' })

describe('a folder that brings something with it', () => {
  test('is asked about by naming each file and what it would do, and only what is for this agent', async () => {
    const { host, user, settle } = show(aProject())
    const asked = await question()
    expect(asked.textContent).toContain('works here without')
    const list = within(asked).getByRole('list', { name: 'What it brings' })
    expect(
      within(list)
        .getAllByRole('listitem')
        .map(({ textContent }) => textContent),
    ).toEqual([
      '.claude/settings.json settingsHooks that run: PreToolUse: ./check.sh and 2 more',
      '.mcp.json a link that leads out of the project',
    ])
    expect(screen.getByRole('list', { name: 'facts' }).textContent).toBe('Project settings left out')
    expect(await seriousFindings()).toEqual([])
    await user.click(within(asked).getByRole('button', { name: 'Trust' }))
    expect(host.calls('trust.answer')).toEqual([{ folder: FOLDER, trusted: true, expectedRev: 0 }])
    settle(answered(true))
    await waitFor(() => expect(screen.getByRole('list', { name: 'facts' }).textContent).toBe('Project trusted'))
    expect(screen.queryByRole('region')).toBe(null)
  })

  test('is answered once for every window: another one’s answer takes the question away, and its own is no error', async () => {
    const { user, settle } = show(aProject(), {
      'trust.answer': () => {
        throw new AppError('config_conflict', 'This was answered meanwhile.')
      },
    })
    await user.click(within(await question()).getByRole('button', { name: 'Leave it out' }))
    expect(screen.queryByRole('alert')).toBe(null)
    settle(answered(false))
    await waitFor(() => expect(screen.queryByRole('region')).toBe(null))
    expect(screen.getByRole('link', { name: 'Project settings left out' }).getAttribute('href')).toBe('#/permissions')
  })

  test('an agent of one’s own is asked for by the form of its program', async () => {
    const agent = { label: 'Adapter', available: true, version: null, path: null, checks: [], unchecked: true }
    show(aProject(), {
      agentId: 'acp:adapter',
      'agents.list': () => ({ agents: [{ ...agent, id: 'acp:adapter', project: 'codex' }] }),
    })
    const list = within(await question()).getByRole('list', { name: 'What it brings' })
    expect(list.textContent).toBe('.codex/config.toml settings')
  })

  test.each([
    ['for an agent that takes nothing of it', 'builtin', aProject()],
    ['with nothing for this agent', 'claude', aProject({ findings: [] })],
  ] as const)('is not asked about %s', async (_what, agentId, project) => {
    const { host } = show(project, { agentId })
    if (agentId === 'claude') await waitFor(() => expect(host.calls('trust.inspect')).not.toEqual([]))
    await Promise.resolve()
    expect(screen.queryByRole('region')).toBe(null)
    expect(screen.getByRole('list', { name: 'facts' }).textContent).toBe('')
  })
})

test('every answer is listed, and withdrawn after it was said what that means', async () => {
  const folders = [answered(true), { ...answered(false), folder: '/home/me/other' }]
  const host = createFakeBridge({ 'trust.withdraw': () => ({ withdrawn: true }) }, { trust: { folders } })
  const user = renderWithBridge(<TrustedFolders />, host)
  const rows = within(screen.getByRole('list', { name: 'Trusted folders' })).getAllByRole('listitem')
  expect(rows.map(({ textContent }) => textContent)).toEqual([
    expect.stringMatching(/^Trusted.*\/home\/me\/api/),
    expect.stringMatching(/^Left out.*\/home\/me\/other/),
  ])
  await user.click(screen.getByRole('button', { name: `Withdraw: ${FOLDER}` }))
  const dialog = await screen.findByRole('alertdialog')
  expect(dialog.textContent).toContain('you are asked again')
  await user.click(within(dialog).getByRole('button', { name: 'Withdraw' }))
  await waitFor(() => expect(host.calls('trust.withdraw')).toEqual([{ folder: FOLDER }]))
})
