/** Plain agents, as a person starts them, under takeover: they reach the Provider that is picked, and nothing of theirs is lost. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import type { ProjectionKind, Providers } from '../../src/main/providers/index.ts'
import { create, createWorld, customInput } from '../main/providers/support.ts'
import { createSystemClock } from '../../src/main/platform/index.ts'
import { AGENT_PATH, describeWithAgent } from './installed.ts'
import { askPlainCodex, resumePlainCodex } from './plain-codex.ts'
import { startUpstream } from './upstream.ts'

const KEY_OF_FIRST = 'sk-key-of-the-first-connection'
const KEY_OF_SECOND = 'sk-key-of-the-second-connection'
const jwt = [{ alg: 'none' }, { email: 'me@example.org', exp: 4_102_444_800 }, '']
  .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
  .join('.')
/** As much of a ChatGPT login as Codex reads. */
const LOGIN = JSON.stringify({
  OPENAI_API_KEY: null,
  tokens: {
    id_token: jwt,
    access_token: 'canary-access',
    refresh_token: 'canary-refresh',
    account_id: 'canary-account',
  },
  last_refresh: new Date().toISOString(),
})
const BEFORE = '# mine\nmodel = "gpt-5.2" # kept\n\n[mcp_servers]\n'

async function openWorld() {
  // Any free port: the address stands in the file that is written.
  const world = await createWorld({
    clock: createSystemClock(),
    gateway: { port: () => 0, keepTakeover: () => false, resume: true, home: '/nowhere' },
  })
  const home = world.dir.at('home')
  const codexHome = world.dir.at('home', '.codex')
  mkdirSync(codexHome, { recursive: true })
  world.environment['CODEX_HOME'] = codexHome
  const env = { HOME: home, CODEX_HOME: codexHome, PATH: AGENT_PATH, LANG: 'C.UTF-8', USER: 'tester' }
  return { world, codexHome, env, workDir: world.dir.path }
}

async function takeOver(providers: Providers, kind: ProjectionKind, keepLogin = false): Promise<void> {
  const takeover = providers.gateway().takeover('codex')
  const { digest } = await takeover.plan({ kind, keepLogin })
  expect((await takeover.enable({ kind, keepLogin, digest })).status.state).toBe('active')
}

async function run(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd: string,
  typed = '',
): Promise<string> {
  const ran = promisify(execFile)(program, args, { env: { ...env }, cwd, timeout: 100_000, killSignal: 'SIGKILL' })
  ran.child.stdin?.end(typed)
  return (await ran).stdout
}

const ask = (env: Readonly<Record<string, string>>, cwd: string, prompt: string): Promise<string> =>
  run('codex', ['exec', '--skip-git-repo-check', prompt], env, cwd)

const say = (text: string) => ({ steps: [{ text }] })

