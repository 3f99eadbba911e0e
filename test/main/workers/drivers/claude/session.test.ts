import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createSecret } from '../../../../../src/main/platform/index.ts'
import type { InteractionPort, McpServer, RoutePlan, SessionConfig } from '../../../../../src/main/workers/index.ts'
import { allow, createHarness, failure, prompt, refuse, until } from '../../harness.ts'
import type { Harness, HarnessOptions } from '../../harness.ts'
import { CONVERSATION, answerOf, claudeFixture } from '../claude-fixture.ts'

const harness = (scenario: string, more: Omit<HarnessOptions, 'scenario'> = {}): Harness =>
  createHarness(claudeFixture, { scenario, ...more })
const allowing = (scenario: string, env: Record<string, string> = {}): Harness =>
  harness(scenario, { env, decide: () => Promise.resolve(allow) })

const option = (h: Harness, name: string): string | undefined => {
  const { argv } = h.report()
  return argv.includes(name) ? argv[argv.indexOf(name) + 1] : undefined
}
const decisions = (h: Harness): unknown[] =>
  h
    .report()
    .wire.map(answerOf)
    .filter((answer) => answer?.['behavior'] !== undefined)
const initialized = (h: Harness): unknown => h.report().wire[0]?.['request']

const KEY = 'the-route-id-of-this-test-0123456789'
const ROUTE: RoutePlan = {
  argv: ['--model', 'routed'],
  config: {},
  key: createSecret(KEY),
  envSet: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1', CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR: '3' },
  envUnset: ['ANTHROPIC_API_KEY'],
}
const SERVER: McpServer = {
  name: 'wheelhouse',
  command: process.execPath,
  args: ['bridge.js'],
  env: { TASK: 'a-secret-of-the-server' },
}
const withServer = (more: Partial<SessionConfig> = {}) => ({
  change: (cfg: SessionConfig): SessionConfig => ({ ...cfg, mcpServers: [SERVER], ...more }),
})

test.each([
  ['read_only', 'default', true],
  ['ask', 'default', true],
  ['edits', 'acceptEdits', false],
  ['anything', 'bypassPermissions', false],
] as const)('WK-46 mode %s is the flag %s, proven by what a turn opens with', async (mode, flag, hooked) => {
  await using h = harness('ok', { mode })
  const session = await h.open()
  expect(session.facts).toMatchObject({ mode, modeVerified: false })
  await session.prompt(prompt('hello'))
  expect(session.facts).toMatchObject({ mode, modeVerified: true, agentVersion: '2.1.197', model: 'fake-large' })
  expect(option(h, '--permission-mode')).toBe(flag)
  expect(initialized(h)).toEqual({
    subtype: 'initialize',
    hooks: hooked ? { PreToolUse: [{ matcher: '*', hookCallbackIds: ['ask'] }] } : null,
  })
  expect(option(h, '--tools')?.includes('Bash')).toBe(mode !== 'read_only')
  expect(JSON.stringify(h.report().wire)).not.toContain('set_permission_mode')
})

test('WK-46 an allow hands the input back as it came, and never a suggestion', async () => {
  const input = { command: 'ls', description: 'List', odd: { deep: [1, 'two', null] } }
  await using h = allowing('ask-as', { FAKE_ASK: JSON.stringify({ tool: 'Bash', input }) })
  const session = await h.open()
  expect(await session.prompt(prompt('hello'))).toMatchObject({ stop: 'end_turn', refusals: [] })
  expect(decisions(h)).toEqual([{ behavior: 'allow', updatedInput: input }])
})

test('WK-46 a tool outside the list is unsafe', async () => {
  await using h = harness('foreign-tool')
  const session = await h.open()
  expect(await failure(session.prompt(prompt('hello')))).toMatchObject({ code: 'unsafe_mode' })
})

