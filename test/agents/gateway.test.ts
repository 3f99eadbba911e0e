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

async function ask(env: Readonly<Record<string, string>>, cwd: string, prompt: string): Promise<string> {
  const args = ['exec', '--skip-git-repo-check', prompt]
  const asked = promisify(execFile)('codex', args, { env: { ...env }, cwd, timeout: 100_000, killSignal: 'SIGKILL' })
  asked.child.stdin?.end()
  return (await asked).stdout
}

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

  test('PR-T20 what Codex itself writes into its config meanwhile stays', async () => {
    const { world, codexHome, env, workDir } = await openWorld()
    await using _world = world
    await using upstream = await startUpstream(world.dir.at('upstream'))
    const config = join(codexHome, 'config.toml')
    writeFileSync(config, BEFORE)
    const { providers } = await world.open()
    const { id } = await create(providers, customInput('One', `http://127.0.0.1:${upstream.port}/v1`), KEY_OF_FIRST)
    await providers.gateway().setUpstream('codex', id)
    await takeOver(providers, 'provider_table')
    // Codex rewrites its own file with its own TOML writer.
    await promisify(execFile)('codex', ['mcp', 'add', 'mine', '--', 'true'], {
      env: { ...env },
      cwd: workDir,
      timeout: 60_000,
    })
    expect(readFileSync(config, 'utf8')).toContain('[mcp_servers.mine]')
    await providers.gateway().takeover('codex').disable()
    const after = readFileSync(config, 'utf8')
    expect(after).not.toContain('wheelhouse')
    expect(after).toContain('[mcp_servers.mine]')
    expect(after.startsWith('# mine\nmodel = "gpt-5.2" # kept\n')).toBe(true)
    expect(readdirSync(codexHome).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })
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

    const askClaude = async (prompt: string): Promise<string> => {
      const asked = promisify(execFile)('claude', ['-p', prompt, '--model', 'fake-large'], {
        env: { ...env, CLAUDE_CONFIG_DIR: claudeHome, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
        cwd: workDir,
        timeout: 100_000,
        killSignal: 'SIGKILL',
      })
      asked.child.stdin?.end()
      return (await asked).stdout
    }
    expect(await askClaude('who are you')).toContain('from-the-first')
    await providers.gateway().setUpstream('claude', two.id)
    expect(await askClaude('and you')).toContain('from-the-second')
    const asked = await second.requests()
    expect(asked.map(({ headers }) => headers['authorization'])).toEqual(asked.map(() => `Bearer ${KEY_OF_SECOND}`))
    expect(JSON.stringify(asked.map(({ headers }) => headers))).not.toMatch(/whg_/)

    await takeover.disable()
    expect(readFileSync(settings, 'utf8')).toBe(before)
  })
})
