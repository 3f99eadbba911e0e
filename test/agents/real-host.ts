/** The composed host in this process, and sessions of the real agents on routes to scripted Providers. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { vi } from 'vitest'
import { connectInProcess } from '../../src/main/bridge/index.ts'
import { createHost } from '../../src/main/host.ts'
import type { Bridge } from '../../src/shared/bridge/client.ts'
import type { DecisionView, ProcedureOutput } from '../../src/shared/bridge/index.ts'
import { ensureBuilt, entryDir } from '../main/host/support/built.ts'
import { follow, isEnd } from '../main/host/support/client.ts'
import type { SessionEvent } from '../main/host/support/client.ts'
import { createTempDir } from '../support/dir.ts'
import { until } from './agent-session.ts'
import { AGENT_PATH } from './installed.ts'
import type { Upstream } from './upstream.ts'

export type RealAgent = 'codex' | 'claude'
export const MODEL = 'fake-large'

export interface RealHost extends AsyncDisposable {
  readonly bridge: Bridge
  readonly home: string
  readonly dataDir: string
  readonly workDir: string
  /** What the agents, and a plain shell of the same person, are given. */
  readonly env: Readonly<Record<string, string>>
  /** A connection that leads to the scripted Provider. Answers its id. */
  connect(client: RealAgent, name: string, upstream: Upstream, key: string): Promise<string>
  /** A session on that connection; null: on the agent's own login. */
  talk(agentId: RealAgent, connectionId: string | null): Promise<Talk>
  /** Digests of the open routes' ids, as they are stored. */
  routeDigests(): string[]
  /** Ends the host in order. */
  stop(): Promise<void>
}

export interface Talk {
  readonly sessionId: string
  submit(text: string): Promise<string>
  /** What the run waits for a person to answer. */
  asked(runId: string): Promise<DecisionView>
  ended(runId: string): Promise<SessionEvent>
  /** A prompt to its end, everything allowed that it asks. */
  prompt(text: string): Promise<SessionEvent>
  allow(decision: DecisionView): Promise<void>
  /** Goes on at another connection. */
  move(connectionId: string, allowHistoryStrip: boolean): Promise<ProcedureOutput<'sessions.config.set'>['effect']>
  /** What the session was told beside the agent's words, oldest first. */
  notices(): { code: unknown; message: unknown }[]
  /** The agent's own id of the conversation. */
  threadId(): string
}

/** Traffic of the agents' own is no part of these tests. */
const QUIET_CODEX = '[features]\nplugins = false\napps = false\n\n[analytics]\nenabled = false\n'
const QUIET_CLAUDE = JSON.stringify({ env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' } })

export async function createRealHost(): Promise<RealHost> {
  await using undo = new AsyncDisposableStack()
  const putAway = await ensureBuilt()
  undo.defer(() => putAway())
  const dir = undo.use(createTempDir())
  const home = dir.at('home')
  const codexHome = dir.at('home', '.codex')
  const claudeHome = dir.at('home', '.claude')
  const [dataDir, workDir] = [dir.at('data'), dir.at('project')]
  for (const folder of [codexHome, claudeHome, dataDir, workDir]) mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(`${codexHome}/config.toml`, QUIET_CODEX)
  writeFileSync(`${claudeHome}/settings.json`, QUIET_CLAUDE)
  const env = { HOME: home, CODEX_HOME: codexHome, PATH: AGENT_PATH, LANG: 'C.UTF-8', USER: 'tester' }
  // No keychain of the person who runs the tests is written to.
  vi.stubEnv('DBUS_SESSION_BUS_ADDRESS', 'disabled:')
  undo.defer(() => void vi.unstubAllEnvs())

  const host = await createHost({ dataDir, entryDir: entryDir(), env })
  undo.defer(() => host.stop())
  const bridge = connectInProcess(host.platform.clock, (connection) => host.attach(connection, 'cli'))
  undo.defer(() => bridge.close())
  await until('the bridge is open', () => bridge.status().kind === 'open')
  const column = (sql: string, ...of: string[]): string[] =>
    host.platform.store.db
      .prepare(sql)
      .pluck()
      .all(...of)
      .map(String)

  async function talk(agentId: RealAgent, connectionId: string | null): Promise<Talk> {
    const choice = { connectionId, modelId: connectionId === null ? null : MODEL, effort: 'default' as const }
    const { id: sessionId } = await bridge.call('sessions.create', { agentId, workDir, mode: 'agent', choice })
    const followed = follow(bridge, sessionId)
    const submit = async (text: string): Promise<string> =>
      (await bridge.call('runs.submit', { sessionId, text })).runId
    const ended = (runId: string): Promise<SessionEvent> => followed.until(isEnd(runId))
    const pending = async (runId: string): Promise<DecisionView | undefined> =>
      (await bridge.call('decisions.pending', {})).decisions.find((each) => each.runId === runId)
    const allow = async ({ decisionId }: DecisionView): Promise<void> => {
      await bridge.call('decisions.resolve', { decisionId, answer: { option: 'allow_once' } })
    }
    return {
      sessionId,
      submit,
      ended,
      allow,
      async asked(runId) {
        await until('the agent asks', async () => {
          const end = followed.events.find(isEnd(runId))
          if (end !== undefined) throw new Error(`the run ended: ${JSON.stringify(end.data)}`)
          return (await pending(runId)) !== undefined
        })
        const decision = await pending(runId)
        if (decision === undefined) throw new Error('somebody answered it')
        return decision
      },
      async prompt(text) {
        const runId = await submit(text)
        await until('the run has ended', async () => {
          const waiting = await pending(runId)
          if (waiting !== undefined) await allow(waiting)
          return followed.events.some(isEnd(runId))
        })
        return ended(runId)
      },
      async move(to, allowHistoryStrip) {
        const { rev } = await bridge.call('sessions.config.get', { sessionId })
        const { effect } = await bridge.call('sessions.config.set', {
          sessionId,
          expectedRev: rev,
          choice: { connectionId: to, modelId: MODEL, effort: 'default' },
          allowHistoryStrip,
        })
        return effect
      },
      notices: () =>
        followed.events
          .filter(({ type }) => type === 'notice')
          .map(({ data }) => ({ code: data['code'], message: data['message'] })),
      threadId: () => column('SELECT agent_session_id FROM agent_sessions WHERE session_id = ?', sessionId)[0] ?? '',
    }
  }

  const all = undo.move()
  return {
    bridge,
    home,
    dataDir,
    workDir,
    env,
    talk,
    async connect(client, name, { port }, key) {
      const { revision } = await bridge.call('providers.list', {})
      const origin = `http://127.0.0.1:${port}`
      const { connectionId } = await bridge.call('providers.upsert', {
        connection: {
          name,
          client,
          preset: 'custom',
          baseUrl: client === 'codex' ? `${origin}/v1` : origin,
          manualModelId: MODEL,
        },
        key,
        expectedRevision: revision,
      })
      if (connectionId === null) throw new Error('the connection was not made')
      return connectionId
    },
    routeDigests: () => column('SELECT digest FROM routes'),
    stop: () => host.stop(),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}
