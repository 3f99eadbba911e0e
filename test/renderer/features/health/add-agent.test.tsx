import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import { HealthView } from '../../../../src/renderer/features/health/index.ts'
import { seriousFindings } from '../../support/axe.ts'
import { createFakeBridge, renderWithBridge } from '../../support/fake-bridge.tsx'

const GEMINI = {
  id: 'acp:gemini',
  label: 'Gemini',
  available: true,
  version: '1.0',
  path: '/usr/bin/gemini',
  checks: [{ id: 'handshake', label: 'handshake', status: 'pass', message: 'Gemini answers.', hint: null }],
  unchecked: false,
  commandLine: 'gemini --acp',
} as const

const FAILED = {
  ...GEMINI,
  available: false,
  path: null,
  checks: [
    { id: 'starts', label: 'starts', status: 'fail', message: 'Gemini was not found.', hint: 'Install it first.' },
  ],
} as const

function show() {
  let listed = false
  const host = createFakeBridge(
    {
      'system.health': () => ({ checks: [] }),
      'agents.list': () => ({ agents: listed ? [{ ...GEMINI, checks: [] }] : [] }),
      'system.logs.tail': () => ({ lines: [] }),
      'agents.suggested': () => ({ agents: listed ? [] : [{ label: 'Gemini', commandLine: 'gemini --acp' }] }),
      'agents.add'({ commandLine, evenSo }) {
        const fits = commandLine === 'gemini --acp'
        listed = fits || evenSo
        return {
          agent: fits ? { ...GEMINI, checks: [...GEMINI.checks] } : { ...FAILED, checks: [...FAILED.checks] },
          added: listed,
        }
      },
      'agents.remove'() {
        listed = false
        return { removed: true }
      },
    },
    { workers: { workers: [] } },
  )
  return { host, user: renderWithBridge(<HealthView />, host) }
}

describe('an agent by its command', () => {
  test('DT-A37 a wrong command shows the failing check and its hint; the right one is added', async () => {
    const { host, user } = show()
    await user.click(await screen.findByRole('button', { name: 'Add an agent…' }))
    const dialog = await screen.findByRole('dialog', { name: 'Add an agent' })
    const within_ = within(dialog)
    await user.type(within_.getByRole('textbox', { name: 'Name' }), 'Gemini')
    await user.type(within_.getByRole('textbox', { name: 'Command' }), 'gemmini --acp')
    await user.type(within_.getByRole('textbox', { name: 'Variables it is given' }), 'GEMINI_API_KEY, HTTPS_PROXY')
    await user.click(within_.getByRole('button', { name: 'Check and add' }))
    expect(await within_.findByText('Gemini was not found.')).toBeDefined()
    expect(within_.getByText('Install it first.')).toBeDefined()
    expect(within_.getByRole('button', { name: 'Add it anyway' })).toBeDefined()
    expect(await seriousFindings()).toEqual([])

    await user.clear(within_.getByRole('textbox', { name: 'Command' }))
    // What was found was of another command.
    expect(within_.queryByText('Gemini was not found.')).toBe(null)
    await user.type(within_.getByRole('textbox', { name: 'Command' }), 'gemini --acp{Enter}')
    expect(await within_.findByText('Gemini was added. On a command line it is acp:gemini.')).toBeDefined()
    expect(host.calls('agents.add').at(-1)).toEqual({
      label: 'Gemini',
      commandLine: 'gemini --acp',
      passEnv: ['GEMINI_API_KEY', 'HTTPS_PROXY'],
      evenSo: false,
    })
    await user.click(within_.getByRole('button', { name: 'Done' }))
    expect(await screen.findByText('gemini --acp')).toBeDefined()
  })

  test('one that is found on this machine is added with one press', async () => {
    const { host, user } = show()
    await user.click(await screen.findByRole('button', { name: 'Add an agent…' }))
    const dialog = within(await screen.findByRole('dialog', { name: 'Add an agent' }))
    await user.click(await dialog.findByRole('button', { name: 'Add Gemini' }))
    expect(await dialog.findByText('Gemini was added. On a command line it is acp:gemini.')).toBeDefined()
    expect(host.calls('agents.add')).toEqual([
      { label: 'Gemini', commandLine: 'gemini --acp', passEnv: [], evenSo: false },
    ])
    await user.click(dialog.getByRole('button', { name: 'Done' }))
    await user.click(await screen.findByRole('button', { name: 'Add an agent…' }))
    await waitFor(() => expect(host.calls('agents.suggested')).toHaveLength(2))
    expect(screen.queryByRole('button', { name: 'Add Gemini' })).toBe(null)
  })

  test('one that fails its check is added where the person insists, and can be removed', async () => {
    const { host, user } = show()
    await user.click(await screen.findByRole('button', { name: 'Add an agent…' }))
    await user.type(screen.getByRole('textbox', { name: 'Name' }), 'Gemini')
    await user.type(screen.getByRole('textbox', { name: 'Command' }), 'later')
    await user.click(screen.getByRole('button', { name: 'Check and add' }))
    await user.click(await screen.findByRole('button', { name: 'Add it anyway' }))
    await user.click(await screen.findByRole('button', { name: 'Done' }))
    await user.click(await screen.findByRole('button', { name: 'Remove: Gemini' }))
    await user.click(within(await screen.findByRole('alertdialog')).getByRole('button', { name: 'Remove' }))
    expect(host.calls('agents.remove')).toEqual([{ agentId: 'acp:gemini' }])
  })
})
