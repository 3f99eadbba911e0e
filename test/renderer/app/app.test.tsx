import { act, screen, waitFor, within } from '@testing-library/react'
import { beforeEach, describe, expect, test } from 'vitest'
import { App } from '../../../src/renderer/app/App.tsx'
import { CommandPalette } from '../../../src/renderer/app/CommandPalette.tsx'
import { AppError } from '../../../src/shared/errors.ts'
import { seriousFindings } from '../support/axe.ts'
import { aDecision, numbered } from '../support/decisions.ts'
import { createFakeBridge, renderWithBridge } from '../support/fake-bridge.tsx'
import { aSession, RUN_ID } from '../support/sessions.ts'

beforeEach(() => {
  window.localStorage.clear()
  delete document.documentElement.dataset['theme']
})

function show(hash = '#/approvals') {
  window.history.replaceState(null, '', hash)
  const session = aSession({ id: numbered(1), title: 'Fix dates' })
  const host = createFakeBridge(
    { 'presence.set': () => ({ ok: true }), 'decisions.history': () => ({ decisions: [], next: null }) },
    {
      sessions: { kind: 'snapshot', sessions: [session] },
      decisions: { kind: 'snapshot', decisions: [] },
      settings: { values: { theme: 'dark' } },
    },
  )
  return { host, session, user: renderWithBridge(<App />, host) }
}

function showPalette() {
  window.history.replaceState(null, '', '#/approvals')
  const host = createFakeBridge({}, { sessions: { kind: 'snapshot', sessions: [] } })
  return {
    user: renderWithBridge(
      <CommandPalette open onClose={() => {}} onKeys={() => {}} onToggleSidebar={() => {}} />,
      host,
    ),
  }
}

describe('the window', () => {
  test('has its landmarks, and every place has a link', async () => {
    show()
    expect(screen.getByRole('navigation', { name: 'Sessions' })).toBeDefined()
    expect(screen.getByRole('main')).toBeDefined()
    expect(screen.getByRole('button', { name: 'New session' })).toBeDefined()
    for (const name of ['Approvals', 'Providers', 'Usage', 'Health', 'Settings']) {
      expect(screen.getByRole('link', { name })).toBeDefined()
    }
    expect(await seriousFindings()).toEqual([])
  })

  test('DT-A34 a host that is gone leaves what is shown, dimmed, and says since when', async () => {
    const { host } = show()
    host.setStatus({ kind: 'lost', sinceMs: new Date(2024, 4, 14, 12, 34, 56).getTime() })
    expect((await screen.findByText(/has not answered since/)).textContent).toContain('12:34:56')
    expect(screen.getByRole('navigation', { name: 'Sessions' }).closest('[data-stale]')).not.toBeNull()
  })

  test('one that was not let in says what to do', async () => {
    const { host } = show()
    host.setStatus({ kind: 'refused', error: new AppError('unauthenticated', 'Open the link that it prints.') })
    expect((await screen.findByRole('alert')).textContent).toContain('Open the link that it prints.')
    expect(screen.getByRole('button', { name: 'Reload' })).toBeDefined()
  })

  test('the theme that was chosen stands on the root', async () => {
    const { host } = show()
    await waitFor(() => expect(document.documentElement.dataset['theme']).toBe('dark'))
    host.publish('settings', { values: { theme: 'system' } })
    expect(document.documentElement.dataset['theme']).toBeUndefined()
  })

  test('one region tells new approvals, another how runs ended', async () => {
    const { host, session } = show()
    host.publish('decisions', { kind: 'requested', decision: aDecision() })
    await waitFor(() =>
      expect(document.querySelector('[aria-live="assertive"]')?.textContent).toContain('Run npm test'),
    )
    host.publish('sessions', {
      kind: 'changed',
      session: { ...session, lastRun: { runId: RUN_ID, state: 'completed', finishedAt: 5, errorCode: null } },
    })
    expect(document.querySelector('[aria-live="polite"]')?.textContent).toBe('Fix dates is done')
    expect(screen.getByRole('link', { name: /^Approvals.*1 waiting/ })).toBeDefined()
  })
})

