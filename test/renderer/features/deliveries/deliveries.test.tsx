import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import { DeliveriesView, Places } from '../../../../src/renderer/features/deliveries/index.ts'
import type { DeliveryView, TargetView } from '../../../../src/shared/bridge/index.ts'
import { seriousFindings } from '../../support/axe.ts'
import { numbered, SESSION_ID } from '../../support/decisions.ts'
import { createFakeBridge, renderWithBridge } from '../../support/fake-bridge.tsx'
import type { FakeHandlers } from '../../support/fake-bridge.tsx'
import { RUN_ID } from '../../support/sessions.ts'

const hook = (change: Partial<TargetView> = {}): TargetView => ({
  id: numbered(61),
  kind: 'webhook',
  name: 'Team chat',
  enabled: true,
  runs: 'all',
  folder: null,
  address: 'https://chat.example.com',
  hasToken: true,
  plaintext: false,
  idempotencyHeader: null,
  unusable: null,
  ...change,
})

function delivery(change: Partial<DeliveryView> = {}): DeliveryView {
  return {
    id: numbered(71),
    runId: RUN_ID,
    sessionId: SESSION_ID,
    sessionTitle: 'Fix the flaky test',
    transport: 'webhook',
    targetId: numbered(61),
    targetName: 'Team chat',
    status: 'failed',
    pending: 0,
    source: 'desktop',
    createdAt: 1,
    updatedAt: Date.now() - 60_000,
    operations: [
      {
        id: 'op-1',
        kind: 'send_text',
        sequence: 1,
        status: 'failed',
        artifactId: null,
        attempts: 4,
        nextAttemptAt: null,
        failureCode: 'webhook_http_404',
        updatedAt: 1,
      },
    ],
    ...change,
  }
}

function places(targets: TargetView[], handlers: FakeHandlers = {}) {
  const host = createFakeBridge({
    'deliveries.targets.list': () => ({ targets, notificationsUnavailable: 'This host shows no notifications.' }),
    'deliveries.targets.save': () => hook(),
    ...handlers,
  })
  return { host, user: renderWithBridge(<Places />, host) }
}

describe('the places that answers go to', () => {
  test('a webhook is added; its address and token are handed over and shown nowhere', async () => {
    const { host, user } = places([])
    await user.click(await screen.findByRole('button', { name: 'Add a place' }))
    const dialog = await screen.findByRole('dialog', { name: 'Where should answers go?' })
    await user.click(within(dialog).getByRole('button', { name: 'Save' }))
    expect(within(dialog).getByText('Give it a name.')).toBeDefined()
    expect(within(dialog).getByText('Give the address that takes the answers.')).toBeDefined()
    expect(host.calls('deliveries.targets.save')).toEqual([])
    await user.type(within(dialog).getByRole('textbox', { name: 'Name' }), 'Team chat')
    await user.type(within(dialog).getByRole('textbox', { name: 'Address' }), 'https://chat.example.com/hook')
    await user.type(within(dialog).getByLabelText('Token'), 'tok-123')
    expect(await seriousFindings()).toEqual([])
    await user.click(within(dialog).getByRole('button', { name: 'Save' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(host.calls('deliveries.targets.save')).toMatchObject([
      { target: { kind: 'webhook', name: 'Team chat', url: 'https://chat.example.com/hook', token: 'tok-123' } },
    ])
    expect(document.body.innerHTML).not.toContain('tok-123')
  })

  test('an edit that leaves address and token empty keeps them', async () => {
    const { host, user } = places([hook()])
    await user.click(await screen.findByRole('button', { name: 'More: Team chat' }))
    await user.click(await screen.findByRole('menuitem', { name: 'Edit' }))
    const dialog = await screen.findByRole('dialog', { name: 'Edit Team chat' })
    await user.type(within(dialog).getByRole('textbox', { name: 'Name' }), ' 2')
    await user.click(within(dialog).getByRole('button', { name: 'Save' }))
    await waitFor(() => expect(host.calls('deliveries.targets.save')).toHaveLength(1))
    const [saved] = host.calls('deliveries.targets.save')
    expect(saved?.id).toBe(numbered(61))
    expect(saved?.target).not.toHaveProperty('url')
    expect(saved?.target).not.toHaveProperty('token')
  })

  test('a test says in words why it did not arrive', async () => {
    const { user } = places([hook()], {
      'deliveries.targets.test': () => ({ delivered: false, failureCode: 'webhook_unreachable' }),
    })
    await user.click(await screen.findByRole('button', { name: 'Send a test: Team chat' }))
    expect((await screen.findByRole('status')).textContent).toBe(
      'The test did not arrive. The address cannot be reached.',
    )
  })

  test('one is removed only after it was said what that means', async () => {
    const { host, user } = places([hook()], { 'deliveries.targets.delete': () => ({ deleted: true }) })
    await user.click(await screen.findByRole('button', { name: 'More: Team chat' }))
    await user.click(await screen.findByRole('menuitem', { name: 'Remove' }))
    const dialog = await screen.findByRole('alertdialog', { name: 'Remove Team chat?' })
    expect(host.calls('deliveries.targets.delete')).toEqual([])
    await user.click(within(dialog).getByRole('button', { name: 'Remove' }))
    await waitFor(() => expect(host.calls('deliveries.targets.delete')).toEqual([{ id: numbered(61) }]))
  })
})

describe('the deliveries', () => {
  test('each says where it goes, what became of it and why, and is sent again', async () => {
    const host = createFakeBridge({
      'deliveries.list': () => ({ deliveries: [delivery()], next: null }),
      'deliveries.retry': () => ({ reopened: true }),
    })
    const user = renderWithBridge(<DeliveriesView />, host)
    const row = within(await screen.findByRole('list', { name: 'Deliveries' })).getByRole('listitem')
    expect(row.textContent).toMatch(
      /Not delivered.*Team chat.*Fix the flaky test.*4 tries.*The receiver answered 404\./,
    )
    await user.click(within(row).getByRole('button', { name: 'Send again: Fix the flaky test' }))
    await waitFor(() => expect(host.calls('deliveries.retry')).toEqual([{ operationId: 'op-1' }]))
    expect(await seriousFindings()).toEqual([])
  })

  test('one that may have arrived says that it may arrive twice', async () => {
    const [operation] = delivery().operations
    const host = createFakeBridge({
      'deliveries.list': () => ({
        deliveries: [
          delivery({
            status: 'uncertain',
            operations:
              operation === undefined ? [] : [{ ...operation, status: 'uncertain', failureCode: 'webhook_cut' }],
          }),
        ],
        next: null,
      }),
    })
    renderWithBridge(<DeliveriesView />, host)
    expect(await screen.findByText('It may arrive twice.')).toBeDefined()
    expect(screen.getByText('Perhaps delivered')).toBeDefined()
  })

  test('without any says what to do', async () => {
    const host = createFakeBridge({ 'deliveries.list': () => ({ deliveries: [], next: null }) })
    renderWithBridge(<DeliveriesView />, host)
    expect(await screen.findByText('Nothing was sent anywhere yet.')).toBeDefined()
  })
})