test('WK-61 a call that ran without a question is unsafe; one that failed is not', async () => {
  await using h = harness('unasked')
  expect(await failure((await h.open()).prompt(prompt('hello')))).toMatchObject({ code: 'unsafe_mode' })
  await using failed = harness('unasked-fails')
  expect(await (await failed.open()).prompt(prompt('hello'))).toMatchObject({ stop: 'end_turn' })
  await using open = harness('unasked', { mode: 'anything' })
  expect(await (await open.open()).prompt(prompt('hello'))).toMatchObject({ stop: 'end_turn' })
})

test('WK-13 a refusal tells the model why, and the turn goes on', async () => {
  const reason = 'Only below the folder tests.'
  const env = { FAKE_ASK: JSON.stringify({ tool: 'Bash', input: { command: 'touch x' } }) }
  await using h = harness('ask-as', { env, decide: () => Promise.resolve({ ...refuse, reason }) })
  const session = await h.open()
  expect(session.refusalReason).toBe('in_answer')
  expect(await session.prompt(prompt('hello'))).toMatchObject({ stop: 'end_turn', refusals: [{ tool: 'Bash' }] })
  expect(decisions(h)).toEqual([{ behavior: 'deny', message: `The person said no to this. Reason: ${reason}` }])
  expect(h.content.find((item) => item.kind === 'tool' && item.phase === 'finished')).toMatchObject({
    status: 'declined',
  })
})

test('a refusal that Claude Code made by itself is on record once', async () => {
  await using h = harness('denied-itself')
  const { refusals } = await (await h.open()).prompt(prompt('hello'))
  expect(refusals).toMatchObject([{ toolCallId: 'call-1', tool: 'Bash', by: 'agent' }])
})

test('a command is asked about where its shell stands by then', async () => {
  const asked = { tool: 'Bash', input: { command: 'ls -la' }, cwd: '/elsewhere' }
  await using h = harness('ask-as', { env: { FAKE_ASK: JSON.stringify(asked) } })
  await (await h.open()).prompt(prompt('hello'))
  expect(h.requests).toMatchObject([
    {
      tool: 'Bash',
      kind: 'execute',
      action: { kind: 'command', command: 'ls -la', cwd: '/elsewhere', wrapper: null },
      complete: true,
    },
  ])
})

test('WK-67 ids of any form are answered once, before the message has ended; null and a repeated one are refused', async () => {
  await using h = allowing('ask-ids')
  const session = await h.open()
  await session.prompt(prompt('hello'))
  const ids = h
    .report()
    .wire.filter((line) => answerOf(line)?.['behavior'] === 'allow')
    .map((line) => (line['response'] as { request_id: unknown }).request_id)
  expect(new Set(ids)).toEqual(new Set([0, -1, 'a']))
  expect(ids).toHaveLength(3)

  const decision = Promise.withResolvers<typeof allow>()
  await using odd = harness('ask-null', { decide: () => decision.promise })
  const turn = (await odd.open()).prompt(prompt('hello'))
  const errors = (): unknown[] =>
    odd.report().wire.flatMap((line) => {
      const response = line['response'] as { subtype?: string; request_id?: unknown } | undefined
      return response?.subtype === 'error' ? [response.request_id] : []
    })
  await until('both are refused', () => errors().length === 2)
  decision.resolve(allow)
  await turn
  expect(errors()).toEqual([null, 7])
  expect(odd.requests.map(({ toolCallId }) => toolCallId)).toEqual(['call-1'])
})

test('WK-70 a question that is taken back is withdrawn', async () => {
  const aborted = Promise.withResolvers<void>()
  await using h = harness('withdraw', {
    decide: (_request, signal) => {
      signal.addEventListener('abort', () => aborted.resolve())
      return new Promise(() => undefined)
    },
  })
  const turn = (await h.open()).prompt(prompt('hello'))
  await until('it asks', () => h.requests.length === 1)
  h.openGate()
  await aborted.promise
  expect((await turn).refusals).toMatchObject([{ by: 'withdrawn' }])
  expect(h.told).toEqual([[h.requests[0]?.requestId, 'withdrawn']])
})

