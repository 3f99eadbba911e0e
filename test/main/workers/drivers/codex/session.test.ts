import { expect, test } from 'vitest'
import { createSecret } from '../../../../../src/main/platform/index.ts'
import type {
  InteractionRequest,
  McpServer,
  PermissionRules,
  RoutePlan,
  SessionConfig,
} from '../../../../../src/main/workers/index.ts'
import { allow, createHarness, failure, prompt, refuse, until } from '../../harness.ts'
import type { Harness, HarnessOptions } from '../../harness.ts'
import { THREAD, codexFixture } from '../codex-fixture.ts'

const harness = (scenario: string, more: Omit<HarnessOptions, 'scenario'> = {}): Harness =>
  createHarness(codexFixture, { scenario, ...more })

const sent = (h: Harness, method: string): Record<string, unknown>[] =>
  h.report().wire.flatMap((line) => (line['method'] === method ? [line['params'] as Record<string, unknown>] : []))
const answers = (h: Harness): unknown[] =>
  h.report().wire.flatMap((line) => (line['method'] === undefined ? [line['result'] ?? line['error']] : []))

const asking = (question: object, item?: object): Record<string, string> => ({
  FAKE_ASK: JSON.stringify(question),
  ...(item === undefined ? {} : { FAKE_ITEM: JSON.stringify(item) }),
})
const COMMAND = 'item/commandExecution/requestApproval'
const AMENDMENT = { acceptWithExecpolicyAmendment: { execpolicy_amendment: ['ls'] } }
const ROUTE: RoutePlan = {
  argv: ['-c', 'forced_login_method="api"'],
  config: { openai_base_url: 'http://127.0.0.1:1/v1', model: 'routed' },
  key: createSecret('the-route-id-of-this-test-0123456789'),
  envSet: { NO_PROXY: '127.0.0.1' },
  envUnset: [],
}
const routed = (cfg: SessionConfig): SessionConfig => ({ ...cfg, route: ROUTE })
const SERVER: McpServer = { name: 'wheelhouse', command: process.execPath, args: ['bridge.js'], env: {} }

test.each<[Partial<PermissionRules>, unknown, unknown]>([
  [{ mode: 'read_only' }, 'untrusted', { type: 'readOnly', networkAccess: false }],
  [{ mode: 'ask' }, 'untrusted', { type: 'dangerFullAccess' }],
  [
    { mode: 'ask', sandbox: 'workspace' },
    'untrusted',
    {
      type: 'workspaceWrite',
      writableRoots: ['/tmp'],
      networkAccess: true,
      excludeTmpdirEnvVar: false,
      excludeSlashTmp: false,
    },
  ],
  [
    { mode: 'edits' },
    'on-request',
    {
      type: 'workspaceWrite',
      writableRoots: [],
      networkAccess: false,
      excludeTmpdirEnvVar: true,
      excludeSlashTmp: true,
    },
  ],
  [{ mode: 'anything' }, 'never', { type: 'dangerFullAccess' }],
])(
  'WK-80 WK-63 %o starts read-only, is proven, and is said again with every turn',
  async (rules, approvalPolicy, sandboxPolicy) => {
    await using h = harness('ok', { rules, change: (cfg) => ({ ...cfg, addDirs: ['/tmp'] }) })
    const session = await h.open()
    expect(session.facts).toMatchObject({ mode: rules.mode, modeVerified: true })
    expect(sent(h, 'thread/start')).toMatchObject([{ approvalPolicy: 'untrusted', sandbox: 'read-only' }])
    await session.prompt(prompt('hello'))
    expect(sent(h, 'turn/start')).toMatchObject([{ approvalPolicy, sandboxPolicy, approvalsReviewer: 'user' }])
    expect(sent(h, 'turn/start')[0]?.['sandboxPolicy']).toEqual(sandboxPolicy)
  },
)

