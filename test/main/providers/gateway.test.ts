import { request as httpRequest, createServer } from 'node:http'
import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Providers } from '../../../src/main/providers/index.ts'
import { freePort } from '../../support/port.ts'
import { CANARY, codeOf, create, errorOf, createFakeUpstream, createWorld, customInput } from './support.ts'
import type { FakeUpstream, World } from './support.ts'

interface Reply {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

function send(
  port: number,
  path: string,
  options: { method?: string; headers?: OutgoingHttpHeaders; body?: string | Buffer } = {},
): Promise<Reply> {
  const { method = 'POST', headers = {}, body } = options
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString(),
        }),
      )
    })
    request.on('error', reject)
    request.on('upgrade', (response) =>
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text: '' }),
    )
    request.end(body)
  })
}

let inspects = true

async function openGatewayWorld(keepTakeover = () => false) {
  const port = await freePort()
  const world = await createWorld({
    gateway: { port: () => port, keepTakeover, resume: true, home: '/nowhere' },
    inspectsRequests: () => inspects,
  })
  return { world, port }
}

const BODY = '{ "model" : "gpt-x",\n  "input":[ 1e400 ] , "n": 12345678901234567890 }'
const json = { 'content-type': 'application/json' }

describe('the machine gateway', () => {
  let world: World
  let port: number
  let providers: Providers
  let first: FakeUpstream
  let second: FakeUpstream
  let key: string
  let firstId: string
  let secondId: string
  const auth = (): OutgoingHttpHeaders => ({ ...json, 'x-wheelhouse-gateway-key': key })

  beforeAll(async () => {
    ;({ world, port } = await openGatewayWorld())
    first = await createFakeUpstream()
    second = await createFakeUpstream()
    ;({ providers } = await world.open())
    firstId = (await create(providers, customInput('First', `${first.url}/v1`))).id
    secondId = (await create(providers, customInput('Second', `${second.url}/v1`))).id
    await providers.gateway().setUpstream('codex', firstId)
    mkdirSync(world.dir.at('codex-home'), { recursive: true })
    writeFileSync(world.dir.at('codex-home', 'config.toml'), '')
    const takeover = providers.gateway().takeover('codex')
    await takeover.enable({ digest: (await takeover.plan({ kind: 'provider_table' })).digest, kind: 'provider_table' })
    const text = readFileSync(world.dir.at('codex-home', 'config.toml'), 'utf8')
    key = /whg_[A-Za-z0-9_-]{43}/.exec(text)?.[0] ?? ''
  })
  afterAll(async () => {
    await world[Symbol.asyncDispose]()
    await first[Symbol.asyncDispose]()
    await second[Symbol.asyncDispose]()
  })

  test('passes body and query byte for byte, with the Provider’s key alone', async () => {
    const before = first.requests.length
    const headers = {
      ...auth(),
      authorization: 'Bearer a-login-of-the-person',
      cookie: 'a=b',
      'chatgpt-account-id': 'x',
    }
    expect((await send(port, '/v1/responses?a=b%20c', { headers, body: BODY })).status).toBe(200)
    expect(first.requests.slice(before)).toEqual([
      { method: 'POST', url: '/v1/responses?a=b%20c', authorization: `Bearer ${CANARY}`, body: BODY },
    ])
  })

  test('PR-A64 what passes it is counted to the token, under no session', async () => {
    const of = async () => (await providers.usage('session', 1)).find(({ key }) => key === '')
    const before = await of()
    second.answer((request, response) => {
      const used = '"usage":{"input_tokens":9,"output_tokens":4}'
      const said = `data: {"type":"response.completed","response":{"id":"counted",${used}}}\n\n`
      const [type, text] = request.method === 'GET' ? ['application/json', '{}'] : ['text/event-stream', said]
      response.writeHead(200, { 'content-type': type }).end(text)
    })
    await providers.gateway().setUpstream('codex', secondId)
    await send(port, '/v1/responses', { headers: auth(), body: BODY })
    // Asks no model.
    await send(port, '/v1/models?client_version=1', { method: 'GET', headers: auth() })
    await providers.gateway().setUpstream('codex', firstId)
    // A record is made after the last byte left.
    await expect.poll(of, { timeout: 10_000 }).toMatchObject({
      requests: (before?.requests ?? 0) + 1,
      input: (before?.input ?? 0) + 9,
      output: (before?.output ?? 0) + 4,
    })
  })

  test('the key counts as bearer, as x-api-key and in the path', async () => {
    const statuses = [
      await send(port, '/v1/responses', { headers: { authorization: `Bearer ${key}` }, body: BODY }),
      await send(port, '/v1/responses', { headers: { 'x-api-key': key }, body: BODY }),
      await send(port, `/k/${key}/v1/responses`, { headers: json, body: BODY }),
    ].map(({ status }) => status)
    expect(statuses).toEqual([200, 200, 200])
  })

  test('PR-A88 under the root key a packed body arrives unpacked, and an upgrade is refused', async () => {
    const packed = { headers: { ...json, 'content-encoding': 'zstd' }, body: zstdCompressSync(BODY) }
    await send(port, `/k/${key}/v1/responses`, packed)
    expect(first.requests.at(-1)?.body).toBe(BODY)
    const upgrade = { method: 'GET', headers: { connection: 'Upgrade', upgrade: 'websocket' } }
    expect((await send(port, `/k/${key}/v1/responses`, upgrade)).status).toBe(426)
  })

  test('PR-A42 a page, a rebinding name, another page’s port and a request without the key get nothing', async () => {
    const before = first.requests.length
    const replies = [
      await send(port, '/v1/responses', { headers: { ...auth(), host: 'evil.example' }, body: BODY }),
      await send(port, '/v1/responses', { headers: { ...auth(), host: `127.0.0.1:${port + 1}` }, body: BODY }),
      await send(port, '/v1/responses', { headers: { ...auth(), origin: 'http://localhost:3000' }, body: BODY }),
      await send(port, '/v1/responses', { headers: { ...auth(), 'sec-fetch-site': 'cross-site' }, body: BODY }),
      await send(port, '/v1/models', { method: 'GET' }),
      await send(port, '/v1/models', { method: 'GET', headers: { 'x-api-key': `whg_${'x'.repeat(43)}` } }),
      await send(port, '/v1/responses', { method: 'OPTIONS' }),
      await send(port, '/v1/%2e%2e/x', { headers: auth(), body: BODY }),
      await send(port, '/metrics', { method: 'GET', headers: auth() }),
    ]
    expect(replies.map(({ status }) => status)).toEqual([403, 403, 403, 403, 401, 401, 405, 400, 404])
    expect(replies.some(({ headers }) => headers['access-control-allow-origin'] !== undefined)).toBe(false)
    expect(first.requests).toHaveLength(before)
  })

  test('PR-A58 no Provider and no key, in the words of each client', async () => {
    const codex = await send(port, '/v1/responses', { headers: json, body: BODY })
    expect(codex.status).toBe(400)
    expect(JSON.parse(codex.text)).toMatchObject({ error: { code: 'gateway_auth_required' } })
    const claude = await send(port, '/claude/v1/messages', { headers: json, body: BODY })
    expect(claude.status).toBe(401)
    expect(JSON.parse(claude.text)).toMatchObject({ error: { type: 'authentication_error' } })
    const missing = await send(port, '/claude/v1/messages', { headers: auth(), body: BODY })
    expect(missing.status).toBe(400)
    expect(missing.text).toContain('gateway_upstream_missing')
    expect((await send(port, '/claude', { method: 'HEAD' })).status).toBe(204)
  })

  test('PR-A57 a running request ends where it began; the next goes to the other Provider', async () => {
    const held = Promise.withResolvers<ServerResponse>()
    first.answer((_request, response) => {
      response.setHeader('content-type', 'application/json')
      response.write('{"from":')
      held.resolve(response)
    })
    const running = send(port, '/v1/responses', { headers: auth(), body: BODY })
    const response = await held.promise
    await providers.gateway().setUpstream('codex', secondId)
    await send(port, '/v1/responses', { headers: auth(), body: BODY })
    expect(second.requests.at(-1)?.body).toBe(BODY)
    response.end('"first"}')
    expect((await running).text).toBe('{"from":"first"}')
    first.answer((_request, answer) => void answer.end('{}'))
    await providers.gateway().setUpstream('codex', firstId)
  })

  test('PR-A35 a switch of the Provider takes the gateway along, where it serves that agent', async () => {
    await providers.gateway().follow('codex', secondId)
    await providers.gateway().follow('claude', secondId)
    await providers.gateway().follow('builtin', secondId)
    expect((await providers.gateway().status()).upstreams).toEqual({ codex: secondId, claude: null })
    await providers.gateway().setUpstream('codex', firstId)
  })

  test('PR-A14 an account that the gateway uses is not deleted', async () => {
    const { revision } = await providers.catalog()
    expect(await errorOf(providers.deleteConnection(firstId, revision))).toMatchObject({
      code: 'model_profile_in_use',
      data: { clients: [], gateways: ['codex'] },
    })
  })

  test('a new key is in the file at once, and the old one opens nothing', async () => {
    const path = world.dir.at('codex-home', 'config.toml')
    const old = key
    expect(await providers.gateway().rotateKey()).toEqual({ applied: true, durable: true })
    const text = readFileSync(path, 'utf8')
    key = /whg_[A-Za-z0-9_-]{43}/.exec(text)?.[0] ?? ''
    expect(key).not.toBe(old)
    expect(text).not.toContain(old)
    const before = first.requests.length
    expect((await send(port, '/v1/responses', { headers: auth(), body: BODY })).status).toBe(200)
    for (const headers of [{ 'x-wheelhouse-gateway-key': old }, { authorization: `Bearer ${old}` }]) {
      expect((await send(port, '/claude/v1/messages', { headers: { ...json, ...headers }, body: BODY })).status).toBe(
        401,
      )
    }
    expect((await send(port, `/k/${old}/v1/responses`, { headers: json, body: BODY })).text).toContain(
      'gateway_auth_required',
    )
    expect(first.requests).toHaveLength(before + 1)
    expect((await providers.gateway().status()).takeovers[0]).toMatchObject({ state: 'active' })
  })

  test('a new key leaves a file alone that a person changed, and says that it drifted', async () => {
    const path = world.dir.at('codex-home', 'config.toml')
    const text = readFileSync(path, 'utf8')
    const edited = text.replace(
      'supports_websockets = false',
      'supports_websockets = false\nquery_params = { a = "b" }',
    )
    writeFileSync(path, edited)
    await providers.gateway().rotateKey()
    expect(readFileSync(path, 'utf8')).toBe(edited)
    expect((await providers.gateway().status()).takeovers[0]).toMatchObject({ detail: 'block_user_changed' })
    expect((await send(port, '/v1/responses', { headers: auth(), body: BODY })).status).toBe(400)
    writeFileSync(path, text)
    await providers.gateway().takeover('codex').repair()
    key = /whg_[A-Za-z0-9_-]{43}/.exec(readFileSync(path, 'utf8'))?.[0] ?? ''
    expect((await send(port, '/v1/responses', { headers: auth(), body: BODY })).status).toBe(200)
  })

  test('the inspector keeps what a request was, and neither bodies nor keys', () => {
    const [request] = providers.requests()
    expect(request).toMatchObject({ client: 'codex', modelAsked: 'gpt-x', modelSent: 'gpt-x', status: 200 })
    expect(JSON.stringify(providers.requests())).not.toMatch(/whg_|canary|1e400/)
  })

  test('the inspector, switched off, keeps nothing', async () => {
    inspects = false
    providers.forgetRequests()
    expect(providers.requests()).toEqual([])
    expect((await send(port, '/v1/responses', { headers: auth(), body: BODY })).status).toBe(200)
    expect(providers.requests()).toEqual([])
    inspects = true
    await send(port, '/v1/responses', { headers: auth(), body: BODY })
    expect(providers.requests()).toHaveLength(1)
  })
})