test('what is no question about a tool is not supported', async () => {
  await using h = harness('asks-oddly')
  expect(await (await h.open()).prompt(prompt('hello'))).toMatchObject({ stop: 'end_turn', refusals: [] })
  expect(h.requests).toEqual([])
})

test('WK-69 `success` with `is_error` is a failure, and what was made up to say so is no word of the agent', async () => {
  const result = { is_error: true, result: 'Not logged in' }
  await using h = harness('result', {
    env: { FAKE_RESULT: JSON.stringify(result), FAKE_ERROR: 'authentication_failed' },
  })
  expect(await failure((await h.open()).prompt(prompt('hello')))).toMatchObject({ code: 'login_required' })
  expect(JSON.stringify(h.content)).not.toContain('API Error')
})

test('WK-75 each retry is told, and the turn has one result', async () => {
  await using h = harness('retries')
  const session = await h.open()
  expect(await session.prompt(prompt('hello'))).toMatchObject({ stop: 'end_turn' })
  await session.close()
  const retries: unknown[] = []
  for await (const update of session.updates()) if (update.kind === 'retrying') retries.push(update)
  expect(retries).toMatchObject([
    { attempt: 1, maxAttempts: 4, httpStatus: 429, retryAfterMs: 1_015 },
    { attempt: 2, maxAttempts: 4, httpStatus: 503 },
  ])
})

test('WK-66 a busy agent that ignores the end of its input is cancelled first, and gone', async () => {
  await using h = harness('busy-ignores-eof')
  const session = await h.open()
  const turn = failure(session.prompt(prompt('hello')))
  await until('it works', () => h.content.some((item) => item.kind === 'text'))
  const outcome = await session.close()
  expect(outcome).toMatchObject({ kind: 'gone', strays: [] })
  // It leaves at the cancel; its input may have ended by then, or not.
  expect(['none', 'stdin']).toContain(outcome.kind === 'gone' ? outcome.strongest : null)
  expect(await turn).toMatchObject({ code: 'session_ended' })
  expect(claudeFixture.isCancel(h.report().wire.at(-1) ?? {})).toBe(true)
})

test('WK-68 there is no steering, and a turn that it began by itself is interrupted', async () => {
  await using h = allowing('foreign-turn')
  const session = await h.open()
  expect(session.steer).toBeUndefined()
  await session.prompt(prompt('hello'))
  await until('it is interrupted', () => h.report().wire.some(claudeFixture.isCancel))
  expect(await failure(session.prompt(prompt('meanwhile')))).toMatchObject({ code: 'turn_in_flight' })
  expect(h.report().wire.filter(claudeFixture.isPrompt)).toHaveLength(1)
  expect(h.requests).toEqual([])
  h.openGate()
  let next: unknown = null
  await until('the next prompt works', async () => {
    next = await session.prompt(prompt('again')).catch(() => null)
    return next !== null
  })
  expect(next).toMatchObject({ stop: 'end_turn' })
})

test('another conversation, and a result before the proof, are not verified', async () => {
  for (const scenario of ['other-session', 'result-first']) {
    await using h = harness(scenario)
    const session = await h.open()
    expect(await failure(session.prompt(prompt('hello')))).toMatchObject({ code: 'session_unverified' })
  }
})

test('WK-43 servers: a given one that is missing, and with `exact` a foreign one, are a mismatch', async () => {
  await using missing = harness('mcp-missing', withServer())
  expect(await failure(missing.open())).toMatchObject({ code: 'mcp_mismatch', started: 'ended' })
  await using foreign = harness('mcp-foreign', withServer({ mcp: 'exact' }))
  const session = await foreign.open()
  expect(await failure(session.prompt(prompt('hello')))).toMatchObject({ code: 'mcp_mismatch' })
  expect(foreign.report().argv).toContain('--strict-mcp-config')
  await using beside = harness('mcp-foreign', withServer())
  expect(await (await beside.open()).prompt(prompt('hello'))).toMatchObject({ stop: 'end_turn' })
})

