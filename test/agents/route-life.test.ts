/**
 * The real agents on routes of the real Router: one that goes away under them, answers that go wrong, settings that name other
 * ways, and conversations begun elsewhere.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createSystemClock } from '../../src/main/platform/index.ts'
import type { LaunchRequest, RoutePlan } from '../../src/main/providers/index.ts'
import type { Session, SessionConfig } from '../../src/main/workers/index.ts'
import { CANARY, bind, create, createWorld, customInput, launch } from '../main/providers/support.ts'
import type { World } from '../main/providers/support.ts'
import type { AgentRig } from './agent-session.ts'
import { prompt } from './agent-session.ts'
import { createClaudeRig } from './claude-session.ts'
import { createCodexRig } from './codex-session.ts'
import type { CodexRig } from './codex-session.ts'
import { describeWithAgent } from './installed.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 })

const QUICK = { closeStdinMs: 2_000, termGraceMs: 500 }
const say = (text: string) => ({ steps: [{ text }] })
const through = (route: RoutePlan) => (cfg: SessionConfig) => ({ ...cfg, route })
const CODEX = { client: 'codex', form: 'app_server' } as const
const CLAUDE = { client: 'claude', form: 'cli' } as const

/** A route to the rig's scripted Provider. */
async function routeTo({ upstream }: AgentRig, world: World, of: Pick<LaunchRequest, 'client' | 'form'>) {
  const host = await world.open()
  const origin = `http://127.0.0.1:${upstream.port}`
  const address = of.client === 'codex' ? `${origin}/v1` : origin
  const { id } = await create(host.providers, customInput('Scripted', address, { client: of.client }))
  const choice = { connectionId: id, modelId: 'fake-large', effort: 'default' as const }
  return { host, plan: await bind(host, launch(id, { ...of, choice })) }
}

const openWorld = (): Promise<World> => createWorld({ clock: createSystemClock() })

describeWithAgent('codex', 'the real Codex on a route', () => {
  test.concurrent('PR-A73 a Router that stops in mid-session fails the turn within a minute', async () => {
    await using world = await openWorld()
    await using rig = await createCodexRig({ turns: [say('Hello.')] })
    const { host, plan } = await routeTo(rig, world, CODEX)
    const session = await rig.open(undefined, through(plan))
    expect(await session.prompt(prompt('hello'))).toMatchObject({ stop: 'end_turn' })
    await host.stop()
    await expectFailure(session.prompt(prompt('again')), 60_000)
  })
})

describeWithAgent('claude', 'the real Claude Code on a route', () => {
  test.concurrent('PR-A73 a Router that stops in mid-session fails the turn within half a minute', async () => {
    await using world = await openWorld()
    await using rig = await createClaudeRig({ turns: [say('Hello.')] })
    const { host, plan } = await routeTo(rig, world, CLAUDE)
    const session = await rig.open(undefined, through(plan))
    expect(await session.prompt(prompt('hello'))).toMatchObject({ stop: 'end_turn' })
    expect((await rig.upstream.requests()).map(({ headers }) => headers['authorization'])).toEqual([`Bearer ${CANARY}`])
    await host.stop()
    await expectFailure(session.prompt(prompt('again')), 30_000)
  })
})

describeWithAgent('codex', 'answers of a route as the real Codex takes them', () => {
  test('PR-A74 one that ends without its last event is asked for again', async () => {
    await using world = await openWorld()
    await using rig = await createCodexRig({ turns: [{ steps: [{ text: 'Half' }, { end: true }] }, say('Whole.')] })
    const { plan } = await routeTo(rig, world, CODEX)
    const session = await rig.open(undefined, through(plan))
    expect(await session.prompt(prompt('hello'))).toMatchObject({ stop: 'end_turn' })
    expect(await rig.upstream.requests()).toHaveLength(2)
    expect(rig.said()).toContain('Whole.')
  })
})

describeWithAgent('claude', 'answers of a route as the real Claude Code takes them', () => {
  let rig: AgentRig
  let world: World
  let session: Session

  beforeAll(async () => {
    world = await openWorld()
    rig = await createClaudeRig()
    session = await rig.open(undefined, through((await routeTo(rig, world, CLAUDE)).plan))
  })
  afterAll(async () => {
    await rig[Symbol.asyncDispose]()
    await world[Symbol.asyncDispose]()
  })

  test('PR-A74 one that ends without its last event fails the turn', async () => {
    await rig.upstream.script(...Array.from({ length: 12 }, () => ({ steps: [{ text: 'Half' }, { end: true }] })))
    await expect(session.prompt(prompt('hello'))).rejects.toMatchObject({ code: 'turn_failed' })
    expect(JSON.stringify((await rig.upstream.requests()).at(-1)?.body)).toContain('hello')
  })

  test('PR-A75 PR-A76 a dead key is asked once', async () => {
    const before = (await rig.upstream.requests()).length
    await rig.upstream.script({ status: 401, match: { bodyIncludes: 'and now' } })
    await expect(session.prompt(prompt('and now'))).rejects.toMatchObject({ code: 'turn_failed' })
    expect(await rig.upstream.requests()).toHaveLength(before + 1)
  })
})