test('WK-47 a refusal is a decline, offered or not, and the turn goes on', async () => {
  const question = { itemId: 'c1', method: COMMAND, params: { availableDecisions: ['accept', AMENDMENT, 'cancel'] } }
  await using h = harness('ask-as', { env: asking(question) })
  const session = await h.open()
  expect(await session.prompt(prompt('hello'))).toMatchObject({ stop: 'end_turn', refusals: [{ toolCallId: 'c1' }] })
  expect(answers(h)).toEqual([{ decision: 'decline' }])
  expect(JSON.stringify(h.content)).toContain('went on')
})

test('WK-47 an allow that is not offered for once is a refusal', async () => {
  const question = { itemId: 'c1', method: COMMAND, params: { availableDecisions: [AMENDMENT, 'acceptForSession'] } }
  await using h = harness('ask-as', { env: asking(question), decide: () => Promise.resolve(allow) })
  const session = await h.open()
  await session.prompt(prompt('hello'))
  expect(answers(h)).toEqual([{ decision: 'decline' }])
  expect(h.refusals).toMatchObject([{ by: 'bounds' }])
})

test.each(['auto-review', 'writable-start'])('WK-47 %s is unsafe before any prompt', async (scenario) => {
  await using h = harness(scenario)
  expect(await failure(h.open())).toMatchObject({ code: 'unsafe_mode', started: 'ended' })
  expect(sent(h, 'turn/start')).toEqual([])
})

test('WK-47 a foreign server, or a given one that is missing, is a mismatch', async () => {
  await using foreign = harness('mcp-foreign', { change: (cfg) => ({ ...cfg, mcp: 'exact', mcpServers: [SERVER] }) })
  expect(await failure(foreign.open())).toMatchObject({ code: 'mcp_mismatch', started: 'ended' })
  await using missing = harness('mcp-missing', { change: (cfg) => ({ ...cfg, mcpServers: [SERVER] }) })
  expect(await failure(missing.open())).toMatchObject({ code: 'mcp_mismatch', started: 'ended' })
  await using taken = harness('ok', {
    env: { FAKE_CONFIG: JSON.stringify({ mcp_servers: { wheelhouse: {} } }) },
    change: (cfg) => ({ ...cfg, mcpServers: [SERVER] }),
  })
  expect(await failure(taken.open())).toMatchObject({ code: 'mcp_mismatch' })
  await using beside = harness('mcp-foreign', { change: (cfg) => ({ ...cfg, mcpServers: [SERVER] }) })
  expect((await beside.open()).id).toBe(THREAD)
})

test('WK-47 WK-64 the route id goes in by the login alone: no argv, no environment', async () => {
  await using h = harness('ok', { change: routed })
  const session = await h.open()
  const key = 'the-route-id-of-this-test-0123456789'
  expect(sent(h, 'account/login/start')).toEqual([{ type: 'apiKey', apiKey: key }])
  expect(sent(h, 'thread/start')).toMatchObject([{ model: 'routed', config: ROUTE.config }])
  const { argv, env } = h.report()
  expect(JSON.stringify([argv, env, sent(h, 'thread/start')])).not.toContain(key)
  expect(argv).toContain('forced_login_method="api"')
  expect(argv.join(' ')).not.toContain('openai_base_url')
  expect(session.runtime()).toEqual({ modelId: 'routed', effort: null })
})

test('a Codex that keeps its own login is not given a route', async () => {
  await using h = harness('logged-in', { change: routed })
  expect(await failure(h.open())).toMatchObject({ code: 'model_profile_unsupported', started: 'ended' })
  expect(sent(h, 'account/login/start')).toEqual([])
})

test('WK-10 a build that refuses the update proves its mode by the turn', async () => {
  await using h = harness('proof-by-turn')
  const session = await h.open()
  expect(session.facts.modeVerified).toBe(false)
  expect(h.workers.driver('codex').capabilities().modeProof).toBe('first_prompt')
  expect(await session.prompt(prompt('hello'))).toMatchObject({ stop: 'end_turn' })
  expect(session.facts.modeVerified).toBe(true)
  await using never = harness('no-proof')
  const other = await never.open()
  expect(await failure(other.prompt(prompt('hello')))).toMatchObject({ code: 'unsafe_mode' })
})

