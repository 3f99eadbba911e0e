import { screen, waitFor, within } from '@testing-library/react'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { ApprovalCard } from '../../../../src/renderer/features/approvals/index.ts'
import { Button } from '../../../../src/renderer/ui/index.ts'
import type { DecisionView } from '../../../../src/shared/bridge/index.ts'
import { AppError } from '../../../../src/shared/errors.ts'
import { aDecision, DECISION_ID } from '../../support/decisions.ts'
import { createFakeBridge, renderWithBridge } from '../../support/fake-bridge.tsx'
import type { FakeHandlers } from '../../support/fake-bridge.tsx'

const resolved: FakeHandlers = { 'decisions.resolve': () => ({ kind: 'resolved' }) }

function showCard(decision: DecisionView, handlers: FakeHandlers = resolved) {
  const host = createFakeBridge(handlers, { decisions: { kind: 'snapshot', decisions: [decision] } })
  const user = renderWithBridge(<ApprovalCard decision={decision} />, host)
  return { host, user }
}

const allow = () => screen.getByRole('button', { name: /^Allow once/ })
const enabled = (button: HTMLElement) => button.getAttribute('aria-disabled') !== 'true'

/** A box of 100 px whose text is 1 000 px high: no layout is done here. */
function makeLong() {
  vi.spyOn(HTMLElement.prototype, 'scrollHeight', 'get').mockReturnValue(1_000)
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(100)
}

afterEach(() => vi.restoreAllMocks())

