import { expect, test } from 'vitest'
import { createPermissionDesk } from '../../../src/main/executor/permissions.ts'
import type { PermissionRequest } from '../../../src/main/workers/index.ts'
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
