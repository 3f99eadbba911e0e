import { screen, waitFor } from '@testing-library/react'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { SessionList } from '../../../../src/renderer/features/sessions/index.ts'
import type { SearchHit, SessionView } from '../../../../src/shared/bridge/index.ts'
import { numbered } from '../../support/decisions.ts'
import { createFakeBridge, renderWithBridge } from '../../support/fake-bridge.tsx'
import { aSession } from '../../support/sessions.ts'

beforeEach(() => {
  // No layout is done here: the list is as high as a window.
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(800)
  vi.spyOn(HTMLElement.prototype, 'clientWidth', 'get').mockReturnValue(280)
  window.history.replaceState(null, '', '/')
})
afterEach(() => vi.restoreAllMocks())

function show(sessions: SessionView[], handlers = {}) {
  const host = createFakeBridge(handlers, { sessions: { kind: 'snapshot', sessions } })
  return { host, user: renderWithBridge(<SessionList currentId={null} />, host) }
}

const titles = () => screen.getAllByRole('link').map((row) => row.querySelector('span:nth-of-type(2)')?.textContent)

describe('the session list', () => {
  test('DT-A10 of a thousand sessions at most 60 rows are in the page', async () => {
    show(
      Array.from({ length: 1_000 }, (_, index) =>
        aSession({ id: numbered(index), title: `Session ${index}`, updatedAt: 10_000 - index }),
      ),
    )
    await waitFor(() => expect(screen.getAllByRole('listitem').length).toBeGreaterThan(10))
    expect(screen.getAllByRole('listitem').length).toBeLessThanOrEqual(60)
  })

  test('groups by folder, newest first, in folders and among them', async () => {
    show([
      aSession({ id: numbered(1), title: 'old in api', updatedAt: 1_000 }),
      aSession({ id: numbered(2), title: 'in site', workDir: '/home/me/site', updatedAt: 2_000 }),
      aSession({ id: numbered(3), title: 'new in api', updatedAt: 3_000 }),
    ])
    await screen.findByText('in site')
    expect(screen.getAllByRole('heading').map((heading) => heading.textContent)).toEqual(['api', 'site'])
    expect(titles()).toEqual(['new in api', 'old in api', 'in site'])
  })

  test('searches titles as it is typed, and offers the way back', async () => {
    const { user } = show([
      aSession({ id: numbered(1), title: 'Fix dates' }),
      aSession({ id: numbered(2), title: 'Write notes' }),
    ])
    await user.type(screen.getByRole('searchbox', { name: 'Find a session' }), 'NOTES')
    await waitFor(() => expect(titles()).toEqual(['Write notes']))
    await user.type(screen.getByRole('searchbox'), 'zzz')
    await user.click(await screen.findByRole('button', { name: 'Show all' }))
    await waitFor(() => expect(titles()).toHaveLength(2))
  })

  test('filters by state, and shows archived ones only when they are asked for', async () => {
    const archived = aSession({ id: numbered(3), title: 'put away', archivedAt: 5 })
    const { user } = show(
      [
        aSession({ id: numbered(1), title: 'calm' }),
        aSession({ id: numbered(2), title: 'asks', state: 'waiting', pendingDecisions: 2 }),
        archived,
      ],
      { 'sessions.list': () => ({ sessions: [archived], total: 1 }) },
    )
    await screen.findByText('calm')
    expect(screen.queryByText('put away')).toBeNull()
    await user.click(screen.getByRole('combobox', { name: 'Which sessions' }))
    await user.click(await screen.findByRole('option', { name: 'Waiting for you' }))
    await waitFor(() => expect(titles()).toEqual(['asks']))
    await user.click(screen.getByRole('combobox', { name: 'Which sessions' }))
    await user.click(await screen.findByRole('option', { name: 'Archived' }))
    await waitFor(() => expect(titles()).toEqual(['put away']))
  })

  test('each row says its state in words, and how many approvals wait', async () => {
    show([aSession({ title: 'asks', state: 'waiting', pendingDecisions: 2 })])
    const row = await screen.findByRole('link', { name: /asks/ })
    expect(row.textContent).toContain('Waiting for you')
    expect(row.textContent).toContain('2 approvals waiting')
    expect(row.textContent).toContain('Rehearsal')
  })

  test('DT-A20 J and K walk the rows, past the folders, and leave fields alone', async () => {
    const { user } = show([
      aSession({ id: numbered(1), title: 'first', updatedAt: 3_000 }),
      aSession({ id: numbered(2), title: 'second', workDir: '/home/me/site', updatedAt: 2_000 }),
    ])
    await screen.findByText('first')
    await user.keyboard('j')
    await waitFor(() => expect(document.activeElement?.textContent).toContain('first'))
    await user.keyboard('j')
    await waitFor(() => expect(document.activeElement?.textContent).toContain('second'))
    await user.keyboard('k')
    await waitFor(() => expect(document.activeElement?.textContent).toContain('first'))
    await user.keyboard('/')
    const search = screen.getByRole('searchbox')
    expect(document.activeElement).toBe(search)
    await user.keyboard('j')
    expect(document.activeElement).toBe(search)
  })

  test('an empty one says what to do', async () => {
    show([])
    expect(await screen.findByText('No sessions yet.')).toBeDefined()
    expect(screen.getByText('Press N to start one.')).toBeDefined()
  })
})