describe('keys', () => {
  test('DT-A20 the palette reaches views and sessions by a part of their words', async () => {
    const { user } = show()
    await user.keyboard('{Control>}k{/Control}')
    const dialog = await screen.findByRole('dialog')
    await user.type(within(dialog).getByRole('combobox'), 'dates')
    expect(within(dialog).getAllByRole('option')).toHaveLength(1)
    await user.keyboard('{Enter}')
    expect(window.location.hash).toBe(`#/session/${numbered(1)}`)
  })

  test.each([
    ['diagnostics', 'Export diagnostics', '#/health'],
    ['add provider', 'Add Provider', '#/providers/add'],
    ['new schedule', 'New schedule', '#/schedules/add'],
    ['mcp', 'MCP servers', '#/settings/mcp'],
    ['permissions', 'Permissions', '#/permissions'],
  ])('DT-A20 the palette finds %s', async (words, label, hash) => {
    const { user } = showPalette()
    await user.type(screen.getByRole('combobox'), words)
    expect(screen.getByRole('option').textContent).toContain(label)
    await user.keyboard('{Enter}')
    expect(window.location.hash).toBe(hash)
  })

  test('DT-A20 ? lists the keys, and closing it gives the focus back', async () => {
    const { user } = show()
    screen.getByRole('link', { name: 'Health' }).focus()
    await user.keyboard('?')
    expect(await screen.findByRole('dialog', { name: 'Keys' })).toBeDefined()
    await user.keyboard('{Escape}')
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    await waitFor(() => expect(document.activeElement).toBe(screen.getByRole('link', { name: 'Health' })))
  })

  test('letters are text in a field, and keys elsewhere', async () => {
    const { user } = show()
    await user.type(screen.getByRole('searchbox'), 'n?')
    expect(window.location.hash).toBe('#/approvals')
    expect(screen.queryByRole('dialog')).toBeNull()
  })

  test('a list that had the focus and is closed leaves the keys to the view', async () => {
    const { user } = show()
    const list = screen.getByRole('combobox', { name: 'Which sessions' })
    list.focus()
    await waitFor(() => expect(document.querySelector('[role="listbox"]')).not.toBeNull())
    expect(list.getAttribute('aria-expanded')).toBe('false')
    screen.getByRole('link', { name: 'Health' }).focus()
    await user.keyboard('?')
    expect(await screen.findByRole('dialog', { name: 'Keys' })).toBeDefined()
  })

  test('a view that goes with the focus in it leaves it to its successor', async () => {
    const { user } = show('#/settings')
    const theme = await screen.findByRole('combobox', { name: 'Theme' })
    theme.focus()
    act(() => {
      window.location.hash = '#/new'
    })
    await screen.findByRole('form', { name: 'New session' })
    await waitFor(() => expect(document.activeElement).toBe(screen.getByRole('main')))
    screen.getByRole('textbox', { name: 'Prompt' }).focus()
    await user.keyboard('{Control>}k{/Control}')
    await user.type(within(await screen.findByRole('dialog')).getByRole('combobox'), 'approvals{Enter}')
    await screen.findByRole('heading', { name: 'Approvals' })
    await waitFor(() => expect(document.activeElement).toBe(screen.getByRole('main')))
    // What is beside the views keeps it.
    screen.getByRole('link', { name: 'Health' }).focus()
    await user.keyboard('{Enter}')
    expect(document.activeElement).toBe(screen.getByRole('link', { name: 'Health' }))
  })

  test('the session list is hidden, shown and made wider by keys', async () => {
    const { user } = show()
    const separator = screen.getByRole('separator')
    separator.focus()
    const before = Number(separator.getAttribute('aria-valuenow'))
    await user.keyboard('{ArrowRight}')
    expect(Number(separator.getAttribute('aria-valuenow'))).toBeGreaterThan(before)
    await user.keyboard('{Control>}b{/Control}')
    expect(screen.queryByRole('navigation', { name: 'Sessions' })).toBeNull()
    await user.keyboard('{Control>}b{/Control}')
    expect(screen.getByRole('navigation', { name: 'Sessions' })).toBeDefined()
  })
})
