import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { createSystemClock } from '../../../src/main/platform/clock.ts'
import { createRehearsal } from '../../../src/main/rehearsal/index.ts'
import { createFakeIds } from '../../support/ids.ts'
import { createMemoryLog } from '../../support/log.ts'
import { events, post, startRehearsal } from './support.ts'

const RESPONSES = { model: 'rehearsal-1', input: 'Hello' }
const MESSAGES = { model: 'rehearsal-1', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] }
/** As Codex 0.171 puts it. */
const REFUSED_BY_USER = 'exec_command failed: CreateProcess { message: "Rejected(\\"rejected by user\\")" }'
const SENTENCE = 'This is a rehearsal: no model is behind it'

/** The shells of the agents that bring nothing else the script could use. */
const codexShell = (name: string, parameters: object) => ({
  type: 'function',
  name,
  parameters: { type: 'object', properties: parameters },
})
const CLAUDE_TOOLS = ['Read', 'Edit', 'Bash'].map((name) => ({
  name,
  input_schema: { type: 'object', properties: { command: { type: 'string' }, description: { type: 'string' } } },
}))

describe('Responses', () => {
  test('a stream has every event that its clients wait for, numbered', async () => {
    await using rehearsal = await startRehearsal()
    const tools = [codexShell('shell_command', { command: { type: 'string' } })]
    const answer = await post(`${rehearsal.origin}/v1/responses`, { ...RESPONSES, stream: true, tools })
    expect(answer.headers.get('content-type')).toContain('text/event-stream')
    const received = await events(answer)
    expect(received.map((event) => event['type']).filter((type, at, all) => type !== all[at - 1])).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.completed',
    ])
    expect(received.map((event) => event['sequence_number'])).toEqual(received.map((_, at) => at))
    expect(received.at(-1)).toMatchObject({
      response: {
        id: (received[0]!['response'] as { id: string }).id,
        status: 'completed',
        output: [{ type: 'message' }, { type: 'function_call', name: 'shell_command' }],
        usage: { input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } },
      },
    })
  })

  test('without stream the answer comes whole', async () => {
    await using rehearsal = await startRehearsal()
    const answer = await post(`${rehearsal.origin}/v1/responses`, RESPONSES)
    expect(await answer.json()).toMatchObject({
      object: 'response',
      status: 'completed',
      model: 'rehearsal-1',
      output: [{ content: [{ type: 'output_text', text: expect.stringContaining(SENTENCE) }] }],
      usage: { input_tokens: Math.ceil(JSON.stringify(RESPONSES).length / 4) },
    })
  })

  test.each([
    ['shell_command', { command: { type: 'string' }, workdir: { type: 'string' } }, { command: expect.any(String) }],
    ['exec_command', { cmd: { type: 'string' } }, { cmd: expect.any(String) }],
    [
      'shell',
      { command: { type: 'array', items: { type: 'string' } } },
      { command: ['bash', '-lc', expect.any(String)] },
    ],
  ])('Codex with %s is given one command, and then the closing words', async (name, parameters, expected) => {
    await using rehearsal = await startRehearsal()
    const tools = [codexShell(name, parameters), { type: 'custom', name: 'apply_patch' }]
    const surroundings = [
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'slowly' }] },
      {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: '# AGENTS.md instructions for /x\nslowly' }],
      },
      {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: '<environment_context>slowly</environment_context>' }],
      },
    ]
    const prompt = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Do something' }] }
    const ask = async (input: object[]): Promise<{ output: Record<string, string>[] }> =>
      (await (await post(`${rehearsal.origin}/v1/responses`, { ...RESPONSES, input, tools })).json()) as never
    const { output: first } = await ask([...surroundings, prompt])
    const call = first[1]!
    const input = JSON.parse(call['arguments']!) as Record<string, unknown>
    expect(input).toEqual(expected)
    expect(JSON.stringify(input)).toContain('>> rehearsal.md')
    const done = { type: 'function_call_output', call_id: call['call_id'], output: 'Exit code: 0\nOutput:\n' }
    const { output: second } = await ask([...surroundings, prompt, ...first, done])
    expect(JSON.stringify(second)).toContain('I added one line to `rehearsal.md`.')
    expect(second).toHaveLength(1)
  })

  test('DT-A02 Codex: a reason that comes behind the refusal is quoted', async () => {
    await using rehearsal = await startRehearsal()
    const tools = [codexShell('shell_command', { command: { type: 'string' } })]
    const input = [
      { role: 'user', content: 'run: touch x' },
      { type: 'function_call', call_id: 'c1', name: 'shell_command', arguments: '{"command":"touch x"}' },
      { type: 'function_call_output', call_id: 'c1', output: REFUSED_BY_USER },
    ]
    const say = async (more: object[]): Promise<string> =>
      await (await post(`${rehearsal.origin}/v1/responses`, { ...RESPONSES, input: [...input, ...more], tools })).text()
    expect(await say([])).toContain('You did not allow the command `touch x`. You gave no reason.')
    expect(await say([{ role: 'user', content: 'Not here' }])).toContain('Your reason: “Not here”.')
  })
})