test('WK-67 ids 0, -1 and "a" are each answered once, as they came', async () => {
  await using h = harness('ask-ids', { decide: () => Promise.resolve(allow) })
  const session = await h.open()
  await session.prompt(prompt('hello'))
  const ids = h.report().wire.flatMap((line) => (line['method'] === undefined ? [line['id']] : []))
  expect(new Set(ids)).toEqual(new Set([0, -1, 'a']))
  expect(ids).toHaveLength(3)
})

test('WK-67 a question without an id, or with one in use, is refused undecided', async () => {
  const decision = Promise.withResolvers<typeof allow>()
  await using h = harness('ask-null', { decide: () => decision.promise })
  const refused = (): unknown[] => h.report().wire.flatMap((line) => ('error' in line ? [line['id']] : []))
  const session = await h.open()
  const turn = session.prompt(prompt('hello'))
  await until('both are refused', () => refused().length === 2)
  decision.resolve(allow)
  await turn
  expect(h.requests.map(({ toolCallId }) => toolCallId)).toEqual(['call-1'])
  expect(refused()).toEqual([null, 7])
})

test('WK-68 a turn that we did not start is interrupted, and no prompt goes into it', async () => {
  await using h = harness('foreign-turn')
  const session = await h.open()
  await until('it is interrupted', () => sent(h, 'turn/interrupt').length === 1)
  expect(await failure(session.prompt(prompt('hello')))).toMatchObject({ code: 'turn_in_flight' })
  expect(sent(h, 'turn/start')).toEqual([])
  h.openGate()
  let stop: unknown = null
  await until('a prompt works', async () => {
    stop = await session.prompt(prompt('again')).then(
      (result) => result.stop,
      () => null,
    )
    return stop !== null
  })
  expect(stop).toBe('end_turn')
})

test('WK-68 steering goes into the running turn; idle it is refused', async () => {
  await using h = harness('steered-turn')
  const session = await h.open()
  const { signal } = new AbortController()
  expect(await session.steer?.('more', signal)).toBe('refused')
  const turn = session.prompt(prompt('hello'))
  await until('it works', () => h.content.length > 0)
  expect(await session.steer?.('left, please', signal)).toBe('taken')
  expect(await turn).toMatchObject({ stop: 'end_turn' })
  expect(sent(h, 'turn/steer')).toMatchObject([{ input: [{ type: 'text', text: 'left, please' }] }])
  expect(await session.steer?.('late', signal)).toBe('refused')
})

test("WK-13 a refusal's reason goes into the running turn", async () => {
  const reason = 'not in this folder'
  await using h = harness('refuse-one', { decide: () => Promise.resolve({ ...refuse, reason }) })
  const session = await h.open()
  expect(session.refusalReason).toBe('steer')
  await session.prompt(prompt('hello'))
  await until('the reason is told', () => sent(h, 'turn/steer').length === 1)
  expect(sent(h, 'turn/steer')).toMatchObject([{ input: [{ text: reason }] }])
})

test('WK-70 a question that Codex resolves by itself is withdrawn', async () => {
  const aborted = Promise.withResolvers<void>()
  await using h = harness('withdraw', {
    decide: (_request, signal) => {
      signal.addEventListener('abort', () => aborted.resolve())
      return new Promise(() => undefined)
    },
  })
  const session = await h.open()
  const turn = session.prompt(prompt('hello'))
  await until('it asks', () => h.requests.length === 1)
  h.openGate()
  await aborted.promise
  expect(await turn).toMatchObject({ refusals: [{ by: 'withdrawn' }] })
  expect(h.told).toEqual([[h.requests[0]?.requestId, 'withdrawn']])
})