test('a new key reaches every file that can be written, and the one that cannot is named', async () => {
  let told = 0
  const { world } = await openGatewayWorld()
  await using _world = world
  const settings = world.dir.at('claude-home', 'settings.json')
  const config = world.dir.at('codex-home', 'config.toml')
  world.environment['CLAUDE_CONFIG_DIR'] = world.dir.at('claude-home')
  const { providers } = await world.open()
  const gateway = providers.gateway()
  for (const client of ['codex', 'claude'] as const) {
    const { digest } = await gateway.takeover(client).plan()
    await gateway.takeover(client).enable({ digest })
  }
  const [oldConfig, oldSettings] = [readFileSync(config, 'utf8'), readFileSync(settings, 'utf8')]
  chmodSync(config, 0o400)
  providers.onGatewayChange(() => (told += 1))
  const error = await errorOf(gateway.rotateKey())
  expect(error).toMatchObject({ code: 'takeover_config_unwritable', cause: { code: 'takeover_config_unwritable' } })
  expect(error?.message).toContain('The gateway has a new key')
  expect(error?.message).toContain(`${config} (it is read-only)`)
  expect(error?.message).not.toContain(settings)
  expect(told).toBeGreaterThan(0)
  expect(readFileSync(config, 'utf8')).toBe(oldConfig)
  expect(readFileSync(settings, 'utf8')).not.toBe(oldSettings)
  const states = async () => (await gateway.status()).takeovers.map(({ state, detail }) => [state, detail])
  expect(await states()).toEqual([
    ['drifted', 'address_changed'],
    ['active', null],
  ])
  chmodSync(config, 0o600)
  await gateway.takeover('codex').repair()
  expect(await states()).toEqual([
    ['active', null],
    ['active', null],
  ])
})

