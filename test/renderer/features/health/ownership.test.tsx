import { screen, within } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import { Ownership } from '../../../../src/renderer/features/health/Ownership.tsx'
import type { OwnershipView } from '../../../../src/shared/bridge/index.ts'
import { seriousFindings } from '../../support/axe.ts'
import { numbered, SESSION_ID } from '../../support/decisions.ts'
import { createFakeBridge, renderWithBridge } from '../../support/fake-bridge.tsx'
import { aSession, RUN_ID } from '../../support/sessions.ts'

const owner = (change: Partial<OwnershipView> = {}): OwnershipView => ({
  sessionId: SESSION_ID,
  sessionTitle: 'Fix the flaky test',
  state: 'local',
  run: { runId: RUN_ID, state: 'running', startedAt: Date.now() - 120_000, source: 'desktop' },
  ownerPid: 4_711,
  lease: { purpose: 'execution', expiresAt: Date.now() + 20_000 },
  recovery: null,
  error: null,
  ...change,
})

function show(owners: OwnershipView[]) {
  const lost = { runId: RUN_ID, state: 'failed', finishedAt: Date.now() - 60_000, errorCode: 'owner_lost' } as const
  const host = createFakeBridge(
    { 'sessions.ownership': () => ({ owners }) },
    {
      sessions: {
        kind: 'snapshot',
        sessions: [
          aSession(),
          aSession({ id: numbered(5), title: 'Cut off', lastRun: lost }),
          aSession({ id: numbered(6), title: 'Well', lastRun: { ...lost, state: 'completed', errorCode: null } }),
        ],
      },
    },
  )
  renderWithBridge(<Ownership />, host)
}

describe('who executes what', () => {
  test('each run says its process, its lease and how it is recovered', async () => {
    show([
      owner(),
      owner({
        sessionId: numbered(2),
        sessionTitle: 'Left behind',
        state: 'recovery_failed',
        ownerPid: null,
        lease: null,
        recovery: { attempt: 3, lastError: 'database_busy', nextAt: Date.now() + 5_000 },
      }),
    ])
    const [here, behind] = within(await screen.findByRole('list', { name: 'Runs' })).getAllByRole('listitem')
    expect(here?.textContent).toMatch(/Runs here.*Running.*host process 4711.*lease for a run until/)
    expect(behind?.textContent).toMatch(/Could not be settled yet.*Recovery, try 3\. Next try .* database_busy/)
    expect(await seriousFindings()).toEqual([])
  })

  test('what the recovery settled leads to its turn, and nothing else is listed there', async () => {
    show([])
    expect(await screen.findByText('No run is under way.')).toBeDefined()
    const links = within(screen.getByRole('list', { name: 'Settled by the recovery' })).getAllByRole('link')
    expect(links.map((link) => link.getAttribute('href'))).toEqual([`#/session/${numbered(5)}/${RUN_ID}`])
  })
})
