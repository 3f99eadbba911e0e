import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

import { PermissionAction } from '../../src/shared/vocabulary.ts'
import { CallError, deny, saidText } from '../support/agent-process.ts'
import { aFolder, aModel, anAgent, call, DIALECTS, textOf, toolResults, wholeRequest } from './support.ts'

describe.each(DIALECTS)('over %s', (dialect) => {
  test(`DT-A38 a multi-step tool loop reads, edits, runs and answers, over ${dialect}`, async () => {
    const cwd = await aFolder({ 'greeting.txt': 'hello world\n' })
    const model = await aModel(
      { text: 'Let me look.', calls: [call('read', { path: 'greeting.txt' })] },
      {
        calls: [
          call('edit', { path: 'greeting.txt', old_text: 'hello', new_text: 'goodbye' }),
          call('bash', { command: 'cat greeting.txt' }),
        ],
      },
      { text: 'Done.', cached: 7 },
    )
    const agent = anAgent(model, { dialect, key: 'route-key' })
    const session = await agent.session(cwd)
    const end = await agent.prompt(session, 'Say goodbye instead.')

    expect(end.stopReason).toBe('end_turn')
    expect(end.usage).toMatchObject({ inputTokens: 30, outputTokens: 15, cachedReadTokens: 7, totalTokens: 52 })
    expect(await textOf(join(cwd, 'greeting.txt'))).toBe('goodbye world\n')
    expect(saidText(agent)).toBe('Let me look.Done.')
    expect(toolResults(model)).toEqual([
      'hello world\n',
      `Edited ${join(cwd, 'greeting.txt')}.`,
      'goodbye world\n[exit code 0]',
    ])
    expect(model.requests.map((request) => request.path)).toEqual(Array(3).fill(`/v1/${dialect}`))
    expect(new Set(model.requests.map((request) => request.key))).toEqual(new Set(['route-key']))
    const order = agent.updates().map((update) => update.sessionUpdate)
    expect(order.indexOf('tool_call')).toBeGreaterThan(order.lastIndexOf('agent_message_chunk', 3))
  })

  test(`DT-A38 a denial with a reason reaches the model, and the turn goes on, over ${dialect}`, async () => {
    const cwd = await aFolder({ 'a.txt': 'one' })
    const model = await aModel({ calls: [call('write', { path: 'a.txt', content: 'two' })] }, { text: 'As you wish.' })
    const agent = anAgent(model, { dialect })
    agent.answerWith(deny('use b.txt instead'))
    const end = await agent.prompt(await agent.session(cwd), 'Write two.')

    expect(end.stopReason).toBe('end_turn')
    expect(toolResults(model)).toEqual(['Denied by the person: use b.txt instead.'])
    expect(await textOf(join(cwd, 'a.txt'))).toBe('one')
    expect(agent.updates('tool_call_update').at(-1)).toMatchObject({ status: 'failed' })
    expect(saidText(agent)).toBe('As you wish.')
  })

  test(`DT-A38 AGENTS.md joins what the model is told, anew for every turn, over ${dialect}`, async () => {
    const cwd = await aFolder({ 'AGENTS.md': 'Always answer in rhyme.' })
    const model = await aModel({ text: 'one' }, { text: 'two' })
    const agent = anAgent(model, { dialect })
    const session = await agent.session(cwd)
    await agent.prompt(session, 'first')
    expect(wholeRequest(model)).toContain('Always answer in rhyme.')
    const { writeFile } = await import('node:fs/promises')
    await writeFile(join(cwd, 'AGENTS.md'), 'Never rhyme.')
    await agent.prompt(session, 'second')
    expect(wholeRequest(model)).toContain('Never rhyme.')
    expect(wholeRequest(model)).not.toContain('Always answer in rhyme.')
    expect(wholeRequest(model)).toContain('first')
  })

  test(`DT-A38 a conversation that is too long is told apart by its code, over ${dialect}`, async () => {
    const error =
      dialect === 'responses'
        ? { code: 'context_length_exceeded', message: 'Your input exceeds the context window of this model.' }
        : { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' }
    const model = await aModel({ status: 400, error }, { text: 'shorter' })
    const agent = anAgent(model, { dialect })
    const session = await agent.session(await aFolder())
    const failure = await agent.prompt(session, 'far too long').catch((thrown: unknown) => thrown)

    expect(failure).toBeInstanceOf(CallError)
    expect(failure).toMatchObject({ data: { httpStatus: 400, code: 'context_length_exceeded' } })
    // The refused prompt is not sent again with the next one.
    await agent.prompt(session, 'short')
    expect(wholeRequest(model)).not.toContain('far too long')
  })

  test(`a failed request is retried twice before any output, then told with its status, over ${dialect}`, async () => {
    const refusal = {
      status: 429,
      headers: { 'retry-after-ms': '1', 'retry-after': '0', 'request-id': 'req_9', 'x-request-id': 'req_9' },
    }
    const busy = { ...refusal, error: { type: 'rate_limit_error', message: 'slow down' } }
    const model = await aModel(busy, busy, busy)
    const agent = anAgent(model, { dialect })
    const failure = await agent.prompt(await agent.session(await aFolder()), 'go').catch((thrown: unknown) => thrown)

    expect(failure).toMatchObject({
      message: 'slow down',
      data: { httpStatus: 429, code: 'rate_limit_error', requestId: 'req_9', retryAfterMs: 1 },
    })
    expect(model.requests).toHaveLength(3)
  })

  test(`a stream that fails half-way ends the prompt with its code, and what was said is kept, over ${dialect}`, async () => {
    const code = dialect === 'responses' ? 'server_is_overloaded' : 'overloaded_error'
    const fails = { [dialect === 'responses' ? 'code' : 'type']: code, message: 'try later' }
    const model = await aModel({ text: 'Half an answer', fails }, { text: 'ok' })
    const agent = anAgent(model, { dialect })
    const session = await agent.session(await aFolder())
    const failure = await agent.prompt(session, 'go').catch((thrown: unknown) => thrown)
    expect(failure).toMatchObject({ message: 'try later', data: { code } })
    expect(model.requests).toHaveLength(1)
    await agent.prompt(session, 'continue')
    expect(wholeRequest(model)).toContain('Half an answer')
  })

  test(`what the model's own limits end is said by the stop reason, over ${dialect}`, async () => {
    const model = await aModel({ text: 'half', stop: 'length' }, { text: 'no', stop: 'refusal' })
    const agent = anAgent(model, { dialect })
    const session = await agent.session(await aFolder())
    expect((await agent.prompt(session, 'long')).stopReason).toBe('max_tokens')
    expect((await agent.prompt(session, 'bad')).stopReason).toBe('refusal')
  })
})

test('a permission request carries the exact action, the whole diff and one-time options', async () => {
  const cwd = await aFolder({ 'a.txt': 'keep\nold\n' })
  const model = await aModel(
    {
      calls: [
        call('edit', { path: 'a.txt', old_text: 'old', new_text: 'new' }),
        call('bash', { command: 'echo "hi" | wc -c' }),
        call('read', { path: '/etc/hostname' }),
      ],
    },
    { text: 'ok' },
  )
  const agent = anAgent(model)
  await agent.prompt(await agent.session(cwd), 'go')
  const [edit, bash, read] = agent.permissions()
  const path = join(cwd, 'a.txt')

  expect(edit.toolCall).toMatchObject({ kind: 'edit', status: 'pending', locations: [{ path }] })
  expect(edit.toolCall.content).toEqual([{ type: 'diff', path, oldText: 'keep\nold\n', newText: 'keep\nnew\n' }])
  const change = { path, oldText: 'keep\nold\n', newText: 'keep\nnew\n' }
  expect(edit.toolCall._meta.wheelhouse.action).toEqual({ kind: 'edit', changes: [change] })
  const command = { kind: 'command', command: 'echo "hi" | wc -c', cwd, wrapper: null }
  expect(bash.toolCall._meta.wheelhouse.action).toEqual(command)
  expect(bash.toolCall.rawInput.command).toBe('echo "hi" | wc -c')
  expect(read.toolCall.title).toBe('Read /etc/hostname (outside the project)')
  expect(read.toolCall.locations).toEqual([{ path: '/etc/hostname' }])
  for (const request of [edit, bash, read]) {
    expect(PermissionAction.safeParse(request.toolCall._meta.wheelhouse.action).success).toBe(true)
    expect(request.options.map((option: { kind: string }) => option.kind)).toEqual(['allow_once', 'reject_once'])
  }
})

test('modes: ask and read_only ask before every tool, anything before none; each change is proven', async () => {
  const cwd = await aFolder({ 'a.txt': 'x' })
  const turn = () => [{ calls: [call('read', { path: 'a.txt' })] }, { text: 'ok' }]
  const model = await aModel(...turn(), ...turn(), ...turn())
  const agent = anAgent(model)
  const session = await agent.session(cwd)
  const asked: number[] = []
  for (const modeId of ['ask', 'read_only', 'anything']) {
    await agent.call('session/set_mode', { sessionId: session, modeId })
    await agent.prompt(session, 'go')
    asked.push(agent.permissions().length)
  }
  expect(asked).toEqual([1, 2, 2])
  const proofs = agent.updates('current_mode_update').map((update) => update.currentModeId)
  expect(proofs).toEqual(['ask', 'read_only', 'anything'])
  const failure = await agent.call('session/set_mode', { sessionId: session, modeId: 'yolo' }).catch((e: unknown) => e)
  expect(failure).toMatchObject({ code: -32_602 })
})

test('an unknown tool and a malformed input are told to the model, which goes on', async () => {
  const model = await aModel(
    { calls: [call('teleport', { to: 'moon' }), call('read', { path: 7 })] },
    { text: 'Sorry.' },
  )
  const agent = anAgent(model)
  const end = await agent.prompt(await agent.session(await aFolder()), 'go')
  expect(end.stopReason).toBe('end_turn')
  expect(toolResults(model)).toHaveLength(2)
  expect(agent.updates('tool_call_update').map((update) => update.status)).toEqual(['failed', 'failed'])
  expect(agent.permissions()).toEqual([])
})

test('a tool call id that the model uses twice is shown under two ids', async () => {
  const cwd = await aFolder({ 'a.txt': 'x' })
  const same = { id: 'same', name: 'read', input: { path: 'a.txt' } }
  const model = await aModel({ calls: [same] }, { calls: [same] }, { text: 'ok' })
  const agent = anAgent(model)
  await agent.prompt(await agent.session(cwd), 'go')
  expect(agent.updates('tool_call').map((update) => update.toolCallId)).toEqual(['same', 'same-2'])
})

test('a model that never stops calling is stopped after fifty requests', async () => {
  const cwd = await aFolder()
  const model = await aModel(...Array.from({ length: 51 }, () => ({ calls: [call('list', {})] })))
  const agent = anAgent(model)
  const end = await agent.prompt(await agent.session(cwd, 'anything'), 'go')
  expect(end.stopReason).toBe('max_turn_requests')
  expect(model.requests).toHaveLength(50)
})

test('effort and the window size go to the model and come back to the client', async () => {
  const model = await aModel({ text: 'ok', input: 100, output: 20 })
  const agent = anAgent(model, { effort: 'high', env: { WHEELHOUSE_MODEL_CONTEXT_TOKENS: '1000' } })
  await agent.prompt(await agent.session(await aFolder()), 'go')
  expect(model.requests[0]?.body['reasoning']).toMatchObject({ effort: 'high' })
  expect(agent.updates('usage_update')).toEqual([{ sessionUpdate: 'usage_update', used: 120, size: 1_000 }])
})

test('without a route a prompt is answered that a login is required', async () => {
  const agent = anAgent(null)
  const failure = await agent.prompt(await agent.session(await aFolder()), 'go').catch((thrown: unknown) => thrown)
  expect(failure).toMatchObject({ code: -32_000 })
})