test('PR-A87 a cold install listens nowhere; enabling takes the default; disabling goes on listening', async () => {
  const { world, port } = await openGatewayWorld()
  await using _world = world
  await using upstream = await createFakeUpstream()
  const { providers } = await world.open()
  expect(providers.gateway().port()).toBeNull()
  expect(existsSync(world.dir.at('providers', 'gateway.json'))).toBe(false)
  const { id, view } = await create(providers, customInput('One', `${upstream.url}/v1`))
  await providers.setDefault('codex', { connectionId: id, modelId: 'm' }, view.revision)
  const takeover = providers.gateway().takeover('codex')
  await takeover.enable({ digest: (await takeover.plan()).digest })
  expect((await providers.gateway().status()).upstreams.codex).toBe(id)
  await takeover.disable()
  expect(providers.gateway().port()).toBe(port)
})

test('PR-A59 a taken port is said, and the config file is not touched', async () => {
  const { world, port } = await openGatewayWorld()
  await using _world = world
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(port, '127.0.0.1', resolve))
  try {
    const path = world.dir.at('codex-home', 'config.toml')
    mkdirSync(world.dir.at('codex-home'), { recursive: true })
    writeFileSync(path, 'a = 1\n')
    const { mtimeNs } = statSync(path, { bigint: true })
    const { providers } = await world.open()
    const takeover = providers.gateway().takeover('codex')
    const { digest } = await takeover.plan()
    expect(await codeOf(takeover.enable({ digest }))).toBe('route_listener_failed')
    expect(await providers.gateway().status()).toMatchObject({ listening: false, code: 'route_listener_failed' })
    expect([readFileSync(path, 'utf8'), statSync(path, { bigint: true }).mtimeNs]).toEqual(['a = 1\n', mtimeNs])
  } finally {
    await new Promise((resolve) => taken.close(resolve))
  }
})

