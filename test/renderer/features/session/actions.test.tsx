import { screen, waitFor, within } from '@testing-library/react'
import type { ReactNode } from 'react'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { CommandPalette } from '../../../../src/renderer/app/CommandPalette.tsx'
import { SessionPane } from '../../../../src/renderer/features/session/index.ts'
import { AppError } from '../../../../src/shared/errors.ts'
import { seriousFindings } from '../../support/axe.ts'
import { numbered, SESSION_ID } from '../../support/decisions.ts'
import { createFakeBridge, renderWithBridge } from '../../support/fake-bridge.tsx'
import type { FakeHandlers } from '../../support/fake-bridge.tsx'
import { aRun, aSession, aSnapshot, RUN_ID } from '../../support/sessions.ts'

beforeEach(() => window.history.replaceState(null, '', '/'))
afterEach(() => vi.restoreAllMocks())

const session = aSession()
const answered = aRun({ items: [{ kind: 'text', seq: 2, messageId: 'm', text: 'Done.', at: 1 }] })

function open(handlers: FakeHandlers = {}, turnId: string | null = null, beside: ReactNode = null) {
  const host = createFakeBridge(
    {
      'sessions.snapshot': () => aSnapshot(session, [answered]),
      'agents.list': () => ({ agents: [] }),
      'drafts.get': () => ({ draft: null }),
      'sessions.config.get': () => ({
        rev: 1,
        mode: { value: 'agent', options: [{ value: 'agent', available: true, why: null }] },
        choice: session.choice,
        choices: [],
        source: 'catalog',
      }),
      ...handlers,
    },
    { sessions: { kind: 'snapshot', sessions: [session] }, decisions: { kind: 'snapshot', decisions: [] } },
  )
  const user = renderWithBridge(
    <main>
      <SessionPane sessionId={session.id} turnId={turnId} />
      {beside}
    </main>,
    host,
  )
  return { host, user }
}

async function choose(user: ReturnType<typeof open>['user'], menu: string, action: string): Promise<void> {
  await user.click(await screen.findByRole('button', { name: menu }))
  await user.click(await screen.findByRole('menuitem', { name: action }))
}

describe('what can be done with a session', () => {
  test('DT-A36 a fork from a turn ends with that turn, and is opened', async () => {
    const child = aSession({ id: numbered(33), title: 'Fix the flaky test (1)' })
    const { host, user } = open({ 'sessions.fork': () => child })
    await choose(user, 'Turn menu', 'Fork from here')
    await waitFor(() => expect(window.location.hash).toBe(`#/session/${child.id}`))
    expect(host.calls('sessions.fork')).toMatchObject([{ sessionId: SESSION_ID, atRun: RUN_ID }])
  })

  test('DT-A36 a fork that is refused says why and is asked for again as the same one', async () => {
    const { host, user } = open({
      'sessions.fork': () => {
        throw new AppError('fork_source_active', 'This session is working.')
      },
    })
    await choose(user, 'Session menu', 'Fork')
    expect((await screen.findByRole('alert')).textContent).toContain('fork_source_active')
    await choose(user, 'Session menu', 'Fork')
    await waitFor(() => expect(host.calls('sessions.fork')).toHaveLength(2))
    const [first, second] = host.calls('sessions.fork')
    expect(second?.requestId).toBe(first?.requestId)
  })

  test('DT-A36 the export joins its pages in the order of the conversation', async () => {
    const blobs: Blob[] = []
    vi.spyOn(URL, 'createObjectURL').mockImplementation((blob) => {
      if (blob instanceof Blob) blobs.push(blob)
      return 'blob:kept'
    })
    let name = ''
    vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
      name = this.download
    })
    const { user } = open({
      'sessions.export': ({ before }) =>
        before === undefined
          ? { filename: 'fix.md', text: 'newest\n', before: 'r1' }
          : { filename: 'fix.md', text: 'oldest\n', before: null },
    })
    await choose(user, 'Session menu', 'Export as Markdown')
    await waitFor(() => expect(name).toBe('fix.md'))
    expect(await blobs[0]?.text()).toBe('oldest\nnewest\n')
  })

  test('a question beside the conversation is answered without a turn, and can be given up', async () => {
    let gaveUp = false
    const { host, user } = open({
      'runs.aside': ({ text }, signal) =>
        text.startsWith('slow')
          ? new Promise((_resolve, reject) => {
              signal.addEventListener('abort', () => {
                gaveUp = true
                reject(new AppError('aborted', 'Given up.'))
              })
            })
          : { outcome: 'completed', text: 'In `date.ts`.', error: null },
    })
    await choose(user, 'Session menu', 'Ask beside the conversation…')
    const dialog = await screen.findByRole('dialog', { name: 'Ask beside the conversation' })
    const question = within(dialog).getByRole('textbox', { name: 'Question' })
    await user.type(question, 'Where?{Enter}')
    expect((await within(dialog).findByRole('region', { name: 'Answer' })).textContent).toContain('In date.ts.')
    expect(host.calls('runs.submit')).toEqual([])
    expect(await seriousFindings()).toEqual([])
    await user.clear(question)
    await user.type(question, 'slow one{Enter}')
    await user.click(await within(dialog).findByRole('button', { name: 'Cancel' }))
    await waitFor(() => expect(gaveUp).toBe(true))
  })

  test('DT-A20 the command palette offers all of it', async () => {
    const { user } = open(
      {},
      null,
      <CommandPalette open onClose={() => {}} onKeys={() => {}} onToggleSidebar={() => {}} />,
    )
    await user.type(await screen.findByRole('combobox', { name: 'Filter actions and sessions' }), 'export')
    await waitFor(() =>
      expect(screen.getAllByRole('option').map((option) => option.firstElementChild?.textContent)).toEqual([
        'Export as Markdown',
        'Export as JSON Lines',
        'Export diagnostics',
      ]),
    )
  })
})

describe('a turn in the address', () => {
  test('is gone to, and read first where it is older than what is shown', async () => {
    const old = aRun({ runId: numbered(7_000), turnId: numbered(6_000), prompt: 'The old one' })
    const { host } = open(
      {
        'sessions.snapshot': ({ beforeTurn }) =>
          beforeTurn === undefined
            ? { ...aSnapshot(session, [answered]), hasEarlier: true }
            : aSnapshot(session, [old]),
      },
      numbered(6_000),
    )
    const turn = await screen.findByRole('article', { name: 'Turn: The old one' })
    await waitFor(() => expect(document.activeElement).toBe(turn))
    expect(host.calls('sessions.snapshot')).toHaveLength(2)
  })
})
