import { screen, waitFor, within } from '@testing-library/react'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { SessionPane } from '../../../../src/renderer/features/session/index.ts'
import type { ConfigView, Draft, SessionView } from '../../../../src/shared/bridge/index.ts'
import type { RunView, ToolItem } from '../../../../src/shared/projection/index.ts'
import type { RuntimeChoice } from '../../../../src/shared/vocabulary.ts'
import { AppError } from '../../../../src/shared/errors.ts'
import { seriousFindings } from '../../support/axe.ts'
import { aCatalog, aConnection } from '../../support/catalog.ts'
import { aDecision, numbered, SESSION_ID } from '../../support/decisions.ts'
import { createFakeBridge, renderWithBridge } from '../../support/fake-bridge.tsx'
import type { FakeHandlers } from '../../support/fake-bridge.tsx'
import { aRun, aRunError, aSession, aSnapshot, RUN_ID, running } from '../../support/sessions.ts'

beforeEach(() => window.history.replaceState(null, '', '/'))
afterEach(() => vi.restoreAllMocks())

function open(session: SessionView, { turns = [], ...handlers }: FakeHandlers & { turns?: RunView[] } = {}) {
  let draft: Draft | null = null
  const host = createFakeBridge(
    {
      'sessions.snapshot': () => aSnapshot(session, turns),
      'sessions.config.get': () => ({
        rev: session.configRev,
        mode: {
          value: 'agent',
          options: [
            { value: 'plan', available: true, why: null },
            { value: 'agent', available: true, why: null },
            { value: 'os', available: false, why: 'Switched off in Settings.' },
          ],
        },
        choice: session.choice,
        choices: [
          { choice: session.choice, label: 'Rehearsal · rehearsal-1', ready: true, efforts: [], effect: null },
          {
            choice: { ...session.choice, modelId: 'big' },
            label: 'Work · big',
            ready: true,
            efforts: ['low', 'high'],
            effect: { kind: 'refused', code: 'route_binding_incompatible' },
          },
        ],
        source: 'catalog',
      }),
      'agents.list': () => ({ agents: [] }),
      'drafts.get': () => ({ draft }),
      'drafts.set': ({ expectedRev, text, inputIds, queued }) =>
        (draft = { rev: expectedRev + 1, text, inputIds, queued }),
      'runs.submit': () => ({ runId: RUN_ID, state: 'created', replayed: false }),
      'runs.stop': () => ({ code: 'stopping' }),
      ...handlers,
    },
    { sessions: { kind: 'snapshot', sessions: [session] }, decisions: { kind: 'snapshot', decisions: [] } },
  )
  const user = renderWithBridge(<SessionPane sessionId={session.id} />, host)
  return { host, user }
}

const prompt = () => screen.findByRole('textbox', { name: 'Prompt' })

