import { screen, waitFor } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { UpdateBanner } from '../../../src/renderer/app/UpdateBanner.tsx'
import { createFakeBridge, renderWithBridge } from '../support/fake-bridge.tsx'

const hello = { protocol: 1, app: '0', installation: 'fake', capabilities: [] }
afterEach(() => vi.restoreAllMocks())

test('a page that is older than the host offers to be loaded anew, and only then', async () => {
  let page = '<script src="/assets/index-1.js">'
  const asked = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response(page))
  const host = createFakeBridge()
  renderWithBridge(<UpdateBanner />, host)
  await waitFor(() => expect(asked).toHaveBeenCalledTimes(1))
  host.setStatus({ kind: 'lost', sinceMs: 1 })
  host.setStatus({ kind: 'open', hello: { ...hello, generation: 'same' } })
  await waitFor(() => expect(asked).toHaveBeenCalledTimes(2))
  expect(screen.queryByRole('status')).toBeNull()
  page = '<script src="/assets/index-2.js">'
  host.setStatus({ kind: 'open', hello: { ...hello, generation: 'newer' } })
  expect((await screen.findByRole('status')).textContent).toContain('Wheelhouse was updated')
  expect(screen.getByRole('button', { name: 'Reload' })).toBeDefined()
})
