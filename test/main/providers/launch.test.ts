import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  addressIn,
  bind,
  CANARY,
  codeOf,
  codexInput,
  create,
  createFakeUpstream,
  createWorld,
  customInput,
  errorOf,
  launch,
  routeKey,
} from './support.ts'

const LOOPBACK = '127.0.0.1,localhost,::1'

test('PR-A22 a Codex plan is exactly what the contract lists, and an exported real key is not inherited', async () => {
  await using world = await createWorld()
  world.environment['WHEELHOUSE_CREDENTIAL_ENV'] = 'REAL_KEY'
  world.environment['REAL_KEY'] = CANARY
  const host = await world.open()
  const { id } = await create(host.providers, codexInput('a', { credentialEnv: 'REAL_KEY' }), null)
  const plan = await bind(host, launch(id, { inherited: { REAL_KEY: CANARY, PATH: '/bin' } }))
  const address = addressIn(plan)
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/)
  expect(plan.argv).toEqual([
    '-c',
    'cli_auth_credentials_store="ephemeral"',
    '-c',
    'forced_login_method="api"',
    '-c',
    'features.enable_request_compression=false',
    '-c',
    'features.unbounded_connection_retries=false',
  ])
  expect(plan.config).toEqual({ model_provider: 'openai', openai_base_url: address, model: 'gpt-test' })
  expect(plan.envSet).toEqual({ NO_PROXY: LOOPBACK, no_proxy: LOOPBACK })
  expect(plan.envUnset).toEqual([
    'OPENAI_API_KEY',
    'CODEX_API_KEY',
    'CODEX_ACCESS_TOKEN',
    'OPENAI_BASE_URL',
    'OPENAI_ORGANIZATION',
    'OPENAI_PROJECT',
    'REAL_KEY',
  ])
  expect(routeKey(plan)).toMatch(/^[A-Za-z0-9_-]{43}$/)
})

test('PR-A23 a Claude plan names the Router alone, keeps its key for a descriptor and unsets what could lead elsewhere', async () => {
  await using world = await createWorld()
  const host = await world.open()
  const { id } = await create(
    host.providers,
    customInput('a', 'https://api.example.com', { client: 'claude', smallModelId: 'small-1' }),
  )
  const choice = { connectionId: id, modelId: 'claude-test[1m]', effort: 'default' as const }
  const plan = await bind(host, launch(id, { client: 'claude', form: 'cli', choice }))
  expect(plan.argv).toEqual(['--model', 'claude-test[1m]'])
  expect(plan.envSet['ANTHROPIC_BASE_URL']).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  expect(plan.envSet).toMatchObject({
    CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR: '3',
    CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST: '1',
    ANTHROPIC_DEFAULT_HAIKU_MODEL: 'small-1',
  })
  expect(plan.envUnset).toEqual(
    expect.arrayContaining(['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_UNIX_SOCKET']),
  )
  expect(JSON.stringify([plan.argv, plan.envSet, plan.config])).not.toContain(routeKey(plan))
  expect(host.providers.sessionRuntime('session-1')?.modelId).toBe('claude-test')
})

test("PR-A24 the person's own NO_PROXY is kept, in both spellings", async () => {
  await using world = await createWorld()
  const host = await world.open()
  const { id } = await create(host.providers, codexInput('a'))
  const plan = await bind(host, launch(id, { inherited: { NO_PROXY: 'corp' } }))
  expect(plan.envSet).toEqual({ NO_PROXY: `corp,${LOOPBACK}`, no_proxy: `corp,${LOOPBACK}` })
})

test('PR-A25 a form in which the client cannot be started is refused and binds nothing', async () => {
  await using world = await createWorld()
  const host = await world.open()
  const { id } = await create(host.providers, codexInput('a'))
  expect(await codeOf(bind(host, launch(id, { form: 'cli' })))).toBe('model_profile_unsupported')
  expect(host.providers.sessionRuntime('session-1')).toBeNull()
  expect(host.store.db.prepare('SELECT count(*) FROM routes').pluck().get()).toBe(0)
})

test('PR-A27 an effort that the model does not list is refused, and no generation moves', async () => {
  await using world = await createWorld()
  const { mkdirSync, writeFileSync } = await import('node:fs')
  mkdirSync(world.dir.at('codex-home'))
  const levels = ['low', 'high'].map((effort) => ({ effort, description: effort }))
  const models = [{ slug: 'gpt-test', supported_reasoning_levels: levels, visibility: 'list' }]
  writeFileSync(world.dir.at('codex-home', 'models_cache.json'), JSON.stringify({ models }))
  const host = await world.open()
  const { id } = await create(host.providers, codexInput('a'))
  await bind(host, launch(id))
  const choice = { connectionId: id, modelId: 'gpt-test', effort: 'max' as const }
  const change = { sessionId: 'session-1', client: 'codex' as const, choice, allowHistoryStrip: false }
  expect(host.providers.previewRuntime(change)).toEqual({ kind: 'refused', code: 'reasoning_effort_unsupported' })
  const effect = await host.store.writeTx((tx) => host.providers.changeRuntime(change, tx))
  expect(effect.kind).toBe('refused')
  expect(host.providers.sessionRuntime('session-1')).toMatchObject({ generation: 1, effort: 'default' })
})

