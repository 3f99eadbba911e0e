import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import { ProvidersView } from '../../../../src/renderer/features/providers/index.ts'
import type { CatalogView } from '../../../../src/shared/bridge/index.ts'
import { AppError } from '../../../../src/shared/errors.ts'
import { seriousFindings } from '../../support/axe.ts'
import { aCatalog, aConnection, aModel, rehearsal, WORK_ID } from '../../support/catalog.ts'
import { numbered } from '../../support/decisions.ts'
import { createFakeBridge, renderWithBridge } from '../../support/fake-bridge.tsx'
import type { FakeHandlers } from '../../support/fake-bridge.tsx'

const HOME_ID = numbered(902)
const THIRD_ID = numbered(903)
const CHAIN = [{ connectionId: HOME_ID, modelId: 'gpt-h' }]

const catalog = (change: Partial<CatalogView> = {}): CatalogView =>
  aCatalog({
    connections: [
      aConnection(),
      aConnection({ id: HOME_ID, name: 'Home' }),
      aConnection({ id: THIRD_ID, name: 'Third', manualModelId: 'own-model' }),
      rehearsal,
    ],
    defaults: { codex: { connectionId: WORK_ID, modelId: 'gpt-a' } },
    models: { [WORK_ID]: [aModel('gpt-a')], [HOME_ID]: [aModel('gpt-h'), aModel('gpt-i')] },
    ...change,
  })
const withRule = catalog({
  defaults: {
    codex: {
      connectionId: WORK_ID,
      modelId: 'gpt-a',
      failover: { chain: CHAIN, on429: false, allowHistoryStrip: true },
    },
  },
})

function show(view: CatalogView, handlers: FakeHandlers = {}) {
  const host = createFakeBridge(handlers, { providers: view })
  return { host, user: renderWithBridge(<ProvidersView />, host) }
}

const saved = (view: CatalogView) => ({ catalog: view, connectionId: HOME_ID, durable: true })
const rows = () => screen.getByRole('list', { name: 'Fallbacks' })

describe('fallbacks', () => {
  test('an agent without a default has none; with one it says who answers in turn', () => {
    show(withRule)
    const [row] = within(rows()).getAllByRole('listitem')
    expect(row?.textContent).toContain('Work, gpt-a')
    expect(row?.textContent).toContain('then Home, gpt-h')
    expect(within(rows()).getAllByRole('listitem')).toHaveLength(1)
  })

  test('a chain is made of Providers of that agent, each with a model, and saved under the revision that was seen', async () => {
    const { host, user } = show(catalog(), { 'providers.setFailover': () => saved(withRule) })
    expect(rows().textContent).toContain('none')
    await user.click(screen.getByRole('button', { name: 'Edit fallbacks: Codex' }))
    const dialog = screen.getByRole('dialog', { name: 'Fallbacks of Codex' })
    const save = within(dialog).getByRole('button', { name: 'Save' })
    expect(save.getAttribute('aria-disabled')).toBe('true')
    await user.click(within(dialog).getByRole('button', { name: 'Add a fallback' }))
    await user.click(within(dialog).getByRole('button', { name: 'Add a fallback' }))
    await user.click(within(dialog).getByRole('combobox', { name: 'Provider of fallback 2' }))
    expect((await screen.findAllByRole('option')).map(({ textContent }) => textContent?.replace('✓', ''))).toEqual([
      'Work',
      'Home',
      'Third',
    ])
    await user.click(screen.getByRole('option', { name: 'Third' }))
    // No list of its models is known: the one that it names itself stands in a field.
    expect(within(dialog).getByRole('textbox', { name: 'Model of fallback 2' })).toHaveProperty('value', 'own-model')
    await user.click(within(dialog).getByRole('button', { name: 'Move fallback 2 up' }))
    await user.click(within(dialog).getByRole('switch', { name: /too many requests/ }))
    expect(await seriousFindings()).toEqual([])
    await user.click(save)
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(host.calls('providers.setFailover')).toEqual([
      {
        client: 'codex',
        rule: {
          chain: [{ connectionId: THIRD_ID, modelId: 'own-model' }, ...CHAIN],
          on429: false,
          allowHistoryStrip: false,
        },
        expectedRevision: 3,
      },
    ])
  })

  test('none is offered that speaks another API than the default', async () => {
    const messages = aConnection({ id: THIRD_ID, name: 'Third', speaks: 'anthropic_messages' })
    const { user } = show(
      catalog({ connections: [aConnection(), aConnection({ id: HOME_ID, name: 'Home' }), messages] }),
    )
    await user.click(screen.getByRole('button', { name: 'Edit fallbacks: Codex' }))
    await user.click(screen.getByRole('button', { name: 'Add a fallback' }))
    await user.click(screen.getByRole('combobox', { name: 'Provider of fallback 1' }))
    const offered = (await screen.findAllByRole('option')).map(({ textContent }) => textContent?.replace('✓', ''))
    expect(offered).toEqual(['Work', 'Home'])
  })

  test('a refusal stands in the dialog and keeps what was chosen; none at all is one press', async () => {
    let refuse = true
    const { host, user } = show(withRule, {
      'providers.setFailover': () => {
        if (refuse) throw new AppError('model_profile_invalid', 'A failover names each Provider once.')
        return saved(catalog())
      },
    })
    await user.click(screen.getByRole('button', { name: 'Edit fallbacks: Codex' }))
    await user.click(screen.getByRole('button', { name: 'Save' }))
    expect(await screen.findByText('A failover names each Provider once.')).toBeDefined()
    expect(screen.getByRole('combobox', { name: 'Model of fallback 1' }).textContent).toContain('gpt-h')
    refuse = false
    await user.click(screen.getByRole('button', { name: 'Use no fallback' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(host.calls('providers.setFailover').at(-1)).toEqual({ client: 'codex', rule: null, expectedRevision: 3 })
  })

  test('with the keys alone: the focus goes to the next one that can be removed, and at last to adding one', async () => {
    const { user } = show(withRule)
    await user.click(screen.getByRole('button', { name: 'Edit fallbacks: Codex' }))
    const add = screen.getByRole('button', { name: 'Add a fallback' })
    await user.click(add)
    await user.click(add)
    const remove = (place: number) => screen.getByRole('button', { name: `Remove fallback ${place}` })
    remove(2).focus()
    await user.keyboard('{Enter}')
    expect(document.activeElement).toBe(remove(2))
    await user.keyboard('{Enter}')
    expect(document.activeElement).toBe(remove(1))
    await user.keyboard('{Enter}')
    expect(document.activeElement).toBe(add)
    expect(screen.queryByRole('button', { name: 'Remove fallback 1' })).toBeNull()
  })

  test('a Provider that fails says so in words, and when it is tried again', () => {
    const failing = (breaker: { state: 'open' | 'probing'; untilMs: number }): CatalogView =>
      aCatalog({ connections: [aConnection({ breaker })] })
    const { host } = show(failing({ state: 'open', untilMs: Date.now() + 600_000 }))
    expect(screen.getByText(/^Failing: tried again at /)).toBeDefined()
    host.publish('providers', failing({ state: 'open', untilMs: 0 }))
    expect(screen.getByText('Failing: tried again with the next request')).toBeDefined()
    host.publish('providers', failing({ state: 'probing', untilMs: 0 }))
    expect(screen.getByText('Failing: being tried again now')).toBeDefined()
  })
})
