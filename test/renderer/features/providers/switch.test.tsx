import { screen, waitFor, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { ProvidersView } from '../../../../src/renderer/features/providers/index.ts'
import type { SwitchStep } from '../../../../src/shared/bridge/index.ts'
import { seriousFindings } from '../../support/axe.ts'
import { aCatalog, aConnection, WORK_ID } from '../../support/catalog.ts'
import { numbered } from '../../support/decisions.ts'
import { createFakeBridge, renderWithBridge } from '../../support/fake-bridge.tsx'
import type { FakeHandlers } from '../../support/fake-bridge.tsx'
import { aSession } from '../../support/sessions.ts'

const [FIRST, SECOND] = [numbered(1), numbered(2)]
const catalog = aCatalog({ connections: [aConnection()] })
const on = (modelId: string) => ({ connectionId: 'c1', modelId, effort: 'default' as const })
const step = (sessionId: string, to: string, effect: SwitchStep['effect']): SwitchStep => ({
  sessionId,
  from: on('gpt-a'),
  to: { ...on(to), connectionId: WORK_ID },
  effect,
})

async function openDialog(handlers: FakeHandlers) {
  const host = createFakeBridge(handlers, {
    providers: catalog,
    sessions: {
      kind: 'snapshot',
      sessions: [aSession({ id: FIRST, title: 'Tidy the tests' }), aSession({ id: SECOND, title: 'Write the docs' })],
    },
  })
  const user = renderWithBridge(<ProvidersView />, host)
  await user.click(screen.getByRole('button', { name: 'More for Work' }))
  await user.click(await screen.findByRole('menuitem', { name: 'Switch running sessions…' }))
  return { host, user, dialog: await screen.findByRole('dialog', { name: 'Switch Codex to Work?' }) }
}

test('DT-A14 a switch says what happens to each running session before it happens', async () => {
  const steps = [
    step(FIRST, 'gpt-a', { kind: 'now', historyStripped: false }),
    {
      ...step(SECOND, 'gpt-b', { kind: 'next_turn', historyStripped: false }),
      from: { ...on('gpt-a'), effort: 'high' as const },
    },
  ]
  const { host, user, dialog } = await openDialog({
    'providers.previewSwitch': () => ({ modelId: 'gpt-b', steps }),
    'providers.switch': () => ({ catalog, steps, durable: true }),
  })
  const rows = await within(dialog).findAllByRole('listitem')
  expect(rows.map(({ textContent }) => textContent)).toEqual([
    'Tidy the testsgpt-awith its next request',
    'Write the docsgpt-a → gpt-beffort: High → Its own effortwith its next turn',
  ])
  expect(within(dialog).getByText(/with gpt-b for new sessions/)).toBeDefined()
  expect(host.calls('providers.switch')).toEqual([])
  expect(await seriousFindings()).toEqual([])
  await user.click(within(dialog).getByRole('button', { name: 'Switch 2 sessions' }))
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  expect(host.calls('providers.switch')).toEqual([
    { client: 'codex', connectionId: WORK_ID, expectedRevision: 3, allowHistoryStrip: false },
  ])
})

test('a session whose reasoning would be cut stays unless the person says so', async () => {
  const { host, user, dialog } = await openDialog({
    'providers.previewSwitch': ({ allowHistoryStrip }) => ({
      modelId: 'gpt-b',
      steps: [
        step(
          FIRST,
          'gpt-a',
          allowHistoryStrip
            ? { kind: 'now', historyStripped: true }
            : { kind: 'refused', code: 'route_binding_incompatible' },
        ),
      ],
    }),
    'providers.switch': () => ({ catalog, steps: [], durable: true }),
  })
  expect(await within(dialog).findByText(/stays: it holds hidden reasoning/)).toBeDefined()
  await user.click(within(dialog).getByRole('switch', { name: /Also move sessions/ }))
  expect(await within(dialog).findByText(/cut from the history, for good/)).toBeDefined()
  await user.click(within(dialog).getByRole('button', { name: 'Switch 1 session' }))
  await waitFor(() => expect(host.calls('providers.switch')).toMatchObject([{ allowHistoryStrip: true }]))
})

test('who stayed after all is named', async () => {
  const { user, dialog } = await openDialog({
    'providers.previewSwitch': () => ({
      modelId: 'gpt-b',
      steps: [step(FIRST, 'gpt-a', { kind: 'now', historyStripped: false })],
    }),
    'providers.switch': () => ({
      catalog,
      steps: [step(FIRST, 'gpt-a', { kind: 'refused', code: 'config_conflict' })],
      durable: true,
    }),
  })
  await user.click(await within(dialog).findByRole('button', { name: 'Switch 1 session' }))
  expect(await screen.findByText('stays: somebody changed it meanwhile')).toBeDefined()
  expect(screen.getByText('Tidy the tests')).toBeDefined()
})