describe('what a session runs on', () => {
  test('what Codex runs unasked, by rules of the person’s own, is named', async () => {
    const codex = { id: 'codex' as const, label: 'Codex', available: true, version: '1', path: null, checks: [] }
    open(aSession({ agentId: 'codex' }), {
      'agents.list': () => ({
        agents: [{ ...codex, unchecked: false, unasked: ['git status', 'ls', 'npm test', 'touch x'] }],
      }),
    })
    const said = await screen.findByText(/^Unasked by your Codex rules: git status, ls, npm test/)
    const fact = said.closest('li')
    expect(fact?.textContent).toContain('npm test and 1 more')
    expect(fact?.title).toContain('touch x')
  })

  test('whether it is kept to its folders is shown, and changed where that can be done', async () => {
    const session = aSession({ sandbox: true })
    const { choice } = session
    const mode = { value: 'agent' as const, options: [{ value: 'agent' as const, available: true, why: null }] }
    const sandbox = { value: true, available: true, why: null }
    const { host, user } = open(session, {
      'sessions.config.get': () => ({ rev: 4, mode, sandbox, choice, choices: [], source: 'catalog' }),
      'sessions.config.set': () => ({ rev: 5, effect: { kind: 'next_turn', historyStripped: false } }),
    })
    const chosen = await screen.findByRole('combobox', { name: 'Confinement' })
    expect(chosen.textContent).toContain('Kept to its folders')
    expect(within(screen.getByRole('banner')).getByText('Kept to its folders')).toBeTruthy()
    await user.click(chosen)
    await user.click(await screen.findByRole('option', { name: 'Not confined' }))
    await waitFor(() => expect(host.calls('sessions.config.set')).toMatchObject([{ expectedRev: 4, sandbox: false }]))
  })

  test('a model that cannot read the history says so before it is chosen, and its effort is chosen beside it', async () => {
    const big = { connectionId: 'c1', modelId: 'big', effort: 'default' as const }
    const { host, user } = open(aSession({ choice: big, choiceLabel: 'Work · big' }), {
      'sessions.config.set': () => ({ rev: 2, effect: { kind: 'next_turn', historyStripped: false } }),
      'sessions.config.get': () => ({
        rev: 1,
        mode: { value: 'agent', options: [{ value: 'agent', available: true, why: null }] },
        choice: big,
        choices: [
          { choice: big, label: 'Work · big', ready: true, efforts: ['low', 'high'], effect: null },
          {
            choice: { ...big, modelId: 'other' },
            label: 'Home · other',
            ready: true,
            efforts: [],
            effect: { kind: 'refused', code: 'route_binding_incompatible' },
          },
        ],
        source: 'catalog',
      }),
    })
    await user.click(await screen.findByRole('combobox', { name: 'Effort' }))
    await user.click(await screen.findByRole('option', { name: 'High' }))
    await waitFor(() =>
      expect(host.calls('sessions.config.set')).toMatchObject([{ choice: { ...big, effort: 'high' } }]),
    )
    await user.click(screen.getByRole('combobox', { name: 'Model' }))
    expect((await screen.findByRole('option', { name: /Home · other/ })).textContent).toContain('it would be cut')
  })

  test('the own login of an agent that is led to the gateway says who answers it', async () => {
    const own = { connectionId: null, modelId: null, effort: 'default' as const }
    const { host, user } = open(aSession({ agentId: 'codex', choice: own, choiceLabel: 'Codex’s own login' }), {
      'sessions.config.get': () => ({
        rev: 1,
        mode: { value: 'agent', options: [{ value: 'agent', available: true, why: null }] },
        choice: own,
        choices: [{ choice: own, label: 'Codex’s own login', ready: true, efforts: [], effect: null }],
        source: 'agent',
      }),
    })
    host.publish('providers', aCatalog({ connections: [aConnection()] }))
    const takeover = {
      client: 'codex' as const,
      state: 'active' as const,
      detail: null,
      warnings: [],
      configPath: '/c',
      kind: null,
      enabled: true,
      keepLogin: false,
      restoreAvailable: false,
    }
    const upstreams = { codex: aConnection().id, claude: null }
    host.publish('gateway', { listening: true, address: 'a', code: null, upstreams, takeovers: [takeover] })
    await user.click(await screen.findByRole('combobox', { name: 'Model' }))
    expect((await screen.findByRole('option')).textContent).toContain('led to the gateway: Work answers')
  })

  test('while a run is under way each choice says when it counts, and what is refused cannot be chosen', async () => {
    const on = (connectionId: string | null, modelId: string | null) => ({
      connectionId,
      modelId,
      effort: 'default' as const,
    })
    const offer = (choice: RuntimeChoice, label: string, effect: ConfigView['choices'][number]['effect']) => ({
      choice,
      label,
      ready: true,
      efforts: ['high' as const],
      effect,
    })
    const big = on('c1', 'big')
    const strip = { kind: 'refused' as const, code: 'route_binding_incompatible' }
    const { user } = open(running({ choice: big, choiceLabel: 'Work · big' }), {
      'sessions.config.get': () => ({
        rev: 1,
        mode: { value: 'agent', options: [{ value: 'agent', available: true, why: null }] },
        choice: big,
        choices: [
          offer(big, 'Work · big', { kind: 'now', historyStripped: false }),
          offer(on('c1', 'small'), 'Work · small', { kind: 'now', historyStripped: false }),
          offer(on('c2', 'later'), 'Home · later', { kind: 'next_turn', historyStripped: false }),
          offer(on('c2', 'many'), 'Home · many', null),
          offer(on('c3', 'gone'), 'Club · gone', { kind: 'refused', code: 'model_profile_credential_not_ready' }),
          offer(on(null, null), 'Codex’s own login', strip),
        ],
        source: 'catalog',
      }),
    })
    await user.click(await screen.findByRole('combobox', { name: 'Effort' }))
    expect((await screen.findByRole('option', { name: /High/ })).textContent).toContain('with the next request')
    await user.keyboard('{Escape}')
    await user.click(screen.getByRole('combobox', { name: 'Model' }))
    const options = await screen.findAllByRole('option')
    expect(options.map((each) => [each.textContent?.replace('✓', ''), each.getAttribute('aria-disabled')])).toEqual([
      ['Work · big', null],
      ['Work · smallwith the next request', null],
      ['Home · laterfrom the next turn on', null],
      ['Home · manyfrom the next turn on at the latest', null],
      ['Club · gonethe Provider has no key', 'true'],
      ['Codex’s own logincannot read the hidden reasoning so far; takes a new session', 'true'],
    ])
  })
})

