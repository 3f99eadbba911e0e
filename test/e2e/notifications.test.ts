import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DecisionView } from '../../src/shared/bridge/index.ts'
import { createTempDir } from '../support/dir.ts'
import { freePort } from '../support/port.ts'
import { startScriptedService, startTestBus } from '../support/session-bus.ts'
import type { ScriptedService, Shown, TestBus } from '../support/session-bus.ts'
import { serveHost } from './support/app.ts'
import type { ServedHost } from './support/app.ts'
import { callHost } from './support/call-host.ts'

const SOON = { timeout: 60_000, interval: 50 }
const dir = createTempDir()
const DATA = dir.at('data')
const CONFIG = dir.at('codex', 'config.toml')
const output: string[] = []
let bus: TestBus
let service: ScriptedService
let host: ServedHost

// A host without a window: nobody looks.
beforeAll(async () => {
  for (const name of ['data', 'codex', 'project']) mkdirSync(dir.at(name), { mode: 0o700 })
  writeFileSync(CONFIG, 'model = "gpt-5.2"\n')
  writeFileSync(dir.at('data', 'settings.json'), JSON.stringify({ gatewayPort: await freePort() }), { mode: 0o600 })
  bus = await startTestBus()
  service = await startScriptedService(bus.address)
  const env = { DBUS_SESSION_BUS_ADDRESS: bus.address, CODEX_HOME: dir.at('codex') }
  host = await serveHost({ home: DATA, env }, output)
})

afterAll(async () => {
  host.child.kill('SIGTERM')
  expect(await host.exited).toBe(0)
  await service.stop()
  await bus.stop()
  dir[Symbol.dispose]()
})

/** An approval of a session of the rehearsal, and its card with its number. */
async function askFor(command: string): Promise<{ decision: DecisionView; card: Shown; id: number }> {
  const session = await callHost(DATA, 'sessions.create', { agentId: 'builtin', workDir: dir.at('project') })
  await callHost(DATA, 'runs.submit', { sessionId: session.id, text: `run: ${command}` })
  await expect.poll(() => service.shown.find(({ body }) => body === command), SOON).toBeDefined()
  const { decisions } = await callHost(DATA, 'decisions.pending', {})
  const decision = decisions.find(({ sessionId }) => sessionId === session.id)
  const card = service.shown.find(({ body }) => body === command)
  if (decision === undefined || card === undefined) throw new Error('the approval was settled by somebody else')
  return { decision, card, id: service.shown.indexOf(card) + 1 }
}

test('DT-A05 a host without a window shows an approval on the bus; Allow once runs the command and takes the card away', async () => {
  const { decision, card, id } = await askFor('touch allowed')
  expect(card).toMatchObject({ appName: 'Wheelhouse', replaces: 0, expireMs: 0 })
  expect(card.title).toContain('wants to go on')
  expect(card.actions).toEqual(['default', 'Open', 'button-0', 'Allow once', 'button-1', 'Deny'])
  service.signal('ActionInvoked', id, 'button-0')
  await expect.poll(() => existsSync(dir.at('project', 'allowed')), SOON).toBe(true)
  await expect.poll(() => service.closed, SOON).toContain(id)
  const { decisions } = await callHost(DATA, 'decisions.history', { sessionId: decision.sessionId })
  expect(decisions).toMatchObject([{ answer: { option: 'allow_once' }, by: { via: 'notification' } }])
})

test('an approval that is settled elsewhere is taken away', async () => {
  const { decision, id } = await askFor('touch elsewhere')
  const { decisionId } = decision
  await callHost(DATA, 'decisions.resolve', { decisionId, answer: { option: 'reject_once' } })
  await expect.poll(() => service.closed, SOON).toContain(id)
  expect(existsSync(dir.at('project', 'elsewhere'))).toBe(false)
})

test('a place for answers shows a notification through the same service', async () => {
  const target = { kind: 'os_notification', name: 'Me' } as const
  const { id } = await callHost(DATA, 'deliveries.targets.save', { target })
  expect(await callHost(DATA, 'deliveries.targets.test', { id })).toEqual({ delivered: true, failureCode: null })
  await expect.poll(() => service.shown.map(({ title }) => title), SOON).toContain('Me')
})

test('a config file that no longer leads to the gateway is told', async () => {
  const { gateway } = await enableTakeover()
  expect(gateway.takeovers.find(({ client }) => client === 'codex')?.state).toBe('active')
  expect(readFileSync(CONFIG, 'utf8')).toContain('openai_base_url')
  writeFileSync(CONFIG, 'model = "gpt-5.2"\n')
  const drifted = { title: 'Codex', body: 'Its config file was changed and may no longer lead to the gateway' }
  await expect.poll(() => service.shown, SOON).toContainEqual(expect.objectContaining(drifted))
})

async function enableTakeover() {
  const { revision } = await callHost(DATA, 'providers.list', {})
  const { connectionId } = await callHost(DATA, 'providers.upsert', {
    connection: { name: 'Mine', client: 'codex', preset: 'custom', baseUrl: 'http://127.0.0.1:9/v1' },
    key: 'sk-a-key-of-nobody-0123456789',
    expectedRevision: revision,
  })
  await callHost(DATA, 'gateway.setUpstream', { client: 'codex', connectionId })
  const { digest } = await callHost(DATA, 'gateway.plan', { client: 'codex' })
  return callHost(DATA, 'gateway.enable', { client: 'codex', digest })
}