test('WK-71 a question about a patch shows the patch of its item', async () => {
  const changes = [{ path: '/p/a.txt', kind: { type: 'update', move_path: null }, diff: '@@ -1 +1 @@\n-x\n+y\n' }]
  await using h = harness('ask-as', {
    env: asking(
      { itemId: 'p1', method: 'item/fileChange/requestApproval', params: { grantRoot: null } },
      { type: 'fileChange', id: 'p1', changes, status: 'inProgress' },
    ),
    decide: () => Promise.resolve(allow),
  })
  const session = await h.open()
  await session.prompt(prompt('hello'))
  expect(h.requests).toMatchObject([
    {
      toolCallId: 'p1',
      tool: 'fileChange',
      kind: 'edit',
      locations: ['/p/a.txt'],
      action: { kind: 'edit', changes: [{ path: '/p/a.txt', oldText: 'x\n', newText: 'y\n' }] },
      complete: true,
    },
  ])
  expect(answers(h)).toEqual([{ decision: 'accept' }])
})

test.each([
  ['an unknown item', { itemId: 'p9', method: 'item/fileChange/requestApproval', params: {} }],
  ['a whole root', { itemId: 'p1', method: 'item/fileChange/requestApproval', params: { grantRoot: '/' } }],
  [
    'wider rights with it',
    { itemId: 'c1', method: COMMAND, params: { command: 'ls', additionalPermissions: { network: {} } } },
  ],
  ['the network', { itemId: 'c1', method: COMMAND, params: { command: 'ls', networkApprovalContext: { host: 'x' } } }],
  ['no command at all', { itemId: 'c1', method: COMMAND, params: { command: null } }],
  ['input to a running program', { itemId: 'c1', method: COMMAND, params: { kind: 'writeStdin', command: 'y' } }],
])('a question about %s is not complete', async (_what, question) => {
  const changes = [{ path: '/p/a.txt', kind: { type: 'add' }, diff: 'x\n' }]
  await using h = harness('ask-as', {
    env: asking(question, { type: 'fileChange', id: 'p1', changes, status: 'inProgress' }),
  })
  const session = await h.open()
  await session.prompt(prompt('hello'))
  expect(h.requests).toMatchObject([{ toolCallId: question.itemId, complete: false }])
})

test("WK-71 an MCP tool's question reaches the policy by its own name, and is never answered for longer than once", async () => {
  const params = {
    serverName: 'wheelhouse',
    mode: 'form',
    _meta: {
      codex_approval_kind: 'mcp_tool_call',
      persist: ['session', 'always'],
      tool_name: 'poke',
      tool_params: { how: 'hard' },
    },
    message: 'Allow?',
    requestedSchema: { type: 'object', properties: {} },
  }
  const env = asking(
    { itemId: 'ignored', method: 'mcpServer/elicitation/request', params },
    {
      type: 'mcpToolCall',
      id: 'm1',
      server: 'wheelhouse',
      tool: 'poke',
      status: 'inProgress',
      arguments: { how: 'hard' },
    },
  )
  await using h = harness('ask-as', { env, decide: () => Promise.resolve(allow) })
  await (await h.open()).prompt(prompt('hello'))
  expect(h.requests).toMatchObject([
    { toolCallId: 'm1', tool: 'mcp__wheelhouse__poke', action: { kind: 'mcp', server: 'wheelhouse', tool: 'poke' } },
  ])
  expect(answers(h)).toEqual([{ action: 'accept', content: {}, _meta: null }])
  await using refused = harness('ask-as', { env })
  await (await refused.open()).prompt(prompt('hello'))
  expect(answers(refused)).toEqual([{ action: 'decline', content: null, _meta: null }])
  await using ruled = harness('ask-as', { env, rules: { allowMcpServers: ['wheelhouse'] } })
  await (await ruled.open()).prompt(prompt('hello'))
  expect(ruled.requests).toEqual([])
  expect(answers(ruled)).toEqual([{ action: 'accept', content: {}, _meta: null }])
})