describe('the prompt', () => {
  test('Enter sends it, Shift+Enter makes a new line, and what was sent leaves the draft', async () => {
    const { host, user } = open(aSession())
    await user.type(await prompt(), 'first{Shift>}{Enter}{/Shift}second{Enter}')
    await waitFor(() => expect(host.calls('runs.submit')).toMatchObject([{ text: 'first\nsecond' }]))
    await waitFor(async () => expect((await prompt()).textContent).toBe(''))
  })

  test('a refused prompt stays, says why beside it, and is sent again as the same submission', async () => {
    let tries = 0
    const { host, user } = open(aSession(), {
      'runs.submit': () => {
        tries += 1
        if (tries === 1) throw new AppError('session_busy', 'This session is in use.')
        return { runId: RUN_ID, state: 'created', replayed: false }
      },
    })
    await user.type(await prompt(), 'do it{Enter}')
    expect((await screen.findByRole('alert')).textContent).toContain('session_busy')
    expect((await prompt()).textContent).toBe('do it')
    await user.click(screen.getByRole('button', { name: 'Retry' }))
    await waitFor(() => expect(host.calls('runs.submit')).toHaveLength(2))
    const [first, second] = host.calls('runs.submit')
    expect(first?.key).toBeDefined()
    expect(second?.key).toBe(first?.key)
  })

  test('DT-A09 while a run is under way it is queued, and can be taken back', async () => {
    const { host, user } = open(running())
    await user.type(await prompt(), 'and then this')
    await user.click(screen.getByRole('button', { name: 'Send' }))
    const queued = await screen.findByRole('region', { name: /^Queued/ })
    expect(host.calls('runs.submit')).toEqual([])
    expect(host.calls('drafts.set').at(-1)).toMatchObject({ text: 'and then this', queued: true })
    await user.click(within(queued).getByRole('button', { name: 'Edit' }))
    expect((await prompt()).textContent).toBe('and then this')
    expect(host.calls('drafts.set').at(-1)).toMatchObject({ queued: false })
  })

  test('says why nothing can be sent, and keeps what is typed', async () => {
    const { host, user } = open(aSession({ state: 'held' }))
    await user.type(await prompt(), 'hello{Enter}')
    expect(screen.getByText(/has not ended/)).toBeDefined()
    expect(screen.getByRole('button', { name: 'Send' }).getAttribute('aria-disabled')).toBe('true')
    expect(host.calls('runs.submit')).toEqual([])
    expect((await prompt()).textContent).toBe('hello')
  })

  test('a slow start says what it waits for and can be cancelled', async () => {
    const turns = [aRun({ state: 'created', finishedAt: null, startWaitsFor: 'Waiting for Codex to start.' })]
    const { host, user } = open(running(), { turns })
    expect(await screen.findByText('Waiting for Codex to start.')).toBeDefined()
    await user.click(screen.getByRole('button', { name: 'Cancel start' }))
    expect(host.calls('runs.stop')).toEqual([{ sessionId: SESSION_ID, expectedRunId: RUN_ID }])
  })

  test('a run that waits in line says so', async () => {
    open(running(), { turns: [aRun({ state: 'queued', finishedAt: null })] })
    expect(await screen.findByText(/^As many runs as may are at work/)).toBeDefined()
    expect(screen.getByText('Waiting in line')).toBeDefined()
  })
})