describeWithAgent('claude', 'the real Claude Code whose settings name other ways', () => {
  const ELSEWHERE = {
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
    ANTHROPIC_AUTH_TOKEN: 'of-the-settings',
    ANTHROPIC_API_KEY: 'of-the-settings',
    CLAUDE_CODE_USE_BEDROCK: '1',
    CLAUDE_CODE_USE_VERTEX: '1',
    HTTP_PROXY: 'http://127.0.0.1:9',
    HTTPS_PROXY: 'http://127.0.0.1:9',
    CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST: '0',
  }

  test.each([
    ['the person’s', 'home/.claude/settings.json'],
    ['a trusted project’s', 'work/.claude/settings.json'],
    ['a trusted project’s local', 'work/.claude/settings.local.json'],
  ])('PR-A23 reaches the Router alone: %s', async (_whose, file) => {
    await using world = await openWorld()
    await using rig = await createClaudeRig({ turns: [say('Hello.')] })
    const path = `${rig.dir}/${file}`
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, JSON.stringify({ env: ELSEWHERE }))
    const { plan } = await routeTo(rig, world, CLAUDE)
    const session = await rig.open(undefined, (cfg) => ({ ...cfg, folderTrusted: true, route: plan }))
    expect(await session.prompt(prompt('hello'))).toMatchObject({ stop: 'end_turn' })
    const asked = await rig.upstream.requests()
    expect(asked.map(({ headers }) => headers['authorization'])).toEqual([`Bearer ${CANARY}`])
    expect(JSON.stringify(asked)).not.toContain('of-the-settings')
  })
})

/** The agents wait between their tries; the rest is quick on any machine. */
async function expectFailure(turn: Promise<unknown>, withinMs: number): Promise<void> {
  const clock = createSystemClock()
  const began = clock.monotonicMs()
  await expect(turn).rejects.toMatchObject({ code: 'turn_failed' })
  expect(clock.monotonicMs() - began).toBeLessThan(withinMs)
}

describeWithAgent('codex', 'a conversation that the real Codex began under a Provider of its config', () => {
  let rig: CodexRig
  let world: World
  let plan: RoutePlan

  beforeAll(async () => {
    rig = await createCodexRig()
    world = await openWorld()
    plan = (await routeTo(rig, world, CODEX)).plan
  })
  afterAll(async () => {
    await rig[Symbol.asyncDispose]()
    await world[Symbol.asyncDispose]()
  })

  /** Begun on the person's own configuration; answers the thread's id. */
  async function beginUnder(provider: string): Promise<string> {
    const table = `name = "Theirs"\nbase_url = "http://127.0.0.1:${rig.upstream.port}/v1"\nwire_api = "responses"\n`
    const config = `model_provider = "${provider}"\nmodel = "fake-large"\n\n[model_providers.${provider}]\n${table}`
    writeFileSync(`${rig.codexHome}/config.toml`, config)
    await rig.upstream.script(say('I am told.'))
    const session = await rig.open(undefined, (cfg) => ({ ...cfg, route: null }))
    await session.prompt(prompt('remember the blue door'))
    await session.close(QUICK)
    return session.id
  }

  test('PR-A81 the gateway’s: its table is gone, and the conversation goes on at the route', async () => {
    const threadId = await beginUnder('wheelhouse-gateway')
    writeFileSync(`${rig.codexHome}/config.toml`, '')
    await rig.upstream.script(say('I remember.'))
    const session = await rig.open(threadId, through(plan))
    expect(await session.prompt(prompt('which door?'))).toMatchObject({ stop: 'end_turn' })
    await session.close(QUICK)
    const last = (await rig.upstream.requests()).at(-1)
    expect(last?.headers['authorization']).toBe(`Bearer ${CANARY}`)
    expect(JSON.stringify(last?.body)).toMatch(/remember the blue door.*which door\?/)
  })

  test('PR-A81 the person’s own: it goes on there alone, and a connection is refused', async () => {
    const threadId = await beginUnder('mine')
    const asked = (await rig.upstream.requests()).length
    await expect(rig.open(threadId, through(plan))).rejects.toMatchObject({
      code: 'model_profile_bypass',
      detail: 'mine',
      started: 'ended',
    })
    expect(await rig.upstream.requests()).toHaveLength(asked)
  })
})