describe('Messages', () => {
  test('a stream has every event that its clients wait for', async () => {
    await using rehearsal = await startRehearsal()
    const body = { ...MESSAGES, stream: true, tools: CLAUDE_TOOLS }
    const received = await events(await post(`${rehearsal.origin}/v1/messages?beta=true`, body))
    expect(received.map((event) => event['type']).filter((type, at, all) => type !== all[at - 1])).toEqual([
      'message_start',
      'ping',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
    expect(received[0]).toMatchObject({
      message: { role: 'assistant', model: 'rehearsal-1', usage: { output_tokens: 1 } },
    })
    expect(received.at(-2)).toMatchObject({
      delta: { stop_reason: 'tool_use' },
      usage: { output_tokens: expect.any(Number) },
    })
  })

  test('without stream the answer comes whole', async () => {
    await using rehearsal = await startRehearsal()
    const answer = await post(`${rehearsal.origin}/v1/messages`, MESSAGES)
    expect(await answer.json()).toMatchObject({
      type: 'message',
      stop_reason: 'end_turn',
      content: [{ type: 'text', text: expect.stringContaining(SENTENCE) }],
      usage: { input_tokens: Math.ceil(JSON.stringify(MESSAGES).length / 4), cache_read_input_tokens: 0 },
    })
  })

  test('tokens are counted as a request would count them', async () => {
    await using rehearsal = await startRehearsal()
    const answer = await post(`${rehearsal.origin}/v1/messages/count_tokens`, MESSAGES)
    expect(await answer.json()).toEqual({ input_tokens: Math.ceil(JSON.stringify(MESSAGES).length / 4) })
  })

  test('DT-A02 Claude plays the script of the shell and quotes a refusal, which is a result of its own words', async () => {
    await using rehearsal = await startRehearsal()
    const play = async (messages: object[]): Promise<{ content: Record<string, unknown>[] }> =>
      (await (
        await post(`${rehearsal.origin}/v1/messages`, { ...MESSAGES, messages, tools: CLAUDE_TOOLS })
      ).json()) as never
    const reminder = { type: 'text', text: '<system-reminder>run: rm -rf x\nslowly</system-reminder>' }
    const prompt = { role: 'user', content: [reminder, { type: 'text', text: 'Do something' }] }
    const { content } = await play([prompt])
    expect(content[1]).toMatchObject({
      type: 'tool_use',
      name: 'Bash',
      input: { command: "printf '%s\\n' 'Rehearsed.' >> rehearsal.md", description: expect.any(String) },
    })
    const resultOf = (text: string, isError: boolean): object[] => [
      prompt,
      { role: 'assistant', content },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: content[1]!['id'], content: text, is_error: isError }, reminder],
      },
    ]
    const said = async (text: string, isError: boolean): Promise<string> =>
      JSON.stringify((await play(resultOf(text, isError))).content)
    expect(await said('', false)).toContain('I added one line to `rehearsal.md`. This was a rehearsal.')
    expect(await said('The owner said no.', true)).toContain('Your reason: “The owner said no.”.')
    expect(await said('Exit code 1\nread-only', true)).toContain('It failed: Exit code 1')
  })
})