describe('stopping', () => {
  test('a run that another process executes goes on, and that is said, whichever way it was to be stopped', async () => {
    const { user } = open(running(), { 'runs.stop': () => ({ code: 'session_run_owned_elsewhere' }) })
    await prompt()
    await user.keyboard('{Escape}{Escape}')
    expect(await screen.findByText(/^Another process of Wheelhouse executes this run/)).toBeDefined()
    await user.click(screen.getByRole('button', { name: 'Open Health' }))
    expect(location.hash).toBe('#/health')
  })

  test('DT-A08 Esc once only says so, twice stops the run that is shown', async () => {
    const { host, user } = open(running())
    await prompt()
    await user.keyboard('{Escape}')
    expect(screen.getByText('Press Esc again to stop the run')).toBeDefined()
    expect(host.calls('runs.stop')).toEqual([])
    await user.keyboard('{Escape}')
    await waitFor(() => expect(host.calls('runs.stop')).toEqual([{ sessionId: SESSION_ID, expectedRunId: RUN_ID }]))
  })

  test('without a run there is nothing to stop', async () => {
    const { host, user } = open(aSession())
    await prompt()
    await user.keyboard('{Escape}{Escape}')
    expect(screen.queryByRole('button', { name: 'Stop' })).toBeNull()
    expect(host.calls('runs.stop')).toEqual([])
  })
})

