/** The real Codex on a route, without the rest of the product: what reaches the Provider, and what Codex makes of the answers. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { bundledCodexModels } from '../../src/main/executor/index.ts'
import type { JsonValue } from '../../src/shared/vocabulary.ts'
import { CANARY, bind, create, createWorld, customInput, launch } from '../main/providers/support.ts'
import { createMemoryLog } from '../support/log.ts'
import { AGENT_PATH, describeWithAgent } from './installed.ts'

const TURN_MS = 60_000

interface Seen {
  method: string
  url: string
  headers: IncomingHttpHeaders
  body: { model?: string; input?: Record<string, unknown>[]; tools?: unknown[] }
}

type Answer = (seen: Seen, response: ServerResponse) => void

/** Everything that arrives at a Provider of Responses, model request or not. */
async function startProvider() {
  const seen: Seen[] = []
  const answers: Answer[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const { method = '', url = '', headers } = request
      const entry: Seen = { method, url, headers, body: text === '' ? {} : JSON.parse(text) }
      seen.push(entry)
      const answer = answers.shift() ?? say('Well.')
      answer(entry, response)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    seen,
    answers,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

let responses = 0

/** A whole answer of one message. */
function say(text: string): Answer {
  return (_seen, response) => {
    const id = `resp_${++responses}`
    const item = { type: 'message', role: 'assistant', id: `msg_${id}`, content: [{ type: 'output_text', text }] }
    const events = [
      { type: 'response.created', response: { id } },
      { type: 'response.output_text.delta', item_id: item.id, output_index: 0, content_index: 0, delta: text },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { id, usage: { input_tokens: 10, output_tokens: 3, total_tokens: 13 } } },
    ]
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
  }
}

interface Codex extends AsyncDisposable {
  threadId: string
  model: Record<string, unknown>
  /** Resolves with the turn's end. */
  turn(text: string): Promise<{ status: string; error: unknown }>
  compact(): Promise<{ status: string; error: unknown }>
}

type Message = {
  id?: number
  method?: string
  params?: Record<string, never>
  result?: Record<string, never>
  error?: { message: string }
}

/** Codex as the driver starts it: argv, then the key in its own protocol, then the thread. */
async function startCodex(options: {
  argv: readonly string[]
  config: Readonly<Record<string, JsonValue>>
  key: string
  env: Record<string, string>
  cwd: string
}): Promise<Codex> {
  const child = spawn('codex', ['app-server', ...options.argv], {
    env: options.env,
    cwd: options.cwd,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const left = once(child, 'exit')
  const waiting = new Map<number, (message: Message) => void>()
  const notices: Message[] = []
  let wake: (() => void) | null = null
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as Message
    if (message.id !== undefined && message.method === undefined) waiting.get(message.id)?.(message)
    else notices.push(message)
    wake?.()
  })
  let id = 0
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify(message)}\n`)
  const ask = async (method: string, params: object): Promise<Record<string, never>> => {
    const mine = ++id
    const reply = new Promise<Message>((resolve) => waiting.set(mine, resolve))
    send({ id: mine, method, params })
    const { result, error } = await Promise.race([
      reply,
      left.then((): Message => ({ error: { message: `codex left before it answered ${method}` } })),
    ])
    if (error !== undefined) throw new Error(error.message)
    return result ?? {}
  }
  /** The next end of a turn. */
  const ended = async (): Promise<{ status: string; error: unknown }> => {
    const late = AbortSignal.timeout(TURN_MS)
    for (;;) {
      const at = notices.findIndex(({ method }) => method === 'turn/completed')
      const [notice] = at === -1 ? [] : notices.splice(0, at + 1).slice(-1)
      const turn = (notice?.params as { turn?: { status: string; error: unknown } } | undefined)?.turn
      if (turn !== undefined) return turn
      late.throwIfAborted()
      await new Promise<void>((resolve) => {
        wake = resolve
        setTimeout(resolve, 200)
      })
    }
  }
  await ask('initialize', { clientInfo: { name: 'route-test', title: null, version: '1' }, capabilities: null })
  send({ method: 'initialized' })
  expect(await ask('account/read', { refreshToken: false })).toMatchObject({ account: null })
  await ask('account/login/start', { type: 'apiKey', apiKey: options.key })
  const { model, ...config } = options.config
  const started = await ask('thread/start', {
    cwd: options.cwd,
    model,
    config,
    approvalPolicy: 'never',
    sandbox: 'read-only',
  })
  const { thread } = started as unknown as { thread: { id: string } & Record<string, unknown> }
  return {
    threadId: thread.id,
    model: started,
    async turn(text) {
      await ask('turn/start', { threadId: thread.id, input: [{ type: 'text', text, text_elements: [] }] })
      return await ended()
    },
    async compact() {
      await ask('thread/compact/start', { threadId: thread.id })
      return await ended()
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      const kill = setTimeout(() => child.kill('SIGKILL'), 5_000)
      await left
      clearTimeout(kill)
    },
  }
}

/** A Codex on a route to the Provider, with files of the person's own. */
async function createRoute(files: Record<string, string> = {}) {
  const undo = new AsyncDisposableStack()
  const hostEnv = (name: string): string | undefined => (name === 'PATH' ? AGENT_PATH : process.env[name])
  const world = undo.use(
    await createWorld({
      bundledCodexModels: (signal) => bundledCodexModels({ log: createMemoryLog(), hostEnv }, signal),
    }),
  )
  const provider = undo.use(await startProvider())
  const codexHome = world.dir.at('codex-home')
  const cwd = world.dir.at('project')
  for (const folder of [codexHome, cwd]) mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(codexHome, name), text)
  const host = await world.open()
  const { id } = await create(host.providers, customInput('a', `${provider.url}/v1`))
  const choice = { connectionId: id, modelId: 'gpt-6.2-sol', effort: 'default' as const }
  const plan = await bind(host, launch(id, { choice }))
  const env = { PATH: AGENT_PATH, HOME: world.dir.path, CODEX_HOME: codexHome, ...plan.envSet }
  const key = plan.key?.reveal('local_key_file') ?? ''
  const codex = undo.use(await startCodex({ argv: plan.argv, config: plan.config, key, env, cwd }))
  return {
    host,
    provider,
    codex,
    codexHome,
    key,
    asked: () => provider.seen.filter(({ method, url }) => method === 'POST' && url === '/v1/responses'),
    [Symbol.asyncDispose]: () => undo.disposeAsync(),
  }
}

const fakeJwt = (): string =>
  [{ alg: 'none' }, { email: 'me@example.com', exp: 4_102_444_800 }, '']
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
const LOGIN = JSON.stringify({
  OPENAI_API_KEY: null,
  tokens: {
    id_token: fakeJwt(),
    access_token: 'canary-access',
    refresh_token: 'canary-refresh',
    account_id: 'canary-account',
  },
  last_refresh: new Date().toISOString(),
})

describeWithAgent('codex', 'Codex on a route', () => {
  test(
    'PR-A67 PR-A72 with a login and an address of the person’s own, the Provider sees its key alone, and a dead key is asked once',
    { timeout: 180_000 },
    async () => {
      const config =
        'openai_base_url = "http://127.0.0.1:9/v1"\nmodel_provider = "mine"\nforced_login_method = "chatgpt"\n\n[model_providers.mine]\nname = "Mine"\nbase_url = "http://127.0.0.1:9/v1"\nwire_api = "responses"\n'
      await using route = await createRoute({ 'config.toml': config, 'auth.json': LOGIN })
      expect(route.codex.model).toMatchObject({ modelProvider: 'openai' })
      expect(await route.codex.turn('hello')).toMatchObject({ status: 'completed' })
      route.provider.answers.push((_seen, response) => {
        response.writeHead(401, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ error: { message: `no such key ${CANARY}`, type: 'invalid_request_error' } }))
      })
      const before = route.asked().length
      const failed = await route.codex.turn('again')
      expect(failed.status).toBe('failed')
      expect(JSON.stringify(failed)).not.toContain(CANARY)
      expect(route.asked()).toHaveLength(before + 1)
      expect(route.provider.seen).toHaveLength(route.asked().length)
      for (const { headers } of route.provider.seen) {
        expect(headers.authorization).toBe(`Bearer ${CANARY}`)
        expect(headers).not.toHaveProperty('chatgpt-account-id')
        expect(headers['content-encoding']).toBeUndefined()
      }
      expect(JSON.stringify(route.provider.seen)).not.toMatch(/canary-(?:access|refresh|account)/)
      expect(route.host.providers.lastExchange('session-1')).toMatchObject({ status: 401, origin: 'upstream' })
      expect(readFileSync(join(route.codexHome, 'auth.json'), 'utf8')).toBe(LOGIN)
      expect(readFileSync(join(route.codexHome, 'config.toml'), 'utf8')).toBe(config)
    },
  )

  test(
    'PR-A78 a compaction asks the Provider for a summary without tools, and later turns carry its text',
    { timeout: 180_000 },
    async () => {
      await using route = await createRoute()
      expect(await route.codex.turn('remember the blue door')).toMatchObject({ status: 'completed' })
      route.provider.answers.push(say('Summary: the door is blue.'))
      expect(await route.codex.compact()).toMatchObject({ status: 'completed' })
      const summary = route.asked().at(-1)?.body
      expect(summary?.tools).toEqual([])
      expect(JSON.stringify(summary?.input?.at(-1))).toContain('hand-over summary')
      expect(await route.codex.turn('which door?')).toMatchObject({ status: 'completed' })
      const later = JSON.stringify(route.asked().at(-1)?.body.input)
      expect(later).toContain('Summary: the door is blue.')
      expect(JSON.stringify(route.provider.seen)).not.toMatch(/whc1\.|compaction_trigger/)
    },
  )

  test(
    'PR-A79 a slug that only OpenAI takes in its own form goes out with plain tools',
    { timeout: 180_000 },
    async () => {
      await using route = await createRoute()
      expect(await route.codex.turn('hello')).toMatchObject({ status: 'completed' })
      const [{ body, headers } = { body: {}, headers: {} }] = route.asked()
      expect(body.model).toBe('gpt-6.2-sol')
      expect(body.tools?.length).toBeGreaterThan(0)
      expect(JSON.stringify(body.input)).not.toContain('additional_tools')
      expect(Object.keys(headers).filter((name) => name.includes('lite'))).toEqual([])
      expect(existsSync(join(route.codexHome, 'auth.json'))).toBe(false)
    },
  )
})