describe('an approval card', () => {
  test('names the action, the exact command, the folder, the risk with its reason, and its buttons after the action', () => {
    showCard(aDecision())
    const card = screen.getByRole('article', { name: /^Run npm test/ })
    expect(within(card).getByRole('group', { name: 'Command' }).textContent).toBe('npm test')
    expect(card.textContent).toContain('Medium risk')
    expect(card.textContent).toContain('Runs code of the project.')
    expect(card.textContent).toContain('/home/me/api')
    expect(card.textContent).toMatch(/waits 4 min/)
    expect(card.textContent).toMatch(/expires in 2[23] h/)
    for (const name of ['Allow once', 'Deny', 'Deny with a reason…', 'Allow for this session']) {
      expect(screen.getByRole('button', { name: `${name}: Run npm test` })).toBeDefined()
    }
  })

  test('DT-A02 deny with a reason sends the reason and says how it reaches this agent', async () => {
    const { host, user } = showCard(aDecision())
    await user.click(screen.getByRole('button', { name: /^Deny with a reason/ }))
    const field = screen.getByRole('textbox', { name: 'Reason' })
    expect(document.activeElement).toBe(field)
    expect(screen.getByText(/sent into the running turn/)).toBeDefined()
    await user.type(field, 'use the d, a and j keys elsewhere')
    await user.click(screen.getByRole('button', { name: 'Deny and send the reason' }))
    expect(host.calls('decisions.resolve')).toEqual([
      { decisionId: DECISION_ID, answer: { option: 'reject_once', reason: 'use the d, a and j keys elsewhere' } },
    ])
  })

  test('A allows once and a second press does nothing until the host said what became of it', async () => {
    const { host, user } = showCard(aDecision())
    await waitFor(() => expect(enabled(allow())).toBe(true))
    await user.keyboard('aa')
    expect(host.calls('decisions.resolve')).toEqual([{ decisionId: DECISION_ID, answer: { option: 'allow_once' } }])
  })

  test('A counts while a button that is off has the focus, as Send has after a click', async () => {
    const decision = aDecision()
    const host = createFakeBridge(resolved, { decisions: { kind: 'snapshot', decisions: [decision] } })
    const user = renderWithBridge(
      <>
        <ApprovalCard decision={decision} />
        <Button disabled>Send</Button>
      </>,
      host,
    )
    await waitFor(() => expect(enabled(allow())).toBe(true))
    screen.getByRole('button', { name: 'Send' }).focus()
    await user.keyboard('a')
    expect(host.calls('decisions.resolve')).toEqual([{ decisionId: DECISION_ID, answer: { option: 'allow_once' } }])
  })

  test('D denies; a letter with a modifier does not', async () => {
    const { host, user } = showCard(aDecision())
    await user.keyboard('{Control>}d{/Control}')
    expect(host.calls('decisions.resolve')).toEqual([])
    await user.keyboard('d')
    expect(host.calls('decisions.resolve')).toEqual([{ decisionId: DECISION_ID, answer: { option: 'reject_once' } }])
  })

  test('a key answers nothing that is out of sight: its first press shows the card', async () => {
    vi.spyOn(HTMLElement.prototype, 'getBoundingClientRect').mockReturnValue(new DOMRect(0, 5_000, 600, 200))
    const { host, user } = showCard(aDecision())
    await user.keyboard('d')
    expect(host.calls('decisions.resolve')).toEqual([])
    expect(document.activeElement).toBe(screen.getByRole('article'))
  })

  test('wider scopes stand there only where policy offers them', () => {
    showCard(aDecision({ options: ['allow_once', 'reject_once'], risk: 'high' }))
    expect(screen.queryByRole('button', { name: /^Allow for this session/ })).toBeNull()
    expect(screen.queryByRole('button', { name: /^More answers/ })).toBeNull()
  })

  test('DT-A03 an answer that came too late shows who was first and when', async () => {
    const { user } = showCard(aDecision(), {
      'decisions.resolve': () => ({
        kind: 'already_resolved',
        answer: { option: 'reject_once' },
        by: { via: 'browser', connection: 'other' },
        atMs: Date.now() - 160_000,
      }),
    })
    await user.keyboard('d')
    expect((await screen.findByText(/^Answered by a browser/)).textContent).toContain('2 min ago')
    expect(screen.getByText(/came too late/)).toBeDefined()
    expect(screen.queryByRole('button', { name: /^Deny/ })).toBeNull()
  })

  test('DT-A03 a card that another window settles says so in its place', () => {
    const { host } = showCard(aDecision())
    host.publish('decisions', {
      kind: 'settled',
      decision: aDecision({
        status: 'resolved',
        answer: { option: 'allow_once' },
        by: { via: 'window', connection: 'other' },
        settledAt: Date.now(),
      }),
    })
    expect(screen.getByText(/^Answered by another window/)).toBeDefined()
    expect(screen.getByText('Allowed once')).toBeDefined()
    expect(screen.getByText('On its way to the agent.')).toBeDefined()
    expect(screen.queryByRole('button', { name: /^Allow once/ })).toBeNull()
  })

  test('a closed decision says how it was closed', async () => {
    const { user } = showCard(aDecision(), {
      'decisions.resolve': () => ({ kind: 'closed', status: 'timed_out', atMs: Date.now() }),
    })
    await user.keyboard('d')
    expect(await screen.findByText('Expired without an answer')).toBeDefined()
  })

  test('the focus of the buttons goes to the card when it is settled', async () => {
    const { host, user } = showCard(aDecision())
    await user.click(screen.getByRole('button', { name: 'Deny: Run npm test' }))
    host.publish('decisions', {
      kind: 'settled',
      decision: aDecision({ status: 'withdrawn', by: { via: 'agent', connection: null }, settledAt: Date.now() }),
    })
    expect(document.activeElement).toBe(screen.getByRole('article'))
  })

  test('a failure stands in the card, and the answer can be sent again', async () => {
    let fail = true
    const { host, user } = showCard(aDecision(), {
      'decisions.resolve': () => {
        if (!fail) return { kind: 'resolved' }
        throw new AppError('database_busy', 'The database is busy. Try again.')
      },
    })
    await user.keyboard('d')
    expect((await screen.findByRole('alert')).textContent).toContain('database_busy')
    fail = false
    await user.keyboard('d')
    expect(host.calls('decisions.resolve')).toHaveLength(2)
  })

  test('allow stays off, and says why, until the end of a long action was in sight', async () => {
    makeLong()
    const { host, user } = showCard(aDecision())
    expect(enabled(allow())).toBe(false)
    expect(await screen.findByText(/Scroll to the end of the action first/)).toBeDefined()
    await user.keyboard('a')
    const box = screen.getByRole('group', { name: 'Command' })
    expect(document.activeElement).toBe(box)
    expect(host.calls('decisions.resolve')).toEqual([])
    box.scrollTop = 900
    box.dispatchEvent(new Event('scroll'))
    await waitFor(() => expect(enabled(allow())).toBe(true))
    await user.keyboard('a')
    expect(host.calls('decisions.resolve')).toHaveLength(1)
  })

  test('a shortened action is read in parts, and only its last one lets it be allowed', async () => {
    makeLong()
    const parts = ['first part\n', 'last part; rm -rf build']
    const { host, user } = showCard(
      aDecision({ action: { kind: 'command', command: `${'x'.repeat(5_000)}…`, cwd: '/home/me/api', wrapper: null } }),
      {
        'decisions.preview': ({ offset }) =>
          offset === 0
            ? { text: parts[0] ?? '', bytes: 40_000, next: 32_768 }
            : { text: parts[1] ?? '', bytes: 40_000, next: null },
      },
    )
    await user.click(await screen.findByRole('button', { name: /^Show the next part/ }))
    await waitFor(() => expect(screen.getByRole('group', { name: 'Command' }).textContent).toBe(parts.join('')))
    expect(enabled(allow())).toBe(false)
    const box = screen.getByRole('group', { name: 'Command' })
    box.scrollTop = 900
    box.dispatchEvent(new Event('scroll'))
    await waitFor(() => expect(enabled(allow())).toBe(true))
    expect(host.calls('decisions.preview').map(({ offset }) => offset)).toEqual([0, 32_768])
  })

  test('an action that cannot be read whole can only be denied', async () => {
    const { user, host } = showCard(aDecision({ action: { kind: 'other', text: `${'x'.repeat(5_000)}…` } }), {
      'decisions.preview': () => {
        throw new AppError('file_failed', 'The action could not be read.')
      },
      ...resolved,
    })
    expect(await screen.findByText(/it can only be denied/)).toBeDefined()
    await user.keyboard('a')
    expect(host.calls('decisions.resolve')).toEqual([])
    await user.keyboard('d')
    expect(host.calls('decisions.resolve')).toHaveLength(1)
  })

  test('DT-A22 a direction override in a command is shown by its name', () => {
    showCard(
      aDecision({ action: { kind: 'command', command: 'rm \u202Efdp.exe', cwd: '/home/me/api', wrapper: null } }),
    )
    expect(screen.getByRole('group', { name: 'Command' }).textContent).toBe('rm U+202Efdp.exe')
  })

  test('an edit is shown as its whole diff', () => {
    showCard(
      aDecision({
        title: 'Edit src/a.ts',
        toolKind: 'edit',
        action: { kind: 'edit', changes: [{ path: '/home/me/api/src/a.ts', oldText: 'one\n', newText: 'two\n' }] },
      }),
    )
    const box = screen.getByRole('group', { name: 'What the agent wants to do' })
    expect(within(box).getByText('one')).toBeDefined()
    expect(within(box).getByText('two')).toBeDefined()
  })
})