describe('the transcript', () => {
  test('shows each turn with its prompt, words, calls, state and usage', async () => {
    const turns = [
      aRun({
        usage: {
          inputTokens: 3_421,
          cachedInputTokens: null,
          cacheWriteTokens: null,
          outputTokens: 12,
          reasoningTokens: null,
          contextUsed: null,
          contextSize: null,
          costUsd: null,
        },
        items: [
          { kind: 'text', seq: 1, messageId: 'm', text: 'It is **done**.', at: 3_000 },
          {
            kind: 'tool',
            seq: 2,
            toolCallId: 't',
            tool: 'execute',
            name: 'bash',
            title: 'echo \u202eevil',
            status: 'failed',
            paths: [],
            content: [{ type: 'output', text: 'boom', exitCode: 2 }],
            allowedBy: null,
            startedAt: 3_000,
            finishedAt: 4_200,
          },
        ],
      }),
    ]
    open(aSession(), { turns })
    const turn = await screen.findByRole('article', { name: /Fix it/ })
    expect(within(turn).getByText('done').tagName).toBe('STRONG')
    expect(turn.textContent).toContain('U+202E')
    expect(turn.textContent).toContain('Exit code 2')
    expect(turn.textContent).toContain('1.2 s')
    expect(within(turn).getByText('Completed')).toBeDefined()
    expect(turn.textContent).toContain('3.4 k tok')
    expect(await seriousFindings()).toEqual([])
  })

  test('grows with the log, and earlier turns keep their place', async () => {
    const { host } = open(running(), { turns: [aRun({ state: 'running', finishedAt: null })] })
    const turn = await screen.findByRole('article', { name: /Fix it/ })
    await waitFor(() => {
      host.publish('session.events', {
        sessionId: SESSION_ID,
        seq: 2,
        runId: RUN_ID,
        type: 'output_text',
        state: null,
        at: 3_000,
        data: { messageId: 'm', text: 'Working on it.' },
      })
      expect(turn.textContent).toContain('Working on it.')
    })
  })

  test('folds thoughts and long output until they are asked for', async () => {
    const output = Array.from({ length: 100 }, (_, index) => `line ${index}`).join('\n')
    const turns = [
      aRun({
        items: [
          { kind: 'thought', seq: 1, messageId: 'm', text: 'First line\n\nHidden part', at: 3_000 },
          {
            kind: 'tool',
            seq: 2,
            toolCallId: 't',
            tool: 'execute',
            name: 'bash',
            title: 'seq 100',
            status: 'completed',
            paths: [],
            content: [{ type: 'output', text: output, exitCode: 0 }],
            allowedBy: null,
            startedAt: 3_000,
            finishedAt: 3_100,
          },
        ],
      }),
    ]
    const { user } = open(aSession(), { turns })
    const turn = await screen.findByRole('article', { name: /Fix it/ })
    expect(turn.textContent).not.toContain('Hidden part')
    expect(within(turn).queryByText(/line 3$/m)).toBeNull()
    await user.click(within(turn).getByRole('button', { name: 'Show 60 more lines' }))
    expect(turn.textContent).toContain('line 3\n')
  })

  test('a failed run says what to do, with its code, and can be tried again', async () => {
    const turns = [aRun({ state: 'failed', error: aRunError() })]
    const { host, user } = open(aSession({ state: 'failed' }), {
      turns,
      'runs.retry': () => ({ runId: RUN_ID, state: 'created', replayed: false }),
    })
    expect(await screen.findByText('The Provider refused the key.')).toBeDefined()
    expect(screen.getByText('provider_auth_failed')).toBeDefined()
    expect(screen.getByRole('button', { name: 'Open Providers' })).toBeDefined()
    await user.click(screen.getByRole('button', { name: 'Try again' }))
    expect(host.calls('runs.retry')).toMatchObject([{ runId: RUN_ID, acknowledgeSideEffects: false }])
  })

  test('what a further attempt says is not told as words of the person', async () => {
    const first = aRun({ runId: numbered(1), state: 'failed', error: aRunError() })
    const second = aRun({ attempt: 2, retryOf: first.runId, prompt: 'Please continue where you left off.' })
    open(aSession(), { turns: [first, second] })
    const turn = await screen.findByRole('article', { name: /Please continue/ })
    expect(within(turn).getByRole('heading', { level: 2 }).textContent).toMatch(/^Sent by “Try again”attempt 2/)
    const asked = screen.getByRole('article', { name: /Fix it/ })
    expect(within(asked).queryByText(/Sent by/)).toBeNull()
  })

  test('a second try after changes says so first', async () => {
    const turns = [aRun({ state: 'failed', error: aRunError({ sideEffectState: 'mutating' }) })]
    const { host, user } = open(aSession({ state: 'failed' }), {
      turns,
      'runs.retry': () => ({ runId: RUN_ID, state: 'created', replayed: false }),
    })
    await user.click(await screen.findByRole('button', { name: 'Try again anyway' }))
    expect(screen.getByText(/may have changed something/)).toBeDefined()
    expect(host.calls('runs.retry')).toMatchObject([{ acknowledgeSideEffects: true }])
  })

  test('a decision stands where it was asked', async () => {
    const {
      sessionId: _s,
      runId: _r,
      sessionTitle: _t,
      agentId: _a,
      workDir: _w,
      refusalReason: _f,
      ...decision
    } = aDecision()
    open(running({ state: 'waiting' }), {
      turns: [
        aRun({ state: 'waiting_for_approval', finishedAt: null, items: [{ kind: 'decision', seq: 2, decision }] }),
      ],
    })
    const turn = await screen.findByRole('article', { name: /Fix it/ })
    expect(within(turn).getByRole('button', { name: /^Allow once/ })).toBeDefined()
    expect(within(turn).getByText('Waiting for you')).toBeDefined()
  })
})

