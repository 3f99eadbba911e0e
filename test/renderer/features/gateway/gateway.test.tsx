import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import { GatewayView } from '../../../../src/renderer/features/gateway/index.ts'
import type { GatewayView as View, RequestView } from '../../../../src/shared/bridge/index.ts'
import { AppError } from '../../../../src/shared/errors.ts'
import { seriousFindings } from '../../support/axe.ts'
import { aCatalog, aConnection } from '../../support/catalog.ts'
import { createFakeBridge, renderWithBridge } from '../../support/fake-bridge.tsx'
import type { FakeHandlers } from '../../support/fake-bridge.tsx'

const CODEX: View['takeovers'][number] = {
  client: 'codex',
  state: 'inactive',
  detail: null,
  warnings: [],
  configPath: '/home/me/.codex/config.toml',
  kind: null,
  keepLogin: false,
  enabled: false,
  restoreAvailable: false,
}
const view = (codex: Partial<View['takeovers'][number]> = {}): View => ({
  listening: true,
  address: '127.0.0.1:38777',
  code: null,
  upstreams: { codex: null, claude: null },
  takeovers: [
    { ...CODEX, ...codex },
    { ...CODEX, client: 'claude', configPath: '/home/me/.claude/settings.json' },
  ],
})
const REQUEST: RequestView = {
  id: 1,
  at: Date.UTC(2026, 0, 2, 3, 4, 5),
  sessionId: null,
  client: 'codex',
  connectionId: 'gone',
  endpoint: 'responses',
  modelAsked: 'gpt-x',
  modelSent: 'gpt-x',
  flags: [],
  status: 200,
  code: null,
  end: 'completed',
  bytesIn: 10,
  bytesOut: 20,
  firstByteMs: 240,
  totalMs: 900,
  tokens: { input: 1_200, cacheRead: 0, cacheWrite: null, output: 34, reasoning: null },
  requestId: 'req_1',
}

function show(state: View, handlers: FakeHandlers = {}, requests: RequestView[] = []) {
  const host = createFakeBridge(handlers, { gateway: state, requests: { kind: 'snapshot', requests } })
  return { host, user: renderWithBridge(<GatewayView />, host) }
}

const toggle = () => screen.getByRole('switch', { name: /^Lead Codex to the gateway/ })