test('servers stand in a file of ours alone, with the mark, until the first turn opened', async () => {
  await using h = harness('ok', withServer({ mcp: 'exact' }))
  const session = await h.open()
  const file = option(h, '--mcp-config') ?? ''
  expect(file).toBe(`${h.cfg.privateDir}/mcp.json`)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
    mcpServers: {
      wheelhouse: {
        type: 'stdio',
        command: SERVER.command,
        args: SERVER.args,
        env: { ...SERVER.env, WHEELHOUSE_WORKER: h.cfg.workerId },
      },
    },
  })
  expect(JSON.stringify(h.report().argv)).not.toContain('a-secret-of-the-server')
  await session.prompt(prompt('hello'))
  await until('it is gone', () => !existsSync(file))
})

test('WK-35 WK-53 servers that cannot be handed over leave nothing', async () => {
  const secret = createSecret('bridge.js')
  await using told = harness('ok', {
    change: (cfg) => ({ ...cfg, mcpServers: [SERVER], redaction: { ...cfg.redaction, secrets: [secret] } }),
  })
  expect(await failure(told.open())).toMatchObject({ code: 'worker_unusable', started: 'never' })
  expect(readdirSync(told.cfg.privateDir)).toEqual([])
  await using full = harness('ok', withServer())
  mkdirSync(`${full.cfg.privateDir}/mcp.json`)
  expect(await failure(full.open())).toMatchObject({ code: 'private_dir_failed', started: 'never' })
})

test('a route is argv and environment without its key, which is on descriptor 3 until the handshake is over', async () => {
  await using h = harness('ok', {
    env: { ANTHROPIC_API_KEY: 'of-the-person' },
    change: (cfg) => ({ ...cfg, route: ROUTE }),
  })
  const session = await h.open()
  const { env, argv } = h.report()
  expect(env).toMatchObject({
    ...ROUTE.envSet,
    CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST: '1',
    CLAUDE_CODE_MAX_RETRIES: '4',
  })
  expect(env).not.toHaveProperty('ANTHROPIC_API_KEY')
  expect(argv.slice(-2)).toEqual(['--model', 'routed'])
  expect(JSON.stringify([env, argv])).not.toContain(KEY)
  expect(h.descriptors().some((line) => line.startsWith('3 '))).toBe(true)
  expect(readFileSync(`/proc/${session.process.pid}/fd/3`, 'utf8')).toBe('')
})

test('trust, folders, model and effort are flags; what is no name of one is refused', async () => {
  await using h = harness('ok', {
    change: (cfg) => ({ ...cfg, folderTrusted: true, addDirs: ['/tmp'], model: 'opus', effort: 'high' }),
  })
  await h.open()
  expect(option(h, '--setting-sources')).toBe('user,project,local')
  expect(option(h, '--add-dir')).toBe('/tmp')
  expect([option(h, '--model'), option(h, '--effort')]).toEqual(['opus', 'high'])
  for (const wrong of [{ model: '--yolo' }, { model: 'a b' }, { effort: 'minimal' as const }]) {
    await using refused = harness('ok', { change: (cfg) => ({ ...cfg, ...wrong }) })
    expect(await failure(refused.open())).toMatchObject({ code: 'worker_unusable', started: 'never' })
  }
  await using untrusted = harness('ok')
  await untrusted.open()
  expect(option(untrusted, '--setting-sources')).toBe('user')
})

test('a fork begins a conversation of its own from another one', async () => {
  await using h = harness('ok', { change: (cfg) => ({ ...cfg, fork: { agentSessionId: CONVERSATION } }) })
  const session = await h.open()
  expect(option(h, '--resume')).toBe(CONVERSATION)
  expect(option(h, '--session-id')).toBe(session.id)
  expect(session.id).not.toBe(CONVERSATION)
})