describeWithAgent('codex', 'plain Codex under takeover', () => {
  test.each(['base_url', 'provider_table'] as const)(
    'PR-A57 reaches the picked Provider, then the other; afterwards its config is as before, as %s',
    async (kind) => {
      const { world, codexHome, env, workDir } = await openWorld()
      await using _world = world
      await using first = await startUpstream(world.dir.at('first'), [say('from-the-first')])
      await using second = await startUpstream(world.dir.at('second'), [say('from-the-second'), say('resumed')])
      const config = join(codexHome, 'config.toml')
      writeFileSync(config, BEFORE, { mode: 0o640 })
      const { providers } = await world.open()
      const one = await create(providers, customInput('One', `http://127.0.0.1:${first.port}/v1`), KEY_OF_FIRST)
      const two = await create(providers, customInput('Two', `http://127.0.0.1:${second.port}/v1`), KEY_OF_SECOND)
      await providers.gateway().setUpstream('codex', one.id)
      await takeOver(providers, kind)

      expect(await ask(env, workDir, 'who are you')).toContain('from-the-first')
      await providers.gateway().setUpstream('codex', two.id)
      expect(await ask(env, workDir, 'and you')).toContain('from-the-second')
      const [asked] = await second.requests()
      expect(asked?.headers['authorization']).toBe(`Bearer ${KEY_OF_SECOND}`)
      expect(JSON.stringify(asked?.headers)).not.toMatch(/whg_/)

      await providers.gateway().takeover('codex').disable()
      expect(readFileSync(config, 'utf8')).toBe(BEFORE)
      expect(existsSync(join(codexHome, 'auth.json'))).toBe(false)
      if (kind !== 'base_url') return

      // Sessions made meanwhile are Codex's own: listed, and resumed at its own upstream.
      const listed = (await askPlainCodex(env, 'thread/list', { limit: 10, sourceKinds: ['exec'] })) as {
        data: { id: string }[]
      }
      expect(listed.data).toHaveLength(2)
      const threadId = listed.data[0]?.id ?? ''
      const words = await resumePlainCodex({ env, cwd: workDir, threadId, prompt: 'go on', port: second.port })
      expect(words).toContain('resumed')
    },
  )

  test.each(['base_url', 'provider_table'] as const)(
    'PR-T20 what Codex itself writes into its config meanwhile is as without takeover, a login is kept, as %s',
    async (kind) => {
      const { world, codexHome, env, workDir } = await openWorld()
      await using _world = world
      await using upstream = await startUpstream(world.dir.at('upstream'))
      const config = join(codexHome, 'config.toml')
      // The same is done in a home that is never taken over.
      const twinHome = world.dir.at('twin')
      mkdirSync(twinHome)
      const twin = join(twinHome, 'config.toml')
      const before = `${BEFORE}\n[mcp_servers.other]\ncommand = "y"\n`
      for (const path of [config, twin]) writeFileSync(path, before)
      const { providers } = await world.open()
      const { id } = await create(providers, customInput('One', `http://127.0.0.1:${upstream.port}/v1`), KEY_OF_FIRST)
      await providers.gateway().setUpstream('codex', id)
      // It rewrites its file with its own TOML writer.
      const inBoth = async (args: readonly string[], typed?: string): Promise<void> => {
        for (const home of [codexHome, twinHome]) await run('codex', args, { ...env, CODEX_HOME: home }, workDir, typed)
      }

      await takeOver(providers, kind)
      await inBoth(['mcp', 'add', 'mine', '--', 'true'])
      await inBoth(['login', '--with-api-key'], 'sk-a-login-made-meanwhile')
      expect(readFileSync(config, 'utf8')).toContain('wheelhouse')
      await providers.gateway().takeover('codex').disable()
      expect(readFileSync(config, 'utf8')).toContain('[mcp_servers.mine]')
      expect(readFileSync(config, 'utf8')).toBe(readFileSync(twin, 'utf8'))
      const [login, same] = [codexHome, twinHome].map((home) => readFileSync(join(home, 'auth.json'), 'utf8'))
      expect(login).toContain('sk-a-login-made-meanwhile')
      expect(login).toBe(same)

      await takeOver(providers, kind)
      await inBoth(['mcp', 'remove', 'mine'])
      await providers.gateway().takeover('codex').disable()
      expect(readFileSync(config, 'utf8')).toBe(before)
      expect(readdirSync(codexHome).filter((name) => name.endsWith('.tmp'))).toEqual([])
    },
  )
})

describeWithAgent('codex', 'plain Codex that stays signed in under takeover', () => {
  test('PR-A76 PR-A88 its login comes along and is removed, and a dead key of the Provider costs it no refresh', async () => {
    const { world, codexHome, env, workDir } = await openWorld()
    await using _world = world
    await using upstream = await startUpstream(world.dir.at('upstream'), [say('signed in'), { status: 401 }])
    writeFileSync(join(codexHome, 'auth.json'), LOGIN)
    // What it asks its maker when it is signed in is no part of this, and is waited for where there is no network.
    writeFileSync(join(codexHome, 'config.toml'), '[features]\nplugins = false\napps = false\n')
    const { providers } = await world.open()
    const { id } = await create(providers, customInput('One', `http://127.0.0.1:${upstream.port}/v1`), KEY_OF_FIRST)
    await providers.gateway().setUpstream('codex', id)
    await takeOver(providers, 'provider_table', true)
    expect(await ask(env, workDir, 'who are you')).toContain('signed in')
    await expect(ask(env, workDir, 'and now')).rejects.toThrow(/codex exec/)
    const asked = await upstream.requests()
    expect(asked).toHaveLength(2)
    for (const { headers } of asked) {
      expect(headers['authorization']).toBe(`Bearer ${KEY_OF_FIRST}`)
      expect(JSON.stringify(headers)).not.toMatch(/whg_|canary-|chatgpt-account-id/)
    }
    expect(readFileSync(join(codexHome, 'auth.json'), 'utf8')).toBe(LOGIN)
  })
})

