import { screen, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { UsageView } from '../../../../src/renderer/features/usage/index.ts'
import type { UsageRow } from '../../../../src/shared/bridge/index.ts'
import { seriousFindings } from '../../support/axe.ts'
import { aCatalog, aConnection, WORK_ID } from '../../support/catalog.ts'
import { createFakeBridge, renderWithBridge } from '../../support/fake-bridge.tsx'
import { aSession } from '../../support/sessions.ts'

const row = (key: string, more: Partial<UsageRow> = {}): UsageRow => ({
  key,
  requests: 2,
  failed: 0,
  input: 1_500,
  cacheRead: 80,
  cacheWrite: null,
  output: 20,
  reasoning: null,
  firstByteMs: 340,
  totalMs: 2_100,
  ...more,
})

function show(rowsOf: (by: string) => UsageRow[]) {
  const host = createFakeBridge(
    { 'usage.summary': ({ by }) => ({ rows: rowsOf(by) }) },
    {
      providers: aCatalog({ connections: [aConnection()] }),
      sessions: { kind: 'snapshot', sessions: [aSession({ id: 's1', title: 'Tidy the tests' })] },
    },
  )
  return { host, user: renderWithBridge(<UsageView />, host) }
}

const texts = (table: HTMLElement): string[][] =>
  within(table)
    .getAllByRole('row')
    .map((each) => [...each.children].map(({ textContent }) => textContent ?? ''))

test('DT-A35 the table says each group and their sum, and what nobody said stays unsaid', async () => {
  show(() => [
    row('2026-01-30'),
    row('2026-01-31', { failed: 1, input: 500, cacheRead: null, output: 1, firstByteMs: null }),
  ])
  expect(texts(await screen.findByRole('table', { name: 'Usage by day, 30 days' }))).toEqual([
    ['Day', 'Requests', 'Failed', 'Input', 'Into cache', 'From cache', 'Output', 'First byte', 'Whole answer'],
    ['2026-01-30', '2', '0', '1,500', 'not said', '80', '20', '340 ms', '2.1 s'],
    ['2026-01-31', '2', '1', '500', 'not said', 'not said', '1', '', '2.1 s'],
    ['Total', '4', '1', '2,000', 'not said', '80', '21', '', ''],
  ])
  const charts = screen.getAllByRole('img').map((chart) => chart.getAttribute('aria-label'))
  expect(charts).toEqual([
    'Requests by day, 30 days. The table below has the figures.',
    'Tokens by day, 30 days. The table below has the figures.',
    'Time, on average by day, 30 days. The table below has the figures.',
  ])
  expect(await seriousFindings()).toEqual([])
})

test('a model stands by the name that its Provider gave it, with nothing hidden in it', async () => {
  const { user } = show((by) => (by === 'model' ? [row('gpt\u202e-5'), row('<b>x</b>'), row('')] : [row('2026-01-30')]))
  await user.click(await screen.findByRole('combobox', { name: 'Group by' }))
  await user.click(await screen.findByRole('option', { name: 'Model' }))
  const table = await screen.findByRole('table', { name: 'Usage by model, 30 days' })
  expect(texts(table).map(([name]) => name)).toEqual(['Model', 'gpt[U+202E]-5', '<b>x</b>', 'not said', 'Total'])
})

test('sessions and Providers stand by their names, also those that are gone', async () => {
  const { host, user } = show((by) => (by === 'session' ? [row('s1'), row('s2'), row('')] : [row(WORK_ID)]))
  const group = async (name: string): Promise<void> => {
    await user.click(await screen.findByRole('combobox', { name: 'Group by' }))
    await user.click(await screen.findByRole('option', { name }))
  }
  await group('Session')
  const table = await screen.findByRole('table', { name: 'Usage by session, 30 days' })
  expect(texts(table).map(([name]) => name)).toEqual([
    'Session',
    'Tidy the tests',
    'A session that is no longer there',
    'Through the gateway',
    'Total',
  ])
  await group('Provider')
  expect(texts(await screen.findByRole('table', { name: 'Usage by provider, 30 days' }))[1]?.[0]).toBe('Work')
  expect(host.calls('usage.summary').map(({ by }) => by)).toEqual(['day', 'session', 'connection'])
})

test('without a request it says so', async () => {
  show(() => [])
  expect(await screen.findByText(/^Nothing was counted in this time\./)).toBeDefined()
})