describe('the gateway view', () => {
  test('DT-A15 shows the exact change, writes what was shown, and the switch follows the host alone', async () => {
    const { host, user } = show(view(), {
      'gateway.plan': ({ client, kind = 'base_url' }) => ({
        client,
        kind,
        keepLogin: false,
        path: CODEX.configPath,
        creates: false,
        hunks: [{ line: 1, before: ['model_provider = "mine"'], after: [`model_provider = "${kind}"`] }],
        digest: `digest of ${kind}`,
        warnings: ['threads_hide'],
      }),
      'gateway.enable': () => ({ gateway: view(), durable: true }),
    })
    await user.click(toggle())
    const dialog = await screen.findByRole('dialog', { name: 'Lead Codex to the gateway?' })
    expect(await within(dialog).findByText('model_provider = "mine"')).toBeDefined()
    expect(within(dialog).getByText('model_provider = "base_url"')).toBeDefined()
    expect(within(dialog).getByText(/cannot be resumed afterwards/)).toBeDefined()
    expect(host.calls('gateway.enable')).toEqual([])
    await user.click(within(dialog).getByRole('button', { name: 'Write it' }))
    expect(host.calls('gateway.enable')).toEqual([
      { client: 'codex', kind: 'base_url', keepLogin: false, digest: 'digest of base_url' },
    ])
    // The answer to the click moves nothing; what the topic says does.
    expect(toggle().getAttribute('aria-checked')).toBe('false')
    host.publish('gateway', view({ enabled: true, state: 'active' }))
    expect(toggle().getAttribute('aria-checked')).toBe('true')
  })

  test('where every request would be refused, the dialog says so and leads to Providers', async () => {
    const { host, user } = show(view(), {
      'gateway.plan': () => {
        throw new AppError('takeover_config_malformed', 'It cannot be read.')
      },
    })
    host.publish('providers', aCatalog({ connections: [aConnection({ client: 'claude' })] }))
    await user.click(toggle())
    const note = within(await screen.findByRole('dialog')).getByRole('note')
    expect(note.textContent).toContain('There is no Provider for Codex yet')
    expect(within(note).getByRole('link', { name: 'Add Provider' }).getAttribute('href')).toBe('#/providers')
    host.publish('providers', aCatalog({ connections: [aConnection()] }))
    expect(note.textContent).toContain('No Provider is picked for Codex')
    // The agent's default becomes it: nothing is refused then.
    const defaults = { codex: { connectionId: aConnection().id, modelId: 'gpt-x' } }
    host.publish('providers', aCatalog({ connections: [aConnection()], defaults }))
    expect(screen.queryByRole('note')).toBeNull()
    expect(screen.getByText(/requests of Codex will go to Work, its default/)).toBeDefined()
    // A file with a mistake in it is corrected elsewhere.
    await user.click(screen.getByRole('button', { name: 'Look again' }))
    await waitFor(() => expect(host.calls('gateway.plan')).toHaveLength(2))
  })

  test('stay signed in is asked for where a Provider of its own is written, and the change is shown anew', async () => {
    const { host, user } = show(view(), {
      'gateway.plan': ({ client, keepLogin = false }) => ({
        client,
        kind: 'provider_table',
        keepLogin,
        path: CODEX.configPath,
        creates: false,
        hunks: [{ line: 1, before: [], after: [`requires_openai_auth = ${keepLogin}`] }],
        digest: `digest with ${keepLogin}`,
        warnings: [],
      }),
      'gateway.enable': () => ({ gateway: view(), durable: true }),
    })
    await user.click(toggle())
    const dialog = await screen.findByRole('dialog')
    await user.click(await within(dialog).findByRole('switch', { name: /^Stay signed in to Codex/ }))
    expect(await within(dialog).findByText('requires_openai_auth = true')).toBeDefined()
    await user.click(within(dialog).getByRole('button', { name: 'Write it' }))
    expect(host.calls('gateway.enable')).toEqual([
      { client: 'codex', kind: 'provider_table', keepLogin: true, digest: 'digest with true' },
    ])
  })

  test('a new key is made once the person has read what it does', async () => {
    const { host, user } = show(view({ enabled: true, state: 'active' }), {
      'gateway.rotateKey': () => ({ gateway: view(), durable: true }),
    })
    await user.click(screen.getByRole('button', { name: 'New key' }))
    const dialog = await screen.findByRole('alertdialog', { name: 'Give the gateway a new key?' })
    expect(dialog.textContent).toContain('have to be started again')
    await user.click(within(dialog).getByRole('button', { name: 'New key' }))
    expect(host.calls('gateway.rotateKey')).toEqual([{}])
  })

  test('with the list of requests switched off, nothing is listed', () => {
    const host = createFakeBridge(
      {},
      {
        gateway: view(),
        settings: { values: { requestInspector: false } },
        requests: { kind: 'snapshot', requests: [REQUEST] },
      },
    )
    renderWithBridge(<GatewayView />, host)
    expect(screen.getByText(/switched off under Settings/)).toBeDefined()
    expect(screen.queryByRole('row')).toBeNull()
  })

  test('DT-A16 a refusal stands where it was asked for, and the switch stays off', async () => {
    const { user } = show(view(), {
      'gateway.plan': () => ({
        client: 'codex',
        kind: 'base_url',
        keepLogin: false,
        path: CODEX.configPath,
        creates: true,
        hunks: [],
        digest: 'd',
        warnings: [],
      }),
      'gateway.enable': () => {
        throw new AppError('route_listener_failed', 'Port 38777 of this machine is taken.')
      },
    })
    await user.click(toggle())
    const dialog = await screen.findByRole('dialog')
    await user.click(await within(dialog).findByRole('button', { name: 'Write it' }))
    expect(await within(dialog).findByText(/Port 38777 of this machine is taken/)).toBeDefined()
    expect(screen.getByRole('switch', { name: /Lead Codex/, hidden: true }).getAttribute('aria-checked')).toBe('false')
  })

  test('DT-A15 a drifted file says why; repair says what it will do first', async () => {
    const state = view({
      state: 'drifted',
      detail: 'provider_line_user_changed',
      enabled: true,
      restoreAvailable: true,
    })
    const { host, user } = show(state, { 'gateway.repair': () => ({ gateway: view(), durable: true }) })
    expect(screen.getByText('Drifted')).toBeDefined()
    expect(screen.getByText(/Somebody chose another Provider in the file/)).toBeDefined()
    expect(screen.getByRole('button', { name: 'Restore: Codex' })).toBeDefined()
    await user.click(screen.getByRole('button', { name: 'Repair: Codex' }))
    const dialog = await screen.findByRole('alertdialog')
    expect(dialog.textContent).toContain('is written again over the file as it is today')
    await user.click(within(dialog).getByRole('button', { name: 'Repair' }))
    expect(host.calls('gateway.repair')).toEqual([{ client: 'codex' }])
  })

  test('DT-A15 what is left of one that is off is removed by a repair, and nothing is written', async () => {
    const { user } = show(view({ state: 'drifted', detail: 'block_user_changed' }))
    await user.click(screen.getByRole('button', { name: 'Repair: Codex' }))
    expect((await screen.findByRole('alertdialog')).textContent).toContain('is removed from the file')
  })

  test('DT-A15 one that reaches nobody, since the gateway does not listen, can be repaired once the port is free', async () => {
    const state = view({ state: 'broken', detail: 'gateway_not_listening', enabled: true })
    const { host, user } = show(
      { ...state, listening: false, code: 'route_listener_failed' },
      { 'gateway.repair': () => ({ gateway: view(), durable: false }) },
    )
    expect(screen.getByText(/cannot listen on its port/)).toBeDefined()
    await user.click(screen.getByRole('button', { name: 'Repair: Codex' }))
    await user.click(within(await screen.findByRole('alertdialog')).getByRole('button', { name: 'Repair' }))
    expect(host.calls('gateway.repair')).toEqual([{ client: 'codex' }])
    expect(await screen.findByText(/a power failure may still undo it/)).toBeDefined()
  })

  test('DT-A17 a request is listed with time, client, model, status, first byte and tokens, and new ones come on top', async () => {
    const { host } = show(view(), {}, [REQUEST])
    const row = screen.getByRole('row', { name: /gpt-x/ })
    for (const text of ['Codex gateway', '200', '240 ms', '1.2 k / 34']) expect(row.textContent).toContain(text)
    host.publish('requests', { kind: 'request', request: { ...REQUEST, id: 2, modelSent: 'gpt-y' } })
    expect(screen.getAllByRole('row').map((each) => /gpt-./.exec(each.textContent)?.[0])).toEqual([
      undefined,
      'gpt-y',
      'gpt-x',
    ])
  })

  test('DT-A17 a request that began well and did not end so says how it ended, and charts are one click away', () => {
    show(view(), {}, [
      { ...REQUEST, modelSent: 'gpt-y', end: 'client_aborted' },
      { ...REQUEST, id: 2, modelSent: 'gpt-z', end: 'upstream_disconnected', code: 'upstream_disconnected' },
    ])
    expect(screen.getByRole('row', { name: /gpt-y/ }).textContent).toContain('200 agent hung up')
    expect(screen.getByRole('row', { name: /gpt-z/ }).textContent).toContain('200 upstream_disconnected')
    expect(screen.getByRole('link', { name: 'Open Usage' }).getAttribute('href')).toBe('#/usage')
  })

  test('DT-A17 a request that asks for no answer in words says what it is', () => {
    show(view(), {}, [
      { ...REQUEST, endpoint: 'count_tokens' },
      { ...REQUEST, id: 2, endpoint: 'other', modelAsked: '', modelSent: '' },
    ])
    expect(screen.getByRole('row', { name: /gpt-x counts tokens/ })).toBeDefined()
    expect(screen.getByRole('row', { name: /asks no model/ })).toBeDefined()
  })

  test('DT-A21 has no serious accessibility finding', async () => {
    show(view({ state: 'broken', detail: 'gateway_not_listening', warnings: ['other_auth_present'] }), {}, [REQUEST])
    expect(await seriousFindings()).toEqual([])
  })
})