describeWithAgent('claude', 'plain Claude Code under takeover', () => {
  test('PR-A57 reaches the picked Provider, then the other; afterwards its settings are as before', async () => {
    const { world, env, workDir } = await openWorld()
    await using _world = world
    const claudeHome = world.dir.at('home', '.claude')
    mkdirSync(claudeHome)
    world.environment['CLAUDE_CONFIG_DIR'] = claudeHome
    const settings = join(claudeHome, 'settings.json')
    const before = '{\n  "env": {\n    "DISABLE_TELEMETRY": "1"\n  }\n}\n'
    writeFileSync(settings, before)
    const fallback = (text: string) => Array.from({ length: 6 }, () => say(text))
    await using first = await startUpstream(world.dir.at('first'), fallback('from-the-first'))
    await using second = await startUpstream(world.dir.at('second'), fallback('from-the-second'))
    const { providers } = await world.open()
    const claude = { client: 'claude' } as const
    const one = await create(providers, customInput('One', `http://127.0.0.1:${first.port}`, claude), KEY_OF_FIRST)
    const two = await create(providers, customInput('Two', `http://127.0.0.1:${second.port}`, claude), KEY_OF_SECOND)
    await providers.gateway().setUpstream('claude', one.id)
    const takeover = providers.gateway().takeover('claude')
    await takeover.enable({ digest: (await takeover.plan()).digest })

    const own = { ...env, CLAUDE_CONFIG_DIR: claudeHome, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' }
    const askClaude = (prompt: string, ...more: string[]): Promise<string> =>
      run('claude', ['-p', prompt, '--model', 'fake-large', ...more], own, workDir)
    const told = JSON.parse(await askClaude('who are you', '--output-format', 'json')) as {
      result: string
      session_id: string
    }
    expect(told.result).toContain('from-the-first')
    await providers.gateway().setUpstream('claude', two.id)
    expect(await askClaude('and you')).toContain('from-the-second')
    const asked = await second.requests()
    expect(asked.map(({ headers }) => headers['authorization'])).toEqual(asked.map(() => `Bearer ${KEY_OF_SECOND}`))
    expect(JSON.stringify(asked.map(({ headers }) => headers))).not.toMatch(/whg_/)

    await takeover.disable()
    expect(readFileSync(settings, 'utf8')).toBe(before)

    // What was begun meanwhile goes on at the upstream of the person's own.
    const address = { ANTHROPIC_BASE_URL: `http://127.0.0.1:${second.port}`, ANTHROPIC_AUTH_TOKEN: 'of-the-shell' }
    const args = ['-p', 'go on', '--model', 'fake-large', '--resume', told.session_id]
    expect(await run('claude', args, { ...own, ...address }, workDir)).toContain('from-the-second')
    const last = (await second.requests()).at(-1)
    expect(last?.headers['authorization']).toBe('Bearer of-the-shell')
    expect(JSON.stringify(last?.body)).toMatch(/who are you.*from-the-first.*go on/)
  })

  test('PR-C08 what Claude Code itself writes into its settings meanwhile is as without takeover', async () => {
    const { world, env, workDir } = await openWorld()
    await using _world = world
    const homes = [world.dir.at('home', '.claude'), world.dir.at('twin', '.claude')] as const
    // The second is never taken over.
    const [settings, twin] = [join(homes[0], 'settings.json'), join(homes[1], 'settings.json')]
    const before = '{\n  "model": "opus",\n  "env": {\n    "DISABLE_TELEMETRY": "1"\n  }\n}\n'
    for (const home of homes) mkdirSync(home, { recursive: true })
    for (const path of [settings, twin]) writeFileSync(path, before)
    world.environment['CLAUDE_CONFIG_DIR'] = homes[0]
    const market = world.dir.at('market')
    const plugin = join(market, 'mine')
    for (const folder of [market, plugin]) mkdirSync(join(folder, '.claude-plugin'), { recursive: true })
    const described = { name: 'mine', description: 'Mine', version: '1.0.0' }
    const sold = { name: 'market', owner: { name: 'me' }, plugins: [{ ...described, source: './mine' }] }
    writeFileSync(join(market, '.claude-plugin', 'marketplace.json'), JSON.stringify(sold))
    writeFileSync(join(plugin, '.claude-plugin', 'plugin.json'), JSON.stringify(described))
    const { providers } = await world.open()
    const { id } = await create(providers, customInput('One', 'http://127.0.0.1:9', { client: 'claude' }), KEY_OF_FIRST)
    await providers.gateway().setUpstream('claude', id)
    const takeover = providers.gateway().takeover('claude')
    await takeover.enable({ digest: (await takeover.plan()).digest })

    // It prints the whole file anew.
    for (const home of homes) {
      const own = { ...env, CLAUDE_CONFIG_DIR: home, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' }
      await run('claude', ['plugin', 'marketplace', 'add', market], own, workDir)
      await run('claude', ['plugin', 'install', 'mine@market'], own, workDir)
    }
    expect(readFileSync(settings, 'utf8')).toContain('ANTHROPIC_BASE_URL')
    await takeover.disable()
    expect(readFileSync(settings, 'utf8')).toContain('mine@market')
    expect(readFileSync(settings, 'utf8')).toBe(readFileSync(twin, 'utf8'))
  })
})