describe('a settled card of a transcript', () => {
  const settled = (change: Partial<DecisionView> = {}) =>
    aDecision({
      status: 'resolved',
      answer: { option: 'reject_once', reason: 'Not today.' },
      by: { via: 'window', connection: 'other' },
      settledAt: Date.now(),
      ...change,
    })
  const show = (decision: DecisionView) => {
    const host = createFakeBridge(resolved, { decisions: { kind: 'snapshot', decisions: [decision] } })
    return { host, user: renderWithBridge(<ApprovalCard decision={decision} folds />, host) }
  }
  const toggle = () => screen.getByRole('button', { name: 'Run npm test' })

  test('is one line with what became of it, and opens whole', async () => {
    const { user } = show(settled())
    const card = screen.getByRole('article')
    expect(toggle().getAttribute('aria-expanded')).toBe('false')
    expect(card.textContent).toContain('Denied')
    expect(card.textContent).toContain('Not today.')
    expect(card.textContent).toContain('Answered by another window')
    expect(screen.queryByRole('group', { name: 'Command' })).toBeNull()
    await user.click(toggle())
    expect(toggle().getAttribute('aria-expanded')).toBe('true')
    expect(document.activeElement).toBe(toggle())
    expect(screen.getByRole('group', { name: 'Command' }).textContent).toBe('npm test')
    await user.click(toggle())
    expect(screen.queryByRole('group', { name: 'Command' })).toBeNull()
  })

  test('folds once it is answered, and keeps the focus that its buttons had', async () => {
    const { host, user } = show(aDecision())
    expect(screen.getByRole('group', { name: 'Command' })).toBeDefined()
    await user.click(screen.getByRole('button', { name: 'Deny: Run npm test' }))
    host.publish('decisions', { kind: 'settled', decision: settled() })
    expect(toggle().getAttribute('aria-expanded')).toBe('false')
    expect(document.activeElement).toBe(screen.getByRole('article'))
  })

  test('stays open where the answer did not reach the agent', () => {
    show(settled({ told: 'lost' }))
    expect(screen.getByText('The answer did not reach the agent.')).toBeDefined()
    expect(toggle().getAttribute('aria-expanded')).toBe('true')
  })
})

