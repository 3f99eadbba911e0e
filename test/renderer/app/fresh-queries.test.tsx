import { screen, waitFor } from '@testing-library/react'
import { expect, test } from 'vitest'
import { useFreshQueries } from '../../../src/renderer/app/useFreshQueries.ts'
import { useCall } from '../../../src/renderer/bridge/index.ts'
import { createFakeBridge, renderWithBridge } from '../support/fake-bridge.tsx'
import { aSession, running } from '../support/sessions.ts'

test('what another model would cost is asked anew when a run begins and when it has ended', async () => {
  const idle = aSession()
  const host = createFakeBridge(
    {
      'sessions.config.get': () => ({
        rev: 1,
        mode: { value: 'agent', options: [] },
        choice: idle.choice,
        choices: [],
        source: 'catalog',
      }),
    },
    { sessions: { kind: 'snapshot', sessions: [idle] } },
  )
  function Asking() {
    useFreshQueries()
    return <p>{useCall('sessions.config.get', { sessionId: idle.id }).data?.source}</p>
  }
  renderWithBridge(<Asking />, host)
  expect(await screen.findByText('catalog')).toBeDefined()
  const asked = () => host.calls('sessions.config.get').length
  const first = asked()
  host.publish('sessions', { kind: 'changed', session: running() })
  await waitFor(() => expect(asked()).toBe(first + 1))
  host.publish('sessions', { kind: 'changed', session: idle })
  await waitFor(() => expect(asked()).toBe(first + 2))
})
