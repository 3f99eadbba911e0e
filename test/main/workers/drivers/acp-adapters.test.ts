import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createSecret } from '../../../../src/main/platform/index.ts'
import { customProfile } from '../../../../src/main/workers/drivers/acp/index.ts'
import { prepareAdapter } from '../../../../src/main/workers/drivers/acp/adapters/index.ts'
import type { Prepared } from '../../../../src/main/workers/drivers/acp/adapters/index.ts'
import { findProgram } from '../../../../src/main/workers/index.ts'
import type { AgentProfile, PermissionMode, SessionConfig } from '../../../../src/main/workers/index.ts'
import { createHarness, failure, prompt } from '../harness.ts'
import type { Harness, HarnessOptions } from '../harness.ts'
import { acpFixture } from './acp-fixture.ts'

const named = (command: string, args: readonly string[] = []): AgentProfile =>
  customProfile({ id: 'acp:x', product: 'X', command, args, env: {} })

/** The fake, told that it is the adapter of this program. */
function harness(program: string, options: Partial<HarnessOptions> = {}): Harness {
  const { change = (cfg) => cfg } = options
  return createHarness(acpFixture, {
    scenario: 'ok',
    ...options,
    change(cfg) {
      const profile = { ...named(program), command: cfg.profile?.command ?? '' }
      return change({ ...cfg, env: { ...cfg.env, CODEX_PATH: '/opt/codex' }, profile })
    },
  })
}

function prepared({ cfg }: Harness, mode: PermissionMode = 'ask'): Promise<Prepared> {
  if (cfg.profile === undefined) throw new Error('no profile')
  return prepareAdapter({ deps: { findProgram, hostEnv: () => undefined }, cfg, profile: cfg.profile, mode })
}

/** The person's own file, and the folder's. */
function codexFiles({ cfg, dir }: Harness, files: { user?: string; folder?: string }): void {
  mkdirSync(`${dir}/home/.codex`)
  writeFileSync(`${dir}/home/.codex/config.toml`, files.user ?? '')
  if (files.folder === undefined) return
  mkdirSync(`${cfg.cwd}/.codex`)
  writeFileSync(`${cfg.cwd}/.codex/config.toml`, files.folder)
}

const CODEX_MODES = { FAKE_MODES: 'agent,read-only,workspace-write,agent-full-access' }
const SERVER = '[mcp_servers.trap]\ncommand = "trap"\n'

describe('agents that are known by their program', () => {
  test.each([
    ['codex-acp', [], 'codex', 'read-only'],
    ['/opt/bin/codex-acp', [], 'codex', 'read-only'],
    ['npx', ['-y', '@agentclientprotocol/codex-acp@2.6.0'], 'codex', 'read-only'],
    ['claude-agent-acp', [], 'claude', 'default'],
    ['gemini', ['--acp'], null, 'default'],
    ['opencode', ['acp'], 'opencode', 'build'],
    ['another', ['codex'], null, 'ask'],
  ] as const)('WK-74 %s %j', (command, args, adapter, ask) => {
    const profile = named(command, args)
    expect(profile).toMatchObject({ adapter, command, args, id: 'acp:x', product: 'X' })
    expect(profile.modes.ask[0]).toBe(ask)
    expect(Object.values(profile.modes).flat()).not.toContain('agent')
  })
})