describe('the session', () => {
  test('DT-A36 is renamed where its name stands', async () => {
    const { host, user } = open(aSession(), { 'sessions.rename': ({ title }) => aSession({ title }) })
    await user.click(await screen.findByRole('button', { name: 'Rename' }))
    const field = screen.getByRole('textbox', { name: 'Title' })
    expect(document.activeElement).toBe(field)
    await user.clear(field)
    await user.type(field, 'Better name{Enter}')
    expect(host.calls('sessions.rename')).toEqual([{ sessionId: SESSION_ID, title: 'Better name' }])
  })

  test('DT-A36 is deleted only after it was said what will be lost', async () => {
    const { host, user } = open(aSession(), { 'sessions.delete': () => ({ deleted: true }) })
    await user.click(await screen.findByRole('button', { name: 'Session menu' }))
    await user.click(await screen.findByRole('menuitem', { name: 'Delete…' }))
    const dialog = await screen.findByRole('alertdialog')
    expect(dialog.textContent).toContain('Its transcript')
    expect(host.calls('sessions.delete')).toEqual([])
    await user.click(within(dialog).getByRole('button', { name: 'Delete session' }))
    await waitFor(() => expect(host.calls('sessions.delete')).toEqual([{ sessionId: SESSION_ID }]))
  })

  test('says that it is a rehearsal, and which agent and folder it is about', async () => {
    open(aSession())
    const heading = await screen.findByRole('heading', { level: 1, name: 'Fix the flaky test' })
    const header = heading.closest('header')
    expect(header?.textContent).toContain('Rehearsal')
    expect(header?.textContent).toContain('/home/me/api')
  })

  test('one that was deleted elsewhere says so', async () => {
    const { host } = open(aSession(), {
      'sessions.get': () => {
        throw new AppError('session_not_found', 'This session no longer exists.')
      },
    })
    await prompt()
    host.publish('sessions', { kind: 'removed', sessionId: SESSION_ID })
    expect(await screen.findByText('This session no longer exists')).toBeDefined()
  })

  test('a model that cannot read the history is chosen only after a question', async () => {
    const { host, user } = open(aSession(), {
      'sessions.config.set': ({ allowHistoryStrip, expectedRev }) => {
        if (!allowHistoryStrip) throw new AppError('route_binding_incompatible', 'It holds reasoning.')
        return { rev: expectedRev + 1, effect: { kind: 'next_turn', historyStripped: true } }
      },
    })
    await user.click(await screen.findByRole('combobox', { name: 'Model' }))
    await user.click(await screen.findByRole('option', { name: /Work · big/ }))
    await user.click(await screen.findByRole('button', { name: 'Switch' }))
    await waitFor(() =>
      expect(host.calls('sessions.config.set').map((input) => input.allowHistoryStrip)).toEqual([false, true]),
    )
  })
})

