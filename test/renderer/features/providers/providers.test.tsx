import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import { ProvidersView } from '../../../../src/renderer/features/providers/index.ts'
import type { CatalogView } from '../../../../src/shared/bridge/index.ts'
import { AppError } from '../../../../src/shared/errors.ts'
import { seriousFindings } from '../../support/axe.ts'
import { aCatalog, aConnection, aModel, rehearsal, WORK_ID } from '../../support/catalog.ts'
import { createFakeBridge, renderWithBridge } from '../../support/fake-bridge.tsx'
import type { FakeHandlers } from '../../support/fake-bridge.tsx'

const KEY = 'sk-planted-0123456789'
const full = aCatalog({
  connections: [aConnection(), rehearsal],
  defaults: { codex: { connectionId: WORK_ID, modelId: 'gpt-a' } },
  models: { [WORK_ID]: [aModel('gpt-a'), aModel('gpt-b'), aModel('gpt-c', { enabled: false })] },
})

function show(catalog: CatalogView, handlers: FakeHandlers = {}) {
  const host = createFakeBridge(handlers, { providers: catalog })
  return { host, user: renderWithBridge(<ProvidersView />, host) }
}

const saved = (catalog: CatalogView) => ({ catalog, connectionId: WORK_ID, durable: true })

describe('the providers view', () => {
  test('an empty one says what it is for and offers the next step', () => {
    show(aCatalog())
    expect(screen.getByRole('heading', { name: 'No Provider yet' })).toBeDefined()
    expect(screen.getByRole('button', { name: 'Add Provider' })).toBeDefined()
  })

  test('lists each with its readiness, masked key, default and models, and marks the rehearsal', () => {
    show(full)
    const work = screen.getByRole('article', { name: 'Work' })
    for (const text of ['Ready', 'Codex', 'key ••••9fQ2', '2 of 3 models offered', 'Default for Codex: gpt-a']) {
      expect(within(work).getByText(text)).toBeDefined()
    }
    expect(within(screen.getByRole('article', { name: /Rehearsal/ })).getByText(/a scripted stand-in/)).toBeDefined()
  })

  test('one that did not answer when it was last asked says why, and is not called ready', () => {
    const refusal = { code: 'upstream_unreachable', message: 'The Provider cannot be reached.' }
    show(aCatalog({ connections: [aConnection({ refusal })] }))
    const work = screen.getByRole('article', { name: 'Work' })
    expect(within(work).getByText('When it was last asked: The Provider cannot be reached.')).toBeDefined()
    expect(within(work).getByText('Not working')).toBeDefined()
    expect(within(work).queryByText('Ready')).toBeNull()
  })

  test('DT-A13 a key is handed over once and stands nowhere in the page afterwards', async () => {
    const { host, user } = show(aCatalog(), { 'providers.upsert': () => saved(full) })
    await user.click(screen.getByRole('button', { name: 'Add Provider' }))
    const dialog = screen.getByRole('dialog', { name: 'Add a Provider' })
    await user.type(within(dialog).getByLabelText('Name'), 'Work')
    const field = within(dialog).getByLabelText('Key')
    await user.type(field, KEY)
    expect(document.body.innerHTML).not.toContain(KEY)
    await user.click(within(dialog).getByRole('button', { name: 'Save' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(host.calls('providers.upsert')).toEqual([
      { connection: { name: 'Work', client: 'codex', preset: 'openai' }, key: KEY, expectedRevision: 3 },
    ])
    expect(host.calls('providers.discover')).toMatchObject([{ id: WORK_ID }])
    expect(field).toHaveProperty('value', '')
    expect(document.body.innerHTML).not.toContain(KEY)
    expect(JSON.stringify([localStorage, sessionStorage])).not.toContain(KEY)
  })

  test('a new one is for an agent that is ready, and none is offered that this machine does not have', async () => {
    const agent = (id: 'codex' | 'builtin', available: boolean) => ({
      id,
      label: id,
      available,
      version: null,
      path: null,
      checks: [],
      unchecked: false,
    })
    const { host, user } = show(aCatalog(), {
      'agents.list': () => ({ agents: [agent('codex', false), agent('builtin', true)] }),
      'providers.upsert': () => saved(full),
    })
    await waitFor(() => expect(host.calls('agents.list')).toHaveLength(1))
    await user.click(screen.getByRole('button', { name: 'Add Provider' }))
    await user.click(screen.getByRole('combobox', { name: 'Kind' }))
    await user.click(await screen.findByRole('option', { name: 'Another address' }))
    await user.click(screen.getByRole('combobox', { name: 'Agent' }))
    expect((await screen.findAllByRole('option')).map(({ textContent }) => textContent?.replace('✓', ''))).toEqual([
      'Built-in agent',
      'Codex',
    ])
  })

  test('a kind that runs on this machine is marked as found or not, each time the dialog opens', async () => {
    let found: 'ollama'[] = ['ollama']
    const { user } = show(aCatalog(), { 'providers.local': () => ({ found }) })
    const kinds = async (): Promise<(string | undefined)[]> => {
      await user.click(screen.getByRole('button', { name: 'Add Provider' }))
      await user.click(screen.getByRole('combobox', { name: 'Kind' }))
      await screen.findByRole('option', { name: /^LM Studio.*not running on this machine/ })
      const texts = screen.getAllByRole('option').map(({ textContent }) => textContent ?? '')
      await user.keyboard('{Escape}{Escape}')
      await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
      return texts.filter((text) => /machine/.test(text))
    }
    expect(await kinds()).toEqual([
      'Ollama on this machinefound on this machine',
      'LM Studio on this machinenot running on this machine',
    ])
    found = []
    expect((await kinds())[0]).toBe('Ollama on this machinenot running on this machine')
  })

  test('what is still missing is said under its field, which has the focus, and nothing is sent', async () => {
    const { host, user } = show(aCatalog())
    await user.click(screen.getByRole('button', { name: 'Add Provider' }))
    const dialog = screen.getByRole('dialog', { name: 'Add a Provider' })
    await user.click(within(dialog).getByRole('button', { name: 'Save' }))
    const name = within(dialog).getByRole('textbox', { name: 'Name' })
    expect(await within(dialog).findByText('Fill this in first.')).toBeDefined()
    expect(document.activeElement).toBe(name)
    expect(name.getAttribute('aria-invalid')).toBe('true')
    expect(name.getAttribute('aria-describedby')).toBe(within(dialog).getByText('Fill this in first.').id)
    expect(host.calls('providers.upsert')).toEqual([])
    await user.type(name, 'W')
    expect(within(dialog).queryByText('Fill this in first.')).toBeNull()
  })

  test('an error stands under its field and the typed text is kept', async () => {
    const { user } = show(aCatalog(), {
      'providers.upsert': () => {
        throw new AppError('model_profile_conflict', 'Another Provider has this name already.', { retryable: false })
      },
    })
    await user.click(screen.getByRole('button', { name: 'Add Provider' }))
    const name = screen.getByLabelText('Name')
    await user.type(name, 'Work')
    await user.click(screen.getByRole('button', { name: 'Save' }))
    const message = await screen.findByText('Another Provider has this name already.')
    expect(name.getAttribute('aria-describedby')?.split(' ')).toContain(message.id)
    expect(name).toHaveProperty('value', 'Work')
  })

  test('a save on top of somebody else’s is refused once, keeps what was typed, and then goes through', async () => {
    let refuse = true
    const { host, user } = show(aCatalog(), {
      'providers.upsert': () => {
        if (!refuse) return saved(full)
        refuse = false
        throw new AppError('model_profile_conflict', 'Somebody changed the Providers.', { data: { revision: 4 } })
      },
    })
    await user.click(screen.getByRole('button', { name: 'Add Provider' }))
    await user.type(screen.getByLabelText('Name'), 'Work')
    await user.click(screen.getByRole('button', { name: 'Save' }))
    expect(await screen.findByText(/What you typed is kept/)).toBeDefined()
    expect(screen.getByLabelText('Name')).toHaveProperty('value', 'Work')
    await user.click(screen.getByRole('button', { name: 'Save' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(host.calls('providers.upsert').map((call) => call.expectedRevision)).toEqual([3, 4])
  })

  const add = async (user: ReturnType<typeof show>['user']): Promise<void> => {
    await user.click(screen.getByRole('button', { name: 'Add Provider' }))
    await user.type(screen.getByLabelText('Name'), 'Work')
  }

  test('the first of an agent becomes its default with a model that it offers, unless that is switched off', async () => {
    const { host, user } = show(aCatalog(), {
      'providers.upsert': () => saved(full),
      'providers.discover': () => ({ models: [aModel('gpt-x', { enabled: false }), aModel('gpt-y')], stale: false }),
      'providers.list': () => aCatalog({ revision: 7 }),
      'providers.setDefault': () => saved(full),
    })
    await add(user)
    await user.click(screen.getByRole('button', { name: 'Save' }))
    await waitFor(() =>
      expect(host.calls('providers.setDefault')).toEqual([
        { client: 'codex', connectionId: WORK_ID, modelId: 'gpt-y', expectedRevision: 7 },
      ]),
    )
    await add(user)
    await user.click(screen.getByRole('switch', { name: /Make it the default of Codex/ }))
    await user.click(screen.getByRole('button', { name: 'Save' }))
    await waitFor(() => expect(host.calls('providers.discover')).toHaveLength(2))
    expect(host.calls('providers.setDefault')).toHaveLength(1)
  })

  test('where a real Provider is the default already, a new one does not ask to be', async () => {
    const { user } = show(full)
    await add(user)
    expect(screen.queryByRole('switch', { name: /Make it the default/ })).toBeNull()
  })

  test('one that could not be made the default is said, with the reason', async () => {
    const { user } = show(aCatalog(), {
      'providers.upsert': () => saved(full),
      'providers.discover': () => ({ models: [], stale: false }),
    })
    await add(user)
    await user.click(screen.getByRole('button', { name: 'Save' }))
    expect(await screen.findByText(/was saved, but it is not the default yet/)).toBeDefined()
    expect(screen.getByText('upstream_model_required')).toBeDefined()
  })

  test('a key that is refused is said once, at its field, which has the focus, until it is typed at', async () => {
    const { user } = show(aCatalog(), {
      'providers.test': () => {
        throw new AppError('model_profile_credential_not_ready', 'The Provider did not accept the key.')
      },
    })
    await user.click(screen.getByRole('button', { name: 'Add Provider' }))
    await user.type(screen.getByLabelText('Key'), KEY)
    await user.click(screen.getByRole('button', { name: 'Test' }))
    expect(await screen.findAllByText('The Provider did not accept the key.')).toHaveLength(1)
    const field = screen.getByLabelText('Key')
    expect(field.getAttribute('aria-invalid')).toBe('true')
    expect(document.activeElement).toBe(field)
    await user.type(field, 'x')
    expect(screen.queryByText('The Provider did not accept the key.')).toBeNull()
  })

  test('without a keychain one is looked for once more, and what came of it is said', async () => {
    const { host, user } = show(aCatalog({ credentialBackend: 'file' }), {
      'providers.credentials.move': () => {
        throw new AppError('credential_store_unavailable', 'There is none.')
      },
    })
    await user.click(screen.getByRole('button', { name: 'Check again for a keychain' }))
    expect(await screen.findByText('There is none.')).toBeDefined()
    expect(host.calls('providers.credentials.move')).toEqual([{ to: 'keychain' }])
  })

  test('an unsaved form is tested with what it holds', async () => {
    const { host, user } = show(aCatalog(), { 'providers.test': () => ({ modelCount: 7, latencyMs: 340 }) })
    await user.click(screen.getByRole('button', { name: 'Add Provider' }))
    await user.type(screen.getByLabelText('Key'), KEY)
    await user.click(screen.getByRole('button', { name: 'Test' }))
    expect(await screen.findByText('It answers: 7 models, 340 ms')).toBeDefined()
    expect(host.calls('providers.test')[0]?.key).toBe(KEY)
    expect(document.body.innerHTML).not.toContain(KEY)
  })

  test('a saved one is tested by its id, and the test can be cancelled and leaves the focus where it was begun', async () => {
    const { host, user } = show(full, {
      'providers.testSaved': (_input, signal) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new AppError('aborted', '')))),
    })
    await user.click(screen.getByRole('button', { name: 'Test: Work' }))
    await user.click(await screen.findByRole('button', { name: 'Cancel' }))
    expect(screen.queryByRole('button', { name: 'Cancel' })).toBeNull()
    expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Test: Work' }))
    expect(host.calls('providers.testSaved')).toEqual([{ id: WORK_ID }])
  })

  test('models are offered by their switch and made the default by name', async () => {
    const { host, user } = show(full, {
      'providers.setModelSupport': () => saved(full),
      'providers.setDefault': () => saved(full),
    })
    await user.click(screen.getByRole('button', { name: 'Models: Work' }))
    await user.click(screen.getByRole('switch', { name: 'gpt-c' }))
    expect(host.calls('providers.setModelSupport')).toEqual([{ id: WORK_ID, enabledIds: ['gpt-a', 'gpt-b', 'gpt-c'] }])
    await user.click(screen.getByRole('button', { name: 'Make default: gpt-b' }))
    expect(host.calls('providers.setDefault')).toEqual([
      { client: 'codex', connectionId: WORK_ID, modelId: 'gpt-b', expectedRevision: 3 },
    ])
  })

  test('many models are offered or hidden together, as they are found', async () => {
    const many = Array.from({ length: 12 }, (_, index) => aModel(`${index % 3 === 0 ? 'big' : 'small'}-${index}`))
    const { host, user } = show(aCatalog({ connections: [aConnection()], models: { [WORK_ID]: many } }), {
      'providers.setModelSupport': () => saved(full),
    })
    await user.click(screen.getByRole('button', { name: 'Models: Work' }))
    expect(screen.getByRole('button', { name: 'Offer these 12' }).getAttribute('aria-disabled')).toBe('true')
    await user.type(screen.getByRole('searchbox', { name: 'Search models' }), 'small')
    await user.click(screen.getByRole('button', { name: 'Hide these 8' }))
    expect(host.calls('providers.setModelSupport')).toEqual([
      { id: WORK_ID, enabledIds: ['big-0', 'big-3', 'big-6', 'big-9'] },
    ])
  })

  test('DT-A13 deleting one that is in use names who uses it', async () => {
    const { user } = show(full, {
      'providers.delete': () => {
        throw new AppError('model_profile_in_use', 'In use.', {
          data: {
            clients: ['codex'],
            gateways: ['codex'],
            chains: [],
            sessions: [9, 8, 7, 6, 5, 4, 3].map((id) => `session-${id}`),
          },
        })
      },
    })
    await user.click(screen.getByRole('button', { name: 'More for Work' }))
    await user.click(await screen.findByRole('menuitem', { name: 'Delete' }))
    const dialog = await screen.findByRole('alertdialog', { name: 'Delete Work?' })
    await user.click(within(dialog).getByRole('button', { name: 'Delete' }))
    expect((await within(dialog).findByRole('alert')).textContent).toMatch(
      /Codex as its default, the gateway for Codex, .*session-9.*session-5”, 2 more sessions\./,
    )
  })

  test('a change that a power failure may undo says so, until one is made that it cannot', async () => {
    let durable = false
    const { user } = show(full, { 'providers.setModelSupport': () => ({ ...saved(full), durable }) })
    await user.click(screen.getByRole('button', { name: 'Models: Work' }))
    await user.click(screen.getByRole('switch', { name: 'gpt-c' }))
    expect(await screen.findByText(/a power failure may still undo it/)).toBeDefined()
    durable = true
    await user.click(screen.getByRole('switch', { name: 'gpt-c' }))
    await waitFor(() => expect(screen.queryByText(/a power failure may still undo it/)).toBeNull())
  })

  test('DT-A21 has no serious accessibility finding, with its dialog and without', async () => {
    const { user } = show(full)
    await user.click(screen.getByRole('button', { name: 'Models: Work' }))
    expect(await seriousFindings()).toEqual([])
    await user.click(screen.getByRole('button', { name: 'Add Provider' }))
    expect(await seriousFindings()).toEqual([])
  })
})