describe('codex-acp', () => {
  test('WK-74 the mode is set and proven before the prompt', async () => {
    await using h = harness('codex-acp', { env: CODEX_MODES })
    const session = await h.open()
    expect(session.facts).toMatchObject({ mode: 'ask', modeVerified: true })
    await session.prompt(prompt('hello'))
    const { wire, env } = h.report()
    expect(wire.map(({ method }) => method)).toEqual([
      'initialize',
      'session/new',
      'session/set_mode',
      'session/prompt',
    ])
    expect(wire[2]).toMatchObject({ params: { modeId: 'read-only' } })
    expect(env['INITIAL_AGENT_MODE']).toBe('read-only')
  })

  test('WK-74 kept in the mode where a model approves, it is unsafe', async () => {
    await using h = harness('codex-acp', {
      scenario: 'badmode',
      env: CODEX_MODES,
      change: (cfg) => ({ ...cfg, limits: { modeConfirmMs: 300 } }),
    })
    expect(await failure(h.open())).toMatchObject({ code: 'unsafe_mode', started: 'ended' })
    expect(h.report().wire.map(({ method }) => method)).not.toContain('session/prompt')
  })

  test('WK-74 a folder that would start servers of its own is refused before anything runs', async () => {
    await using h = harness('codex-acp', { env: CODEX_MODES })
    codexFiles(h, { folder: SERVER })
    expect(await failure(h.open())).toMatchObject({ code: 'worker_unusable', started: 'never' })
    expect(h.started).toEqual([])
    expect(readdirSync(h.cfg.privateDir)).toEqual([])
  })

  test('WK-74 one above it, up to the Git root, is found too; beyond the root none is looked for', async () => {
    await using h = harness('codex-acp', { change: (cfg) => ({ ...cfg, cwd: `${cfg.cwd}/deep/er` }) })
    mkdirSync(h.cfg.cwd, { recursive: true })
    const above = `${h.dir}/work`
    mkdirSync(`${above}/.codex`)
    writeFileSync(`${above}/.codex/config.toml`, SERVER)
    mkdirSync(`${above}/deep/.git`)
    await (await prepared(h)).discard()
    mkdirSync(`${above}/deep/.codex`)
    writeFileSync(`${above}/deep/.codex/config.toml`, '')
    expect(await failure(prepared(h))).toMatchObject({ code: 'worker_unusable', started: 'never' })
  })

  test('WK-74 a folder that the person told Codex to trust is taken', async () => {
    await using h = harness('codex-acp')
    codexFiles(h, { folder: SERVER, user: `[projects."${h.cfg.cwd}"]\ntrust_level = "trusted"\n` })
    expect((await prepared(h)).env['CODEX_CONFIG']).toBeDefined()
  })

  test('WK-74 so is one that the person trusts here', async () => {
    await using h = harness('codex-acp', { change: (cfg) => ({ ...cfg, folderTrusted: true }) })
    codexFiles(h, { folder: SERVER })
    expect((await prepared(h)).env['CODEX_CONFIG']).toBeDefined()
  })

  test('WK-47 WK-42 settings and switches go by a private script and the environment, the key by the protocol alone', async () => {
    const key = 'a-key-of-a-route-0123456789'
    await using h = harness('codex-acp', {
      change: (cfg) => ({
        ...cfg,
        mcp: 'exact',
        route: {
          argv: ['-c', 'cli_auth_credentials_store="ephemeral"'],
          config: { openai_base_url: 'http://127.0.0.1:1/v1' },
          key: createSecret(key),
          envSet: { NO_PROXY: '127.0.0.1' },
          envUnset: [],
        },
      }),
    })
    codexFiles(h, { user: `${SERVER}[shell_environment_policy]\nexclude = ["MY_*"]\n` })
    const { env, loginMeta } = await prepared(h)
    const script = env['CODEX_PATH'] ?? ''
    expect(statSync(script).mode & 0o777).toBe(0o700)
    const text = readFileSync(script, 'utf8')
    expect(text).toContain(`exec '/opt/codex' `)
    for (const switched of [
      'features.unbounded_connection_retries=false',
      'cli_auth_credentials_store="ephemeral"',
      'mcp_servers.trap.enabled=false',
    ]) {
      expect(text).toContain(`'-c' '${switched}'`)
    }
    const config: unknown = JSON.parse(env['CODEX_CONFIG'] ?? '')
    expect(config).toMatchObject({
      openai_base_url: 'http://127.0.0.1:1/v1',
      shell_environment_policy: {
        set: { WHEELHOUSE_WORKER: h.cfg.workerId },
        exclude: ['MY_*', 'NO_PROXY', 'CODEX_CONFIG', 'CODEX_PATH'],
      },
    })
    expect(loginMeta).toEqual({ 'api-key': { apiKey: key } })
    expect(`${text}${JSON.stringify(env)}`).not.toContain(key)
  })

  test('WK-43 a server of the person by the name of a given one is a mismatch, one that no flag can name is refused', async () => {
    await using h = harness('codex-acp', {
      change: (cfg) => ({
        ...cfg,
        mcp: 'exact',
        mcpServers: [{ name: 'trap', command: '/bin/cat', args: [], env: {} }],
      }),
    })
    codexFiles(h, { user: SERVER })
    expect(await failure(prepared(h))).toMatchObject({ code: 'mcp_mismatch', started: 'never' })
    await using other = harness('codex-acp', { change: (cfg) => ({ ...cfg, mcp: 'exact' }) })
    codexFiles(other, { user: '[mcp_servers."a b"]\ncommand = "trap"\n' })
    expect(await failure(prepared(other))).toMatchObject({ code: 'worker_unusable', started: 'never' })
  })

  test('the Codex that it brings along is the one that the script starts', async () => {
    await using h = harness('codex-acp')
    const bin = `${h.dir}/package`
    const own = `${bin}/node_modules/@openai/codex/bin/codex.js`
    mkdirSync(`${bin}/node_modules/@openai/codex/bin`, { recursive: true })
    writeFileSync(own, '')
    for (const program of ['codex-acp', 'node']) {
      writeFileSync(`${bin}/${program}`, '#!/bin/sh\n')
      chmodSync(`${bin}/${program}`, 0o700)
    }
    const { CODEX_PATH: _, ...env } = h.cfg.env
    const cfg: SessionConfig = { ...h.cfg, env: { ...env, PATH: bin }, profile: named('codex-acp') }
    const { env: given, discard } = await prepared({ ...h, cfg })
    expect(readFileSync(given['CODEX_PATH'] ?? '', 'utf8')).toContain(`exec '${bin}/node' '${own}' `)
    await discard()
    expect(existsSync(given['CODEX_PATH'] ?? '')).toBe(false)
    const nowhere: SessionConfig = { ...cfg, env: { ...env, PATH: `${h.dir}/home` } }
    expect(await failure(prepared({ ...h, cfg: nowhere }))).toMatchObject({ code: 'worker_unusable', started: 'never' })
  })
})

