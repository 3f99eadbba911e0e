import { screen, waitFor, within } from '@testing-library/react'
import { beforeEach, describe, expect, test } from 'vitest'
import { PermissionsView } from '../../../../src/renderer/features/permissions/index.ts'
import type { RuleView } from '../../../../src/shared/bridge/index.ts'
import { seriousFindings } from '../../support/axe.ts'
import { aDecision, numbered, SESSION_ID } from '../../support/decisions.ts'
import { createFakeBridge, renderWithBridge } from '../../support/fake-bridge.tsx'
import type { FakeHandlers } from '../../support/fake-bridge.tsx'
import { aSession } from '../../support/sessions.ts'

beforeEach(() => window.history.replaceState(null, '', '/'))

const aRule = (change: Partial<RuleView> = {}): RuleView => ({
  id: numbered(1),
  scope: 'project',
  sessionId: null,
  sessionTitle: null,
  projectDir: '/home/me/api',
  matchKind: 'command_exact',
  pattern: 'npm test',
  folder: '/home/me/api/web',
  effect: 'allow',
  decisionId: null,
  createdAt: Date.now() - 60_000,
  ...change,
})

const answered = aDecision({
  status: 'resolved',
  answer: { option: 'allow_once' },
  by: { via: 'window', connection: null },
  settledAt: Date.now(),
})

function show({
  rules = [aRule()],
  ruleId = null,
  sessionId = null,
  ...handlers
}: FakeHandlers & { rules?: RuleView[]; ruleId?: string | null; sessionId?: string | null } = {}) {
  const host = createFakeBridge(
    { 'decisions.history': () => ({ decisions: [answered], next: null }), ...handlers },
    { rules: { rules }, sessions: { kind: 'snapshot', sessions: [aSession()] } },
  )
  return { host, user: renderWithBridge(<PermissionsView ruleId={ruleId} sessionId={sessionId} />, host) }
}

describe('the rules', () => {
  test('each is a sentence: what it answers, and where it holds', async () => {
    show({
      rules: [
        aRule(),
        aRule({
          id: numbered(2),
          scope: 'session',
          sessionId: SESSION_ID,
          sessionTitle: 'Fix the flaky test',
          projectDir: null,
          effect: 'reject',
          matchKind: 'tool',
          pattern: 'Edit',
          folder: null,
        }),
      ],
    })
    const [first, second] = within(await screen.findByRole('list', { name: 'Rules' })).getAllByRole('listitem')
    expect(first?.textContent).toMatch(
      /Allowed.*May run exactly npm test.*started in \/home\/me\/api\/web.*in this project \/home\/me\/api/,
    )
    expect(second?.textContent).toMatch(/Denied.*May not use the tool Edit.*in this session Fix the flaky test/)
  })

  test('one is withdrawn only after it was said what that means, and the focus stays in the view', async () => {
    const { host, user } = show({ 'rules.delete': () => ({ deleted: true }) })
    await user.click(await screen.findByRole('button', { name: 'Withdraw: npm test' }))
    const dialog = await screen.findByRole('alertdialog')
    expect(dialog.textContent).toContain('agents ask you again')
    expect(host.calls('rules.delete')).toEqual([])
    await user.click(within(dialog).getByRole('button', { name: 'Withdraw' }))
    await waitFor(() => expect(host.calls('rules.delete')).toEqual([{ ruleId: numbered(1) }]))
    host.publish('rules', { rules: [] })
    expect(await screen.findByText(/No rules yet/)).toBeDefined()
    await waitFor(() => expect(document.activeElement).toBe(screen.getByRole('heading', { name: 'Rules' })))
  })

  test('one that a call names is brought into sight; one that is gone says so', async () => {
    show({ ruleId: numbered(1) })
    await waitFor(() => expect(document.activeElement?.textContent).toContain('npm test'))
    expect(screen.queryByText(/was withdrawn since/)).toBeNull()
  })

  test('a call that a rule allowed once is not left without an answer', async () => {
    show({ ruleId: numbered(9) })
    expect(await screen.findByText(/was withdrawn since/)).toBeDefined()
  })
})

describe('the history', () => {
  test('shows how each question was answered, with the action one click away', async () => {
    const { user } = show()
    const history = await screen.findByRole('list', { name: 'History' })
    expect(history.textContent).toMatch(/Medium risk.*Allowed once/)
    expect(within(history).queryByText('npm test')).toBeNull()
    await user.click(within(history).getByRole('button', { name: 'Run npm test' }))
    expect(within(history).getByText('npm test')).toBeDefined()
  })

  test('what a rule answered leads to the rule', async () => {
    const byRule = { ...answered, by: { via: 'policy' as const, connection: null }, ruleId: numbered(1) }
    show({ 'decisions.history': () => ({ decisions: [byRule], next: null }) })
    const link = await screen.findByRole('link', { name: 'by a rule of yours' })
    expect(link.getAttribute('href')).toBe(`#/permissions/rule/${numbered(1)}`)
  })

  test('a row says its time once, and when it was asked only where that was at another', async () => {
    const settledAt = Date.now()
    const row = { ...answered, settledAt }
    const late = { ...row, decisionId: numbered(77), createdAt: settledAt - 3.5 * 3_600_000 }
    show({ 'decisions.history': () => ({ decisions: [{ ...row, createdAt: settledAt }, late], next: null }) })
    const asked = await screen.findAllByText(/^asked /)
    expect(asked.map(({ textContent }) => textContent)).toEqual(['asked 3 h ago'])
  })

  test('is asked for by outcome, of one session, a page at a time', async () => {
    const { host, user } = show({
      sessionId: SESSION_ID,
      'decisions.history': ({ before }) =>
        before === undefined
          ? { decisions: [answered], next: answered.decisionId }
          : { decisions: [{ ...answered, decisionId: numbered(77), title: 'An older one' }], next: null },
    })
    await user.click(await screen.findByRole('button', { name: 'Show more' }))
    expect(await screen.findByText('An older one')).toBeDefined()
    expect(host.calls('decisions.history').at(-1)).toMatchObject({
      sessionId: SESSION_ID,
      before: answered.decisionId,
    })
    await user.click(screen.getByRole('combobox', { name: 'Outcome' }))
    await user.click(await screen.findByRole('option', { name: 'Denied' }))
    await waitFor(() => expect(host.calls('decisions.history').at(-1)).toMatchObject({ outcome: 'refused' }))
  })

  test('DT-A21 has no serious accessibility finding', async () => {
    show()
    await screen.findByRole('list', { name: 'History' })
    expect(await seriousFindings()).toEqual([])
  })
})
