import { screen, within } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import { McpServers } from '../../../../src/renderer/features/mcp/index.ts'
import type { McpServerInput, McpServerView } from '../../../../src/shared/bridge/index.ts'
import { seriousFindings } from '../../support/axe.ts'
import { createFakeBridge, renderWithBridge } from '../../support/fake-bridge.tsx'

const ID = '019a0000-0000-7000-8000-000000000001'

function viewOf({ env, ...server }: McpServerInput, rev: number): McpServerView {
  return { ...server, id: ID, rev, env: env.map(({ name, value, secret }) => ({ name, value: secret ? null : value })) }
}

function show() {
  let servers: McpServerView[] = []
  const host = createFakeBridge(
    {
      'mcp.list': () => ({ servers }),
      'mcp.upsert'({ server, expectedRev }) {
        const saved = viewOf(server, expectedRev + 1)
        servers = [saved]
        return saved
      },
      'mcp.delete'() {
        servers = []
        return { deleted: true }
      },
      'mcp.test': ({ server }) =>
        server.command === 'npx'
          ? { ok: true, server: { name: 'files', version: '1' }, tools: ['read', 'write'], message: '', hint: null }
          : { ok: false, server: null, tools: [], message: 'There is no such program.', hint: 'Install it.' },
    },
    {},
  )
  return { host, user: renderWithBridge(<McpServers />, host) }
}

describe('the MCP servers', () => {
  test('one is tested and added with a secret, which is then kept and shown nowhere', async () => {
    const { host, user } = show()
    await user.click(screen.getByRole('button', { name: 'Manage… MCP servers' }))
    expect(await screen.findByText('No MCP server is set up yet.')).toBeDefined()
    await user.click(screen.getByRole('button', { name: 'Add a server' }))
    const dialog = within(await screen.findByRole('dialog', { name: 'Add an MCP server' }))
    await user.type(dialog.getByRole('textbox', { name: 'Name' }), 'files')
    await user.type(dialog.getByRole('textbox', { name: 'Command' }), 'npm "a b"')
    await user.click(dialog.getByRole('button', { name: 'Test' }))
    expect(await dialog.findByText('There is no such program. Install it.')).toBeDefined()

    await user.clear(dialog.getByRole('textbox', { name: 'Command' }))
    await user.type(dialog.getByRole('textbox', { name: 'Command' }), 'npx "a b"')
    await user.click(dialog.getByRole('button', { name: 'Add a variable' }))
    await user.type(dialog.getByRole('textbox', { name: 'Variable 1' }), 'API_KEY')
    await user.click(dialog.getByRole('switch', { name: 'Variable 1 is a secret' }))
    await user.type(dialog.getByLabelText('Value of variable 1'), 'sk-of-the-test')
    await user.click(dialog.getByRole('button', { name: 'Test' }))
    expect(await dialog.findByText('It works. Its tools: read, write.')).toBeDefined()
    expect(await seriousFindings()).toEqual([])
    await user.click(dialog.getByRole('button', { name: 'Save' }))
    expect(await screen.findByText("npx 'a b'")).toBeDefined()
    expect(host.calls('mcp.upsert')).toEqual([
      {
        expectedRev: 0,
        server: {
          scope: { kind: 'person' },
          name: 'files',
          command: 'npx',
          args: ['a b'],
          env: [{ name: 'API_KEY', value: 'sk-of-the-test', secret: true }],
          required: false,
          enabled: true,
        },
      },
    ])

    await user.click(screen.getByRole('button', { name: 'Edit: files' }))
    const edit = within(await screen.findByRole('dialog', { name: 'Edit files' }))
    expect(document.body.innerHTML).not.toContain('sk-of-the-test')
    await user.type(edit.getByRole('textbox', { name: 'Folder of its project' }), '/work/app')
    await user.click(edit.getByRole('switch', { name: /^Needed/ }))
    await user.click(edit.getByRole('button', { name: 'Save' }))
    await screen.findByRole('button', { name: 'Remove: files' })
    expect(host.calls('mcp.upsert').at(-1)).toMatchObject({
      expectedRev: 1,
      server: {
        id: ID,
        scope: { kind: 'project', path: '/work/app' },
        required: true,
        env: [{ name: 'API_KEY', value: null, secret: true }],
      },
    })
    await user.click(screen.getByRole('button', { name: 'Remove: files' }))
    expect(await screen.findByText('No MCP server is set up yet.')).toBeDefined()
    expect(host.calls('mcp.delete')).toEqual([{ id: ID, expectedRev: 2 }])
  })

  test('a command with an open quote says so under its field', async () => {
    const { host, user } = show()
    await user.click(screen.getByRole('button', { name: 'Manage… MCP servers' }))
    await user.click(await screen.findByRole('button', { name: 'Add a server' }))
    await user.type(await screen.findByRole('textbox', { name: 'Name' }), 'files')
    await user.type(screen.getByRole('textbox', { name: 'Command' }), 'npx "open')
    await user.click(screen.getByRole('button', { name: 'Save' }))
    expect(await screen.findByText('A quote is open, or there is no program.')).toBeDefined()
    expect(host.calls('mcp.upsert')).toEqual([])
  })
})