describe('the server', () => {
  test('one model, in a form that both kinds of client read', async () => {
    await using rehearsal = await startRehearsal()
    expect(await (await fetch(`${rehearsal.origin}/v1/models?limit=1000`)).json()).toMatchObject({
      object: 'list',
      data: [{ id: 'rehearsal-1', object: 'model', type: 'model' }],
      has_more: false,
    })
    expect((await fetch(rehearsal.origin, { method: 'HEAD' })).status).toBe(200)
  })

  test('what does not fit is refused in the words of the API', async () => {
    await using rehearsal = await startRehearsal()
    const at = (path: string): string => `${rehearsal.origin}${path}`
    const refusals = [
      await post(at('/v1/responses'), '{'),
      await post(at('/v1/responses'), { model: 'm' }),
      await post(at('/v1/messages'), { model: 'm', messages: [] }),
      await post(at('/v1/nothing'), {}),
      await post(at('/v1/messages/batches'), {}),
      await post(at('/v1/responses'), RESPONSES, { headers: { 'content-encoding': 'zstd' } }),
      await post(at('/v1/responses'), RESPONSES, { headers: { origin: 'https://example.invalid' } }),
    ]
    expect(refusals.map((answer) => answer.status)).toEqual([400, 400, 400, 404, 404, 415, 403])
    const bodies = (await Promise.all(refusals.map((answer) => answer.json()))) as { type?: string; error: unknown }[]
    expect(bodies.map((body) => body.type)).toEqual([
      undefined,
      undefined,
      'error',
      undefined,
      'error',
      undefined,
      undefined,
    ])
    for (const body of bodies) expect(body.error).toMatchObject({ message: expect.stringMatching(/\.$/) })
  })

  test('an upgrade is answered 426, which makes Codex fall back to HTTP at once', async () => {
    await using rehearsal = await startRehearsal()
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { connection: 'Upgrade', upgrade: 'websocket' }
      const request = httpRequest(`${rehearsal.origin}/v1/responses`, { headers, agent: false })
      request
        .once('response', (answer) => resolve(answer.resume().statusCode))
        .once('error', reject)
        .end()
    })
    expect(status).toBe(426)
  })

  test('a request over 32 MiB is refused', async () => {
    await using rehearsal = await startRehearsal()
    const answer = await post(`${rehearsal.origin}/v1/responses`, `"${'x'.repeat(32 * 1024 * 1024)}"`)
    expect(answer.status).toBe(413)
  })

  test('it listens on loopback alone, once', async () => {
    const rehearsal = createRehearsal({ clock: createSystemClock(), ids: createFakeIds(), log: createMemoryLog() })
    const [first, second] = await Promise.all([rehearsal.start(), rehearsal.start()])
    expect(first.origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(second).toEqual(first)
    await rehearsal.stop()
    await rehearsal.stop()
    await expect(fetch(first.origin)).rejects.toThrow('fetch failed')
    const again = await rehearsal.start()
    expect((await fetch(again.origin)).status).toBe(200)
    await rehearsal.stop()
  })

  test('stop cuts an answer in progress', async () => {
    const rehearsal = createRehearsal({ clock: createSystemClock(), ids: createFakeIds(), log: createMemoryLog() })
    const { origin } = await rehearsal.start()
    const answer = await post(`${origin}/v1/responses`, { ...RESPONSES, input: 'slowly', stream: true })
    const reader = answer.body!.getReader()
    expect((await reader.read()).done).toBe(false)
    await rehearsal.stop()
    const rest = async (): Promise<void> => {
      while (!(await reader.read()).done) continue
    }
    await expect(rest()).rejects.toThrow('terminated')
  })

  test('a client that goes away leaves nothing behind', async () => {
    const log = createMemoryLog()
    const rehearsal = createRehearsal({ clock: createSystemClock(), ids: createFakeIds(), log })
    const { origin } = await rehearsal.start()
    const leave = new AbortController()
    const body = { ...MESSAGES, messages: [{ role: 'user', content: 'slowly' }], stream: true }
    const answer = await post(`${origin}/v1/messages`, body, { signal: leave.signal })
    await answer.body!.getReader().read()
    leave.abort()
    expect((await fetch(origin)).status).toBe(200)
    await rehearsal.stop()
    expect(log.entries.filter((entry) => entry.level === 'error')).toEqual([])
  })

  test('noise on the port is no error of ours', async () => {
    const log = createMemoryLog()
    const rehearsal = createRehearsal({ clock: createSystemClock(), ids: createFakeIds(), log })
    const { origin } = await rehearsal.start()
    const socket = connect(Number(new URL(origin).port), '127.0.0.1')
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    socket.end('\u0000\u0001 nonsense\r\n\r\n').resume()
    await closed
    expect((await fetch(origin)).status).toBe(200)
    await rehearsal.stop()
    expect(log.entries.filter((entry) => entry.level === 'error')).toEqual([])
  })
})