test.each([
  ['item/tool/requestUserInput', { questions: [] }, { answers: {} }],
  ['item/permissions/requestApproval', { permissions: { network: {} } }, { permissions: {}, scope: 'turn' }],
  [
    'mcpServer/elicitation/request',
    { serverName: 's', mode: 'url' },
    { action: 'decline', content: null, _meta: null },
  ],
  ['execCommandApproval', {}, { code: -32_601, message: 'Not supported by this client' }],
])('WK-71 %s without anybody who answers is declined', async (method, params, answer) => {
  await using h = harness('ask-as', { env: asking({ itemId: 'i1', method, params }) })
  await (await h.open()).prompt(prompt('hello'))
  expect(h.requests).toEqual([])
  expect(answers(h)).toEqual([answer])
})

/** Whoever is asked in words answers this. */
function answering(body: unknown, asked: InteractionRequest[] = [], told: string[] = []) {
  return (cfg: SessionConfig): SessionConfig => ({
    ...cfg,
    interactions: {
      ask(request) {
        asked.push(request)
        return Promise.resolve({ kind: 'answered', body })
      },
      told: (_requestId, how) => void told.push(how),
    },
  })
}

test('WK-71 a question in words is put as a form, and its answer goes back as it was asked', async () => {
  const asked: InteractionRequest[] = []
  const told: string[] = []
  const questions = [
    { id: 'q', header: 'Colour', question: 'Which?', isOther: true, options: [{ label: 'Blue', description: 'b' }] },
  ]
  const question = { itemId: 'i1', method: 'item/tool/requestUserInput', params: { questions } }
  await using h = harness('ask-as', { env: asking(question), change: answering({ q: 'Blue' }, asked, told) })
  await (await h.open()).prompt(prompt('hello'))
  expect(asked).toMatchObject([
    { kind: 'question', toolCallId: 'i1', body: { fields: [{ id: 'q', label: 'Colour: Which?', kind: 'choice' }] } },
  ])
  expect(answers(h)).toEqual([{ answers: { q: { answers: ['Blue'] } } }])
  await until('the answer is told', () => told.length > 0)
  expect(told).toEqual(['sent'])
})

test('WK-71 a form of an MCP server is answered by its own values; one whose answer nobody may see is not put', async () => {
  const requestedSchema = { type: 'object', properties: { n: { type: 'string', enum: ['a'], enumNames: ['A'] } } }
  const params = { serverName: 's', mode: 'form', message: 'Choose', requestedSchema }
  const form = { itemId: 'i1', method: 'mcpServer/elicitation/request', params }
  await using h = harness('ask-as', { env: asking(form), change: answering({ n: 'A' }) })
  await (await h.open()).prompt(prompt('hello'))
  expect(answers(h)).toEqual([{ action: 'accept', content: { n: 'a' }, _meta: null }])

  const asked: InteractionRequest[] = []
  const secret = { questions: [{ id: 'q', header: '', question: 'Password?', isSecret: true, options: null }] }
  const question = { itemId: 'i1', method: 'item/tool/requestUserInput', params: secret }
  await using other = harness('ask-as', { env: asking(question), change: answering({ q: 'x' }, asked) })
  await (await other.open()).prompt(prompt('hello'))
  expect(asked).toEqual([])
  expect(answers(other)).toEqual([{ answers: {} }])
})

test('WK-71 a link that an MCP server wants opened is put as that, and declined with whoever declines it', async () => {
  const params = { serverName: 's', mode: 'url', message: 'Log in', url: 'https://login.test/x', elicitationId: 'e' }
  const asked: InteractionRequest[] = []
  const change = (cfg: SessionConfig): SessionConfig => ({
    ...cfg,
    interactions: {
      ask(request) {
        asked.push(request)
        return Promise.resolve({ kind: 'declined' })
      },
      told: () => undefined,
    },
  })
  const link = { itemId: 'i1', method: 'mcpServer/elicitation/request', params }
  await using h = harness('ask-as', { env: asking(link), change })
  expect(await (await h.open()).prompt(prompt('hello'))).toMatchObject({ stop: 'end_turn' })
  expect(asked).toMatchObject([{ kind: 'external_action', toolCallId: null, body: { url: 'https://login.test/x' } }])
  expect(answers(h)).toEqual([{ action: 'decline', content: null, _meta: null }])
})