describe('the search over transcripts', () => {
  const hit = (change: Partial<SearchHit> = {}): SearchHit => ({
    entryId: 'e1',
    sessionId: numbered(9),
    sessionTitle: 'An old one',
    turnId: numbered(90),
    runId: null,
    seq: 4,
    kind: 'assistant',
    at: 1_000,
    snippet: { text: 'the word heliotrope was here', marks: [[9, 19]] },
    ...change,
  })

  test('DT-A10 finds a word in a transcript and leads to its turn', async () => {
    const { host, user } = show([aSession({ id: numbered(1), title: 'Fix dates' })], {
      'sessions.search': () => ({ sessions: [], hits: [hit()], next: null }),
    })
    await user.type(screen.getByRole('searchbox'), 'heliotrope')
    const row = await screen.findByRole('link', { name: /An old one/ })
    expect(row.querySelector('mark')?.textContent).toBe('heliotrope')
    expect(row.getAttribute('href')).toBe(`#/session/${numbered(9)}/${numbered(90)}`)
    expect(host.calls('sessions.search').at(-1)).toMatchObject({ text: 'heliotrope' })
    expect(screen.queryByText('No session fits.')).toBeNull()
    await user.keyboard('{ArrowDown}')
    await waitFor(() => expect(document.activeElement).toBe(row))
  })

  test('shows more of what was found when asked', async () => {
    const { user } = show([], {
      'sessions.search': ({ before }: { before?: number }) =>
        before === undefined
          ? { sessions: [], hits: [hit()], next: 7 }
          : { sessions: [], hits: [hit({ entryId: 'e2', sessionTitle: 'The oldest' })], next: null },
    })
    await user.type(screen.getByRole('searchbox'), 'heliotrope')
    await user.click(await screen.findByRole('button', { name: 'Show more' }))
    expect(await screen.findByRole('link', { name: /The oldest/ })).toBeDefined()
    expect(screen.queryByRole('button', { name: 'Show more' })).toBeNull()
  })

  test('a title is found that the list is too long for', async () => {
    const { user } = show([aSession({ id: numbered(1), title: 'Fix dates' })], {
      'sessions.search': () => ({
        sessions: [aSession({ id: numbered(2), title: 'Beyond the list' })],
        hits: [],
        next: null,
      }),
    })
    await user.type(screen.getByRole('searchbox'), 'beyond')
    await waitFor(() => expect(titles()).toEqual(['Beyond the list']))
  })

  test('an agent’s sessions alone are shown', async () => {
    const { user } = show([
      aSession({ id: numbered(1), title: 'mine', agentId: 'codex' }),
      aSession({ id: numbered(2), title: 'other', agentId: 'builtin' }),
    ])
    await screen.findByText('mine')
    await user.click(screen.getByRole('combobox', { name: 'Which sessions' }))
    await user.click(await screen.findByRole('option', { name: 'Codex' }))
    await waitFor(() => expect(titles()).toEqual(['mine']))
  })
})

describe('the unread mark', () => {
  test('stands on a session whose run ended since it was last looked at', async () => {
    const lastRun = { runId: 'r', state: 'completed', finishedAt: Date.now() + 60_000, errorCode: null } as const
    show([
      aSession({ id: numbered(1), title: 'new', lastRun }),
      aSession({ id: numbered(2), title: 'old', lastRun: { ...lastRun, finishedAt: 1_000 } }),
    ])
    expect((await screen.findByRole('link', { name: /new/ })).textContent).toContain('Not looked at yet')
    expect(screen.getByRole('link', { name: /old/ }).textContent).not.toContain('Not looked at yet')
  })
})