test('an effort that the model lists is in the plan', async () => {
  await using world = await createWorld()
  const host = await world.open()
  const { id } = await create(host.providers, codexInput('a'))
  const choice = { connectionId: id, modelId: 'gpt-test', effort: 'high' as const }
  expect((await bind(host, launch(id, { choice }))).config['model_reasoning_effort']).toBe('high')
})

test('the built-in agent takes either protocol, its key on descriptor 3', async () => {
  await using world = await createWorld()
  const host = await world.open()
  const { id } = await create(host.providers, { name: 'a', client: 'builtin', preset: 'anthropic' })
  const plan = await bind(host, launch(id, { client: 'builtin', form: 'builtin' }))
  expect(plan.envSet).toMatchObject({
    WHEELHOUSE_MODEL_PROTOCOL: 'messages',
    WHEELHOUSE_MODEL_ID: 'gpt-test',
    WHEELHOUSE_MODEL_EFFORT: 'default',
    WHEELHOUSE_MODEL_KEY_FD: '3',
  })
  expect(plan.envSet['WHEELHOUSE_MODEL_BASE_URL']).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/)
  expect(plan.key).toBeDefined()
})

test('an ACP adapter that takes no key gets the route in its address, and the plan warns of it', async () => {
  await using world = await createWorld()
  const host = await world.open()
  const { id } = await create(host.providers, customInput('a', 'https://api.example.com', { client: 'claude' }))
  const plan = await bind(host, launch(id, { client: 'claude', form: 'acp_adapter' }))
  expect(plan.envSet['ANTHROPIC_BASE_URL']).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/r\/[A-Za-z0-9_-]{43}$/)
  expect(plan.warnings).toEqual(['route_open_to_commands'])
  expect(plan.key).toBeUndefined()
})

test('the Codex adapter gets what the app-server gets: its settings and its key name each other nowhere', async () => {
  await using world = await createWorld()
  const host = await world.open()
  const { id } = await create(host.providers, codexInput('a'))
  const plan = await bind(host, launch(id, { form: 'acp_adapter' }))
  expect(plan.config).toMatchObject({ model_provider: 'openai', model: 'gpt-test' })
  expect(plan.config['openai_base_url']).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/)
  expect(plan.argv).toContain('cli_auth_credentials_store="ephemeral"')
  expect(plan.key).toBeDefined()
  expect(plan.warnings).toEqual([])
})

test('a launch without a model, or on the connection of another agent, is refused', async () => {
  await using world = await createWorld()
  const host = await world.open()
  const { id } = await create(host.providers, codexInput('a'))
  const without = { connectionId: id, modelId: null, effort: 'default' as const }
  expect(await codeOf(bind(host, launch(id, { choice: without })))).toBe('upstream_model_required')
  const other = launch(id, { client: 'claude', form: 'cli' })
  expect(await codeOf(bind(host, other))).toBe('model_profile_unsupported')
  const unready = await create(host.providers, codexInput('b'), null)
  expect(await codeOf(bind(host, launch(unready.id)))).toBe('model_profile_credential_not_ready')
  expect(await codeOf(bind(host, launch('gone')))).toBe('model_profile_not_found')
})

test('PR-A71 a settings file that will be loaded and names a socket of its own is refused by name', async () => {
  await using world = await createWorld()
  await using upstream = await createFakeUpstream()
  const host = await world.open()
  const { id } = await create(host.providers, customInput('a', upstream.url, { client: 'claude' }))
  const choice = { connectionId: id, modelId: 'claude-test', effort: 'default' as const }
  const home = world.dir.at('claude')
  const project = world.dir.at('project', '.claude')
  for (const folder of [home, project]) mkdirSync(folder, { recursive: true })
  const files = { user: join(home, 'settings.json'), project: join(project, 'settings.json') }
  const start = (settingsFiles: readonly string[]) =>
    errorOf(
      bind(
        host,
        launch(id, { client: 'claude', form: 'cli', choice, inherited: { CLAUDE_CONFIG_DIR: home }, settingsFiles }),
      ),
    )
  const socket = JSON.stringify({ env: { ANTHROPIC_UNIX_SOCKET: '/tmp/elsewhere.sock' } })

  writeFileSync(files.project, socket)
  expect(await start([])).toBeNull()
  expect(await start([files.project])).toMatchObject({ code: 'model_profile_unsupported', detail: files.project })
  writeFileSync(files.project, '{"env":{"OTHER":"1"}}')
  writeFileSync(files.user, socket)
  expect(await start([files.project])).toMatchObject({ code: 'model_profile_unsupported', detail: files.user })
  // What Claude Code cannot read either leads nowhere.
  writeFileSync(files.user, '{"env":')
  expect(await start([files.project, world.dir.at('nowhere.json')])).toBeNull()
})