test('WK-73 a conversation that another Codex has open is in use; any other lock is a failed handshake', async () => {
  await using h = harness('writer')
  expect(await failure(h.open(THREAD))).toMatchObject({ code: 'session_in_use', started: 'ended' })
  await using other = harness('writer')
  expect(await failure(other.open(THREAD.replace(/5$/, '6')))).toMatchObject({ code: 'handshake_failed' })
  await using wrong = harness('other-thread')
  expect(await failure(wrong.open(THREAD))).toMatchObject({ code: 'session_unverified', started: 'ended' })
})

test('a fork is a conversation of its own', async () => {
  await using h = harness('ok', { change: (cfg) => ({ ...cfg, fork: { agentSessionId: THREAD } }) })
  const session = await h.open()
  expect(session.id).not.toBe(THREAD)
  expect(session.facts.loaded).toBe(false)
  expect(sent(h, 'thread/fork')).toMatchObject([{ threadId: THREAD, sandbox: 'read-only', excludeTurns: true }])
})

test('WK-75 each retry of the agent is told, and the turn has one result', async () => {
  await using h = harness('retries')
  const session = await h.open()
  expect(await session.prompt(prompt('hello'))).toMatchObject({ stop: 'end_turn' })
  const retries = h.content.filter(({ kind }) => kind === 'retrying')
  expect(retries).toMatchObject([
    { attempt: 1, maxAttempts: 5, httpStatus: 429 },
    { attempt: 2, maxAttempts: 5, httpStatus: 503 },
  ])
  expect(JSON.stringify(h.content)).not.toContain('MARKER')
})

test.each<[unknown, string]>([
  ['usageLimitExceeded', 'usage_limit'],
  ['rateLimitExceeded', 'usage_limit'],
  ['unauthorized', 'login_required'],
  [{ httpConnectionFailed: { httpStatusCode: 401 } }, 'login_required'],
  [{ httpConnectionFailed: { httpStatusCode: 500 } }, 'turn_failed'],
  ['other', 'turn_failed'],
])('a turn that failed by %o is %s', async (info, code) => {
  await using h = harness('fails', { env: { FAKE_ERROR: JSON.stringify(info) } })
  const session = await h.open()
  expect(await failure(session.prompt(prompt('hello')))).toMatchObject({ code })
})

test('a full context is a stop, an unknown status an error', async () => {
  await using h = harness('fails', { env: { FAKE_ERROR: '"contextWindowExceeded"' } })
  expect(await (await h.open()).prompt(prompt('hello'))).toMatchObject({ stop: 'max_tokens' })
  await using unknown = harness('unknown-stop')
  expect(await failure((await unknown.open()).prompt(prompt('hello')))).toMatchObject({ code: 'stop_unknown' })
})

test('a prompt that is refused fails its turn; an overloaded server is asked again', async () => {
  await using h = harness('refuses-turn')
  expect(await failure((await h.open()).prompt(prompt('hello')))).toMatchObject({ code: 'turn_failed' })
  await using busy = harness('overloaded')
  expect(await (await busy.open()).prompt(prompt('hello'))).toMatchObject({ stop: 'end_turn' })
  expect(sent(busy, 'turn/start')).toHaveLength(3)
})

test("a turn's tokens are the thread's since it began, uncached apart, whatever is repeated", async () => {
  await using h = harness('usage')
  const session = await h.open()
  const first = await session.prompt(prompt('hello'))
  const second = await session.prompt(prompt('again'))
  const spent = { inputTokens: 170, cachedInputTokens: 130, outputTokens: 30, contextUsed: 220, contextSize: 1_000 }
  expect(first.usage).toMatchObject(spent)
  expect(second.usage).toMatchObject(spent)
  expect(h.content.filter(({ kind }) => kind === 'usage')).toHaveLength(6)
  await using loaded = harness('usage')
  expect((await (await loaded.open(THREAD)).prompt(prompt('hello'))).usage).toMatchObject(spent)
})