describe('other adapters', () => {
  test('WK-74 claude-agent-acp reads the settings of a trusted folder alone', async () => {
    await using h = harness('claude-agent-acp', {
      env: { FAKE_MODES: 'default,plan' },
      change: (cfg) => ({ ...cfg, mcp: 'exact' }),
    })
    await h.open()
    expect(h.report().wire.find(({ method }) => method === 'session/new')).toMatchObject({
      params: { _meta: { claudeCode: { options: { settingSources: ['user'], strictMcpConfig: true } } } },
    })
    const trusted = await prepared({ ...h, cfg: { ...h.cfg, folderTrusted: true, mcp: 'with_users_own' } })
    expect(trusted.sessionMeta).toEqual({
      claudeCode: { options: { settingSources: ['user', 'project', 'local'], promptSuggestions: false } },
    })
  })

  test('WK-74 what opencode asks in its one mode is set beside it', async () => {
    await using h = harness('opencode', { env: { FAKE_MODES: 'plan,build' } })
    const session = await h.open()
    expect(session.facts).toMatchObject({ mode: 'ask', modeVerified: true })
    const told = (env: Readonly<Record<string, string>>): unknown => JSON.parse(env['OPENCODE_CONFIG_CONTENT'] ?? '')
    expect(told(h.report().env)).toEqual({ permission: { bash: 'ask', edit: 'ask' } })
    expect(told((await prepared(h, 'edits')).env)).toEqual({ permission: { bash: 'ask', edit: 'allow' } })
    expect(told((await prepared(h, 'anything')).env)).toEqual({ permission: { bash: 'allow', edit: 'allow' } })
  })
})
