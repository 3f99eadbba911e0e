import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import { SettingsView } from '../../../../src/renderer/features/settings/index.ts'
import { AppError } from '../../../../src/shared/errors.ts'
import { defaultSettings } from '../../../../src/shared/settings.ts'
import { seriousFindings } from '../../support/axe.ts'
import { createFakeBridge, renderWithBridge } from '../../support/fake-bridge.tsx'
import type { FakeHandlers } from '../../support/fake-bridge.tsx'

function show(handlers: FakeHandlers = { 'settings.set': () => ({ values: {}, durable: true }) }) {
  const places: FakeHandlers = { 'deliveries.targets.list': () => ({ targets: [], notificationsUnavailable: null }) }
  const host = createFakeBridge({ ...places, ...handlers }, { settings: { values: { ...defaultSettings() } } })
  return { host, user: renderWithBridge(<SettingsView />, host) }
}

describe('the settings view', () => {
  test('a switch is saved at once', async () => {
    const { host, user } = show()
    await user.click(screen.getByRole('switch', { name: /^Keep in tray/ }))
    expect(host.calls('settings.set')).toEqual([{ key: 'keepInTray', value: false }])
  })

  test('the address of its MCP servers brings them into sight', async () => {
    window.history.replaceState(null, '', '#/settings/mcp')
    show()
    const part = await screen.findByRole('group', { name: 'MCP servers' })
    await waitFor(() => expect(document.activeElement).toBe(part))
    window.history.replaceState(null, '', '#/settings')
  })

  test('the unbound mode is offered only after its warning was answered', async () => {
    const { host, user } = show()
    await user.click(screen.getByRole('switch', { name: /^Unbound mode/ }))
    const dialog = await screen.findByRole('alertdialog')
    expect(dialog.textContent).toContain('without asking')
    expect(host.calls('settings.set')).toEqual([])
    await user.click(within(dialog).getByRole('button', { name: 'Offer it' }))
    expect(host.calls('settings.set')).toEqual([{ key: 'osModeEnabled', value: true }])
  })

  test('a number out of its range says so under its field and is not sent', async () => {
    const { host, user } = show()
    const field = screen.getByRole('textbox', { name: 'Request size limit: MiB' })
    await user.clear(field)
    await user.type(field, '500{Enter}')
    expect(screen.getByText('A whole number from 1 to 128.')).toBeDefined()
    expect(host.calls('settings.set')).toEqual([])
    await user.clear(field)
    await user.type(field, '64{Enter}')
    expect(host.calls('settings.set')).toEqual([{ key: 'requestBodyCapMiB', value: 64 }])
  })

  test('a proxy is chosen by name, or by an address that is one', async () => {
    const { host, user } = show()
    const choose = async (name: string): Promise<void> => {
      await user.click(screen.getByRole('combobox', { name: 'Proxy' }))
      await user.click(await screen.findByRole('option', { name }))
    }
    await choose('As the system')
    await choose('An address')
    const field = screen.getByRole('textbox', { name: 'Address of the proxy' })
    await user.type(field, 'proxy:3128{Enter}')
    expect(screen.getByText(/An http or https address without a login/)).toBeDefined()
    await user.clear(field)
    await user.type(field, 'http://proxy.example.com:3128{Enter}')
    expect(host.calls('settings.set')).toEqual([
      { key: 'upstreamProxy', value: 'system' },
      { key: 'upstreamProxy', value: 'http://proxy.example.com:3128' },
    ])
  })

  test('a setting that could not be saved says so beside it', async () => {
    const { user } = show({
      'settings.set': () => {
        throw new AppError('file_failed', 'The settings could not be saved.')
      },
    })
    await user.click(screen.getByRole('switch', { name: /^Notifications/ }))
    expect((await screen.findByRole('alert')).textContent).toContain('The settings could not be saved.')
  })

  test('DT-A21 has no serious accessibility finding', async () => {
    show()
    expect(await seriousFindings()).toEqual([])
  })
})