test('a choice that a full disk does not take changes nothing, and what is not durable is told', async () => {
  const { world } = await openGatewayWorld()
  await using _world = world
  const { providers } = await world.open()
  const { id } = await create(providers, customInput('One', 'https://one.example.com/v1'))
  const gateway = providers.gateway()
  const full = Object.assign(new Error('no space'), { code: 'ENOSPC' })
  world.fileFailpoints.failAt('before_write', { error: full })
  expect(await errorOf(gateway.setUpstream('codex', id))).toMatchObject({
    code: 'storage_full',
    detail: world.dir.at('providers', 'gateway.json'),
  })
  expect((await gateway.status()).upstreams.codex).toBeNull()
  world.fileFailpoints.failAt('before_dirsync')
  expect(await gateway.setUpstream('codex', id)).toEqual({ applied: true, durable: false })
  expect((await gateway.status()).upstreams.codex).toBe(id)
})

test('settings of the gateway that cannot be read stop the gateway alone, and are left as they are', async () => {
  const { world } = await openGatewayWorld()
  await using _world = world
  const path = world.dir.at('providers', 'gateway.json')
  mkdirSync(world.dir.at('providers'), { recursive: true })
  writeFileSync(path, '{')
  const { providers } = await world.open()
  expect(providers.failure()).toBeNull()
  const { id } = await create(providers, customInput('One', 'https://one.example.com/v1'))
  const gateway = providers.gateway()
  expect(await gateway.status()).toMatchObject({ listening: false, code: 'file_failed' })
  expect(await codeOf(gateway.setUpstream('codex', id))).toBe('file_failed')
  const takeover = gateway.takeover('codex')
  expect(await codeOf(takeover.enable({ digest: (await takeover.plan()).digest }))).toBe('file_failed')
  expect([readFileSync(path, 'utf8'), gateway.port()]).toEqual(['{', null])
})