describe('what a tool took', () => {
  const tool: ToolItem = {
    kind: 'tool',
    seq: 2,
    toolCallId: 'call-1',
    tool: 'execute',
    name: null,
    title: 'npm test',
    status: 'completed',
    paths: [],
    content: [],
    allowedBy: null,
    startedAt: 10_000,
    finishedAt: 75_000,
  }

  test('leaves out how long a person took to answer', async () => {
    const {
      sessionId: _s,
      runId: _r,
      ...decision
    } = aDecision({
      status: 'resolved',
      answer: { option: 'allow_once' },
      createdAt: 11_000,
      settledAt: 71_000,
    })
    open(aSession(), { turns: [aRun({ items: [tool, { kind: 'decision', seq: 3, decision }] })] })
    const call = await screen.findByRole('region', { name: 'Run: npm test' })
    expect(call.textContent).toContain('5.0 s')
  })

  test('is all of its time where nobody was asked, and a rule that allowed it is one click away', async () => {
    const { user } = open(aSession(), {
      turns: [aRun({ items: [{ ...tool, allowedBy: { reason: 'rule', ruleId: 'r9' } }] })],
    })
    const call = await screen.findByRole('region', { name: 'Run: npm test' })
    expect(call.textContent).toContain('1 min 5 s')
    if (within(call).queryByRole('link') === null) await user.click(within(call).getByRole('button'))
    expect(within(call).getByRole('link').getAttribute('href')).toBe('#/permissions/rule/r9')
  })
})

describe('a run that failed on its Provider', () => {
  test('says of one that answered with an error that it did, and nothing of the network', async () => {
    const error = aRunError({ code: 'provider_unavailable', message: 'The Provider has a problem at the moment.' })
    open(aSession(), { turns: [aRun({ state: 'failed', error })] })
    const failed = await screen.findByRole('group', { name: 'Failed' })
    expect(failed.textContent).toContain('answered with an error of its own')
    expect(failed.textContent).not.toContain('Check the network')
  })

  test('leads to Providers when it cannot be reached, and says nothing twice', async () => {
    const error = aRunError({
      code: 'network_unavailable',
      message: 'The Provider cannot be reached.',
      detail: 'The Provider cannot be reached. connect ECONNREFUSED',
    })
    const { user } = open(aSession(), { turns: [aRun({ state: 'failed', error })] })
    const failed = await screen.findByRole('group', { name: 'Failed' })
    expect(failed.textContent?.match(/The Provider cannot be reached\./g)).toHaveLength(1)
    expect(failed.textContent).toContain('network_unavailable: connect ECONNREFUSED')
    await user.click(within(failed).getByRole('button', { name: 'Open Providers' }))
    expect(window.location.hash).toBe('#/providers')
  })
})

describe('slash commands', () => {
  const command = (name: string) => ({ name, description: `does ${name}` })

  test('of the agent are completed by keys, and Enter on a whole one sends it', async () => {
    const { host, user } = open(aSession())
    const field = await prompt()
    host.publish('commands', { kind: 'snapshot', sessions: [] })
    host.publish('commands', {
      kind: 'changed',
      sessionId: SESSION_ID,
      commands: [command('review'), command('rename'), command('plan')],
    })
    await user.type(field, '/re')
    const list = await screen.findByRole('listbox', { name: 'Commands of the agent' })
    expect(within(list).getAllByRole('option')).toHaveLength(2)
    expect(await seriousFindings()).toEqual([])
    await user.keyboard('{ArrowDown}{Enter}')
    expect(field.textContent).toBe('/rename ')
    expect(screen.queryByRole('listbox')).toBeNull()
    await user.clear(field)
    await user.type(field, '/plan{Enter}')
    await waitFor(() => expect(host.calls('runs.submit')).toMatchObject([{ text: '/plan' }]))
  })

  test('Esc closes the list and stops nothing', async () => {
    const { host, user } = open(running())
    const field = await prompt()
    host.publish('commands', { kind: 'changed', sessionId: SESSION_ID, commands: [command('review')] })
    await user.type(field, '/')
    await screen.findByRole('listbox')
    await user.keyboard('{Escape}')
    await waitFor(() => expect(screen.queryByRole('listbox')).toBeNull())
    expect(screen.queryByText('Press Esc again to stop the run')).toBeNull()
    expect(host.calls('runs.stop')).toEqual([])
  })
})
