import { screen, waitFor } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import { ApprovalsView } from '../../../../src/renderer/features/approvals/index.ts'
import type { DecisionView } from '../../../../src/shared/bridge/index.ts'
import { seriousFindings } from '../../support/axe.ts'
import { aDecision, numbered } from '../../support/decisions.ts'
import { createFakeBridge, renderWithBridge } from '../../support/fake-bridge.tsx'

/** Read once: a tick between two rows would change their order. */
const now = Date.now()
const three = [3, 1, 2].map((index) =>
  aDecision({ decisionId: numbered(index), title: `Run step ${index}`, createdAt: now - 600_000 + index }),
)

function showView(decisions: DecisionView[]) {
  const host = createFakeBridge(
    { 'decisions.resolve': () => ({ kind: 'resolved' }) },
    { decisions: { kind: 'snapshot', decisions } },
  )
  return { host, user: renderWithBridge(<ApprovalsView />, host) }
}

const titles = () => screen.getAllByRole('article').map((card) => card.querySelector('h3')?.textContent)
const focusedTitle = () => document.activeElement?.querySelector('h3')?.textContent
const settle = (index: number): DecisionView =>
  aDecision({
    decisionId: numbered(index),
    title: `Run step ${index}`,
    status: 'resolved',
    answer: { option: 'allow_once' },
    by: { via: 'window', connection: 'other' },
    settledAt: Date.now(),
  })

describe('the approvals view', () => {
  test('an empty one says what it is for', () => {
    showView([])
    expect(screen.getByRole('heading', { name: 'Nothing waits for you' })).toBeDefined()
  })

  test('DT-A04 lists what waits in all sessions, oldest first', () => {
    showView(three)
    expect(titles()).toEqual(['Run step 1', 'Run step 2', 'Run step 3'])
    expect(screen.getByText('3 wait for you')).toBeDefined()
  })

  test('J and K move, D denies the focused one, and the focus goes to the next', async () => {
    const { host, user } = showView(three)
    await user.keyboard('jj')
    expect(focusedTitle()).toBe('Run step 2')
    await user.keyboard('k')
    expect(focusedTitle()).toBe('Run step 1')
    await user.keyboard('jd')
    expect(host.calls('decisions.resolve')).toEqual([{ decisionId: numbered(2), answer: { option: 'reject_once' } }])
    await waitFor(() => expect(focusedTitle()).toBe('Run step 3'))
    host.publish('decisions', { kind: 'settled', decision: settle(2) })
    expect(titles()).toEqual(['Run step 1', 'Run step 3'])
    expect(focusedTitle()).toBe('Run step 3')
    expect(screen.getByRole('heading', { name: 'Recently settled' })).toBeDefined()
  })

  test('DT-A03 a card that somebody else settles stays in its place and says who', () => {
    const { host } = showView(three)
    host.publish('decisions', { kind: 'settled', decision: settle(1) })
    expect(titles()).toContain('Run step 1')
    expect(screen.getByText(/^Answered by another window/)).toBeDefined()
    expect(screen.getByText('2 wait for you')).toBeDefined()
  })

  test('the focus stays in the view when the last one is answered', async () => {
    const { host, user } = showView([three[0] ?? aDecision()])
    await user.keyboard('jd')
    await waitFor(() => expect(document.activeElement?.textContent).toBe('Approvals'))
    host.publish('decisions', { kind: 'settled', decision: settle(3) })
    expect(document.activeElement?.textContent).toBe('Approvals')
  })

  test('DT-A21 has no serious accessibility finding', async () => {
    const { host } = showView(three)
    host.publish('decisions', { kind: 'settled', decision: settle(1) })
    expect(await seriousFindings()).toEqual([])
  })
})