describe('a catalog that cannot be read', () => {
  const OLD = 'model_provider = "mine" # why\na = 1'

  /** Both files lead to the gateway, as a crash leaves them. */
  async function openCrashedWorld(broken: string) {
    let crashes = true
    const { world, port } = await openGatewayWorld(() => crashes)
    world.environment['CLAUDE_CONFIG_DIR'] = world.dir.at('claude-home')
    const paths = [world.dir.at('codex-home', 'config.toml'), world.dir.at('claude-home', 'settings.json')]
    mkdirSync(world.dir.at('codex-home'), { recursive: true })
    writeFileSync(paths[0] ?? '', OLD)
    const first = await world.open()
    await create(first.providers, customInput('One', 'https://one.example.com/v1'))
    const gateway = first.providers.gateway()
    for (const client of ['codex', 'claude'] as const) {
      const { digest } = await gateway.takeover(client).plan()
      await gateway.takeover(client).enable({ digest })
    }
    await first.stop()
    crashes = false
    writeFileSync(world.dir.at('providers', 'catalog.json'), broken)
    return { world, port, texts: () => paths.map((path) => (existsSync(path) ? readFileSync(path, 'utf8') : null)) }
  }

  test.each(['{"broken', '{"schemaVersion":2}'])('%s: each config file is shown and given back', async (broken) => {
    const { world, texts } = await openCrashedWorld(broken)
    await using _world = world
    const { providers } = await world.open()
    const gateway = providers.gateway()
    expect(await gateway.status()).toMatchObject({
      listening: false,
      code: 'model_profiles_unavailable',
      takeovers: [
        { state: 'broken', detail: 'gateway_not_listening', enabled: true, restoreAvailable: true },
        { state: 'broken', detail: 'gateway_not_listening', enabled: true },
      ],
    })
    const { status } = await gateway.takeover('claude').disable()
    expect(status).toMatchObject({ state: 'inactive', enabled: false })
    await gateway.takeover('codex').restoreBackup()
    expect(texts()).toEqual([OLD, null])
    expect(world.catalogText()).toBe(broken)
  })

  test('a quit in order gives them back, and the next start that can read it takes them up again', async () => {
    const { world, port, texts } = await openCrashedWorld('{"broken')
    await using _world = world
    const host = await world.open()
    await host.stop()
    expect(texts()).toEqual([OLD, null])
    const again = await world.open()
    await again.stop()
    expect(texts()).toEqual([OLD, null])
    rmSync(world.dir.at('providers', 'catalog.json'))
    const { providers } = await world.open()
    await expect
      .poll(async () => (await providers.gateway().status()).takeovers.map(({ state }) => state))
      .toEqual(['active', 'active'])
    expect(providers.gateway().port()).toBe(port)
  })

  test('nothing is switched on or chosen without it', async () => {
    const { world, texts } = await openCrashedWorld('{"broken')
    await using _world = world
    const { providers } = await world.open()
    const gateway = providers.gateway()
    const before = texts()
    const refused = [
      gateway.takeover('codex').plan(),
      gateway.takeover('codex').enable({ digest: 'x' }),
      gateway.takeover('codex').repair(),
      gateway.setUpstream('codex', null),
      gateway.setUpstream('codex', 'one'),
      gateway.rotateKey(),
      providers.catalog(),
    ]
    expect(await Promise.all(refused.map(codeOf))).toEqual(refused.map(() => 'model_profiles_unavailable'))
    expect([texts(), gateway.port()]).toEqual([before, null])
    await providers.stop()
    expect(await codeOf(() => Promise.resolve(providers.gateway()))).toBe('model_profiles_unavailable')
  })
})