test('usage: each request fills the context, the result sums the turn and the cost so far', async () => {
  await using h = harness('ok')
  const session = await h.open()
  const first = await session.prompt(prompt('hello'))
  const second = await session.prompt(prompt('again'))
  const turn = { inputTokens: 60, cachedInputTokens: 40, cacheWriteTokens: 5, outputTokens: 10, reasoningTokens: null }
  expect(first.usage).toEqual({ ...turn, contextUsed: 110, contextSize: 1_000, costUsd: 0.25 })
  expect(second.usage).toMatchObject({ ...turn, costUsd: 0.5 })
})

test('text that comes whole is told once; what a sub-agent says is not', async () => {
  const said = (h: Harness): string[] => h.content.flatMap((item) => (item.kind === 'text' ? [item.text] : []))
  await using whole = harness('whole-only')
  await (await whole.open()).prompt(prompt('/cost'))
  expect(said(whole)).toEqual(['Not in pieces.'])
  await using inside = allowing('sub-agent')
  await (await inside.open()).prompt(prompt('hello'))
  expect(said(inside)).toEqual([])
  expect(inside.requests.map(({ tool }) => tool)).toEqual(['Agent', 'Bash'])
  const finished = inside.content.filter((item) => item.kind === 'tool' && item.phase === 'finished')
  expect(finished).toMatchObject([
    { toolCallId: 'inner', title: 'ls', status: 'completed' },
    { toolCallId: 'task-1', title: 'Sub-agent: look', content: [{ type: 'text', text: 'its result' }] },
  ])
})

test('WK-78 a prompt carries pictures, names other files, and as literal keeps its signs', async () => {
  await using h = harness('ok')
  const picture = `${h.dir}/one.png`
  writeFileSync(picture, 'png!')
  const input = (path: string, mediaType: string) => ({ path, mediaType, filename: 'one', bytes: 4 })
  const session = await h.open()
  await session.prompt(prompt('look', { inputs: [input(picture, 'image/png'), input('/notes.txt', 'text/plain')] }))
  await session.prompt(prompt('/cost of @notes.txt, a@b', { literal: true }))
  const contents = h.report().wire.flatMap((line) => (line['type'] === 'user' ? [line['message']] : []))
  expect(contents).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'look\n\nAttached files:\n- /notes.txt' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'cG5nIQ==' } },
      ],
    },
    { role: 'user', content: '\n/cost of @\u{200B}notes.txt, a@b' },
  ])
})

const ASKED = {
  tool: 'AskUserQuestion',
  input: { questions: [{ question: 'Which?', header: 'Colour', options: [{ label: 'Red', description: 'r' }] }] },
}

test('WK-36 a question in words is no permission: its answer goes into its input, and without one the model is told', async () => {
  const env = { FAKE_ASK: JSON.stringify(ASKED) }
  const asked: unknown[] = []
  const asking = (answer: Awaited<ReturnType<InteractionPort['ask']>>): Harness =>
    harness('ask-as', {
      env,
      change: (cfg) => ({
        ...cfg,
        interactions: {
          ask(request) {
            asked.push(request.body)
            return Promise.resolve(answer)
          },
        },
      }),
    })
  await using h = asking({ kind: 'answered', body: { '0': 'Red' } })
  expect(await (await h.open()).prompt(prompt('hello'))).toMatchObject({ stop: 'end_turn', refusals: [] })
  expect(h.requests).toEqual([])
  expect(asked).toMatchObject([{ fields: [{ id: '0', label: 'Colour: Which?', kind: 'choice', other: true }] }])
  expect(decisions(h)).toMatchObject([{ behavior: 'allow', updatedInput: { answers: { 'Which?': 'Red' } } }])
  expect(h.report().argv.join(' ')).toContain('AskUserQuestion')

  await using other = asking({ kind: 'declined' })
  expect(await (await other.open()).prompt(prompt('hello'))).toMatchObject({ stop: 'end_turn', refusals: [] })
  expect(decisions(other)).toMatchObject([{ behavior: 'deny' }])
})