test('a plan and a title come through', async () => {
  await using h = harness('plan')
  await (await h.open()).prompt(prompt('hello'))
  expect(h.content).toContainEqual({
    turn: 1,
    kind: 'plan',
    entries: [
      { content: 'first', status: 'completed', priority: null },
      { content: 'then', status: 'in_progress', priority: null },
    ],
  })
  expect(h.content).toContainEqual({ turn: 1, kind: 'title', title: 'A good name' })
})

test("another model or effort is the next turn's; the default effort is asked for by name once one was set", async () => {
  await using h = harness('ok')
  const session = await h.open()
  expect(await session.setRuntime?.({ modelId: 'fake-small', effort: 'high' })).toBe('next_turn')
  await session.prompt(prompt('hello'))
  expect(sent(h, 'turn/start')).toMatchObject([{ model: 'fake-small', effort: 'high' }])
  expect(session.runtime()).toEqual({ modelId: 'fake-small', effort: 'high' })
})

test('WK-78 a literal prompt keeps the name of a skill a word', async () => {
  await using h = harness('ok')
  const session = await h.open()
  await session.prompt(prompt('use $imagegen and $other', { literal: true }))
  await session.prompt(prompt('use $imagegen'))
  expect(sent(h, 'turn/start').map(({ input }) => (input as { text: string }[])[0]?.text)).toEqual([
    'use $\u{200B}imagegen and $other',
    'use $imagegen',
  ])
})

test('pictures go along, and of other files the path is said', async () => {
  await using h = harness('ok')
  const inputs = [
    { path: '/in/a.png', mediaType: 'image/png', filename: 'a.png', bytes: 3 },
    { path: '/in/b.pdf', mediaType: 'application/pdf', filename: 'b.pdf', bytes: 3 },
  ]
  await (await h.open()).prompt(prompt('look', { inputs }))
  expect(sent(h, 'turn/start')).toMatchObject([
    {
      input: [
        { type: 'text', text: 'look\n\nAttached files:\n- /in/b.pdf' },
        { type: 'localImage', path: '/in/a.png' },
      ],
    },
  ])
})

test.each([
  ['ok', null, 'warn', 'Codex may be logged out.'],
  ['logged-in', null, 'pass', 'Codex has a login.'],
  ['needs-no-login', null, 'pass', 'Codex has a login.'],
  ['no-account-call', null, 'warn', 'Codex did not say whether it has a login.'],
  ['ok', ROUTE, 'pass', 'A Provider is used.'],
])('WK-59 WK-79 a preflight of %s says about the login: %s %s', async (scenario, route, status, message) => {
  await using h = harness(scenario)
  const { env, privateDir } = h.cfg
  const result = await h.workers.driver('codex').preflight({ env, route, privateDir }, new AbortController().signal)
  expect(result).toMatchObject({ product: 'Codex', version: '0.171.0', failed: null })
  expect(result.checks.map(({ name }) => name)).toEqual(['starts', 'handshake', 'login'])
  expect(result.checks.at(-1)).toMatchObject({ status, message })
})

test('WK-57 WK-58 a preflight says what is missing, and what does not answer', async () => {
  await using h = harness('die-handshake')
  const { env, privateDir } = h.cfg
  const { signal } = new AbortController()
  const dead = await h.workers.driver('codex').preflight({ env, route: null, privateDir }, signal)
  expect(dead.failed).toMatchObject({ name: 'handshake' })
  const missing = await h.workers
    .driver('codex')
    .preflight({ env: { ...env, PATH: '/nowhere' }, route: null, privateDir }, signal)
  expect(missing).toMatchObject({ path: null, failed: { name: 'starts', message: 'Codex was not found.' } })
})