describe('a question in words', () => {
  const field = { label: 'Which colour?', kind: 'choice' as const, other: true, required: true }
  const options = ['Red', 'Blue'].map((label) => ({ label, description: `as ${label}` }))
  const form = {
    text: 'Before I go on',
    fields: [
      { ...field, id: 'colour', options },
      { ...field, id: 'why', label: 'Why?', kind: 'text' as const, options: [], other: false, required: false },
    ],
  }
  const question = aDecision({
    kind: 'question',
    title: 'Which colour?',
    action: { kind: 'question', form },
    risk: null,
    riskReason: '',
    options: ['reject_once'],
  })
  const send = () => screen.getByRole('button', { name: /^Send answer/ })

  test('is answered field by field, and not before what it needs is there', async () => {
    const { host, user } = showCard(question)
    expect(screen.getByRole('article').textContent).toContain('Before I go on')
    expect(enabled(send())).toBe(false)
    await user.click(screen.getByRole('radio', { name: 'Blue' }))
    await user.type(screen.getByRole('textbox', { name: 'Why? (optional)' }), 'calm')
    await user.click(send())
    expect(host.calls('decisions.resolve')).toEqual([
      { decisionId: DECISION_ID, answer: { form: { colour: 'Blue', why: 'calm' } } },
    ])
  })

  test('takes words of one’s own, and can be left unanswered; no single key answers it', async () => {
    const { host, user } = showCard(question)
    await user.keyboard('ad')
    await user.type(screen.getByRole('textbox', { name: 'In your own words' }), 'Mauve')
    expect(enabled(send())).toBe(true)
    expect(host.calls('decisions.resolve')).toEqual([])
    await user.click(screen.getByRole('button', { name: /^Do not answer/ }))
    expect(host.calls('decisions.resolve')).toEqual([{ decisionId: DECISION_ID, answer: { option: 'reject_once' } }])
  })

  test('says what was answered, under what was asked', () => {
    showCard({
      ...question,
      status: 'resolved',
      answer: { form: { colour: 'Blue' } },
      by: { via: 'cli', connection: null },
    })
    const card = screen.getByRole('article')
    expect(card.textContent).toContain('Which colour? Blue')
    expect(screen.queryByRole('radio')).toBeNull()
  })
})
