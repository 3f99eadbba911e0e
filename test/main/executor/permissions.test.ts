import { expect, test } from 'vitest'
import { createPermissionDesk } from '../../../src/main/executor/permissions.ts'
import type { InteractionRequest, PermissionRequest } from '../../../src/main/workers/index.ts'
import { createSink, never } from './support.ts'

const request = (requestId: string, more: Partial<PermissionRequest> = {}): PermissionRequest => ({
  requestId,
  toolCallId: 'call',
  tool: 'bash',
  kind: 'execute',
  locations: [],
  action: { kind: 'command', command: 'ls', cwd: '/project', wrapper: null },
  complete: true,
  ...more,
})
const desk = () => createPermissionDesk({ mode: 'ask', sandbox: 'none' })
const allow = { allow: true, by: 'person', reason: null } as const

test('a question goes to the run that has the worker, and its answer back, once', async () => {
  const it = desk()
  const sink = createSink()
  it.lend(sink)
  const asked = it.policy.decide(request('1'), never)
  expect(sink.updates).toMatchObject([{ kind: 'permission', request: { requestId: '1', title: 'ls' } }])
  expect(it.answer('1', allow)).toBe(true)
  expect(await asked).toEqual(allow)
  expect(it.answer('1', allow)).toBe(false)
})

test('nothing is allowed without asking but the tools of our own servers', () => {
  expect(desk().policy.rules()).toEqual({
    mode: 'ask',
    sandbox: 'none',
    allowKinds: [],
    allowMcpServers: ['wheelhouse'],
    unattended: false,
  })
})

test('between two runs everything is refused', async () => {
  const it = desk()
  expect(await it.policy.decide(request('1'), never)).toMatchObject({ allow: false, by: 'cancelled' })
})

test('a question that waits when its run ends is refused, and never asked of the next run', async () => {
  const it = desk()
  it.lend(createSink())
  const asked = it.policy.decide(request('1'), never)
  it.lend(null)
  expect(await asked).toMatchObject({ allow: false, by: 'cancelled' })
  const next = createSink()
  it.lend(next)
  expect(it.answer('1', allow)).toBe(false)
  expect(next.updates).toEqual([])
})

test('a question that its agent takes back is told as withdrawn, and no answer reaches it', async () => {
  const it = desk()
  const sink = createSink()
  it.lend(sink)
  const withdrawal = new AbortController()
  const asked = it.policy.decide(request('1'), withdrawal.signal)
  withdrawal.abort()
  expect(await asked).toMatchObject({ allow: false, by: 'withdrawn' })
  expect(sink.updates.at(-1)).toEqual({ kind: 'permission_withdrawn', requestId: '1', why: 'agent' })
  expect(it.answer('1', allow)).toBe(false)
})

test('a question that was taken back before it came is refused without being asked', async () => {
  const it = desk()
  const sink = createSink()
  it.lend(sink)
  expect(await it.policy.decide(request('1'), AbortSignal.abort())).toMatchObject({ by: 'withdrawn' })
  expect(sink.updates).toEqual([])
})

test('whether the answer reached the agent is told to the run that was asked, even after the worker was lent on', async () => {
  const it = desk()
  const [first, second] = [createSink(), createSink()]
  it.lend(first)
  const asked = it.policy.decide(request('1'), never)
  it.answer('1', allow)
  await asked
  it.lend(null)
  it.lend(second)
  it.policy.told('1', 'sent')
  it.policy.told('1', 'sent')
  expect(first.updates.slice(1)).toEqual([{ kind: 'answer_told', requestId: '1', how: 'sent' }])
  expect(second.updates).toEqual([])
})

test('a title is one line, and short', () => {
  const it = desk()
  const sink = createSink()
  it.lend(sink)
  const command = `printf '\n\n' ${'x'.repeat(500)}`
  void it.policy.decide(request('1', { action: { kind: 'command', command, cwd: '/', wrapper: null } }), never)
  const [asked] = sink.updates
  const title = asked?.kind === 'permission' ? asked.request.title : ''
  expect(title).toHaveLength(200)
  expect(title).not.toContain('\n')
})

const FORM = {
  text: 'Which colour?',
  fields: [{ id: 'c', label: '', kind: 'text' as const, options: [], other: false, required: true }],
}
const inWords = (requestId: string, more: Partial<InteractionRequest> = {}): InteractionRequest => ({
  requestId,
  kind: 'question',
  toolCallId: null,
  body: FORM,
  ...more,
})

test('a question in words goes to the run, its answer back, and that it arrived is told', async () => {
  const it = desk()
  const sink = createSink()
  it.lend(sink)
  const asked = it.interactions.ask(inWords('q'), never)
  expect(sink.updates).toEqual([
    { kind: 'question', request: { requestId: 'q', toolCallId: '', title: 'Which colour?', form: FORM } },
  ])
  it.answer('q', { ...allow, form: { c: 'blue' } })
  expect(await asked).toEqual({ kind: 'answered', body: { c: 'blue' } })
  it.interactions.told?.('q', 'sent')
  expect(sink.updates.at(-1)).toEqual({ kind: 'answer_told', requestId: 'q', how: 'sent' })
})

test.each([
  ['a link', { kind: 'external_action' as const }],
  ['wider rights', { kind: 'permission_approval' as const }],
  ['what is no form', { body: { questions: [] } }],
  [
    'a form that is too long',
    {
      body: {
        ...FORM,
        fields: Array.from({ length: 16 }, (_, n) => ({ ...FORM.fields[0], id: `${n}`, label: 'x'.repeat(2_000) })),
      },
    },
  ],
])('%s is declined, and nobody is asked', async (_what, more) => {
  const it = desk()
  const sink = createSink()
  it.lend(sink)
  expect(await it.interactions.ask(inWords('q', more), never)).toEqual({ kind: 'declined' })
  expect(sink.updates).toEqual([])
})

test.each(['external_action', 'permission_approval'] as const)(
  'WK-71 %s is declined, and nobody is asked',
  async (kind) => {
    const it = desk()
    const sink = createSink()
    it.lend(sink)
    const body = { mode: 'url', url: 'https://login.test/x', message: 'Log in', text: 'Log in', fields: [] }
    const asked: InteractionRequest = { requestId: '1', kind, toolCallId: null, body }
    expect(await it.interactions.ask(asked, never)).toEqual({ kind: 'declined' })
    expect(sink.updates).toEqual([])
  },
)

test('a question in words that is taken back, refused, or asked between two runs is declined', async () => {
  const it = desk()
  expect(await it.interactions.ask(inWords('0'), never)).toEqual({ kind: 'declined' })
  const sink = createSink()
  it.lend(sink)
  const abort = new AbortController()
  const withdrawn = it.interactions.ask(inWords('1'), abort.signal)
  abort.abort()
  expect(await withdrawn).toEqual({ kind: 'declined' })
  expect(sink.updates.at(-1)).toEqual({ kind: 'permission_withdrawn', requestId: '1', why: 'agent' })
  const refused = it.interactions.ask(inWords('2'), never)
  it.answer('2', { allow: false, by: 'person', reason: null })
  expect(await refused).toEqual({ kind: 'declined' })
})
