/** The composed host: MCP servers of a person and of Wheelhouse's own in its sessions, and an agent that a person added. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Bridge } from '../../../src/shared/bridge/client.ts'
import { connectInProcess } from '../../../src/main/bridge/index.ts'
import { createHost } from '../../../src/main/host.ts'
import type { Host } from '../../../src/main/host.ts'
import { createTempDir } from '../../support/dir.ts'
import { ensureBuilt, entryDir } from './support/built.ts'
import { follow, isEnd } from './support/client.ts'

const FAKE_AGENT = fileURLToPath(new URL('../../fixtures/agents/fake-acp.mjs', import.meta.url))

/** What the model does next: calls of tools, or its last words. */
type Step = { calls: [name: string, args: object][] } | { text: string }

let dir: ReturnType<typeof createTempDir>
let upstream: Server
let host: Host
let bridge: Bridge
let connectionId = ''
let putAway: () => void
const steps: Step[] = []
const asked: { tools?: { name?: string }[]; input?: unknown }[] = []

function eventsOf(step: Step): { type: string }[] {
  const items =
    'text' in step
      ? [{ type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: step.text }] }]
      : step.calls.map(([name, args], index) => ({
          type: 'function_call',
          id: `fc_${index}`,
          call_id: `call_${asked.length}_${index}`,
          name,
          arguments: JSON.stringify(args),
          status: 'completed',
        }))
  return [
    { type: 'response.created', response: { id: 'resp_1', created_at: 0, model: 'quick-1' } },
    ...items.flatMap((item, output_index) => [
      { type: 'response.output_item.added', output_index, item },
      ...('text' in step
        ? [{ type: 'response.output_text.delta', item_id: 'msg_1', output_index, content_index: 0, delta: step.text }]
        : []),
      { type: 'response.output_item.done', output_index, item },
    ]),
    { type: 'response.completed', response: { usage: { input_tokens: 1, output_tokens: 1 } } },
  ] as { type: string }[]
}

beforeAll(async () => {
  putAway = await ensureBuilt()
  dir = createTempDir()
  mkdirSync(dir.at('project'))
  upstream = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      asked.push(JSON.parse(Buffer.concat(parts).toString('utf8')))
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const step = steps.shift() ?? { text: 'Nothing is left to do.' }
      response.end(
        eventsOf(step)
          .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
          .join(''),
      )
    })
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => upstream.once('listening', resolve))
  const env = { PATH: process.env['PATH'], HOME: dir.path, LANG: 'C.UTF-8' }
  host = await createHost({ dataDir: dir.at('data'), entryDir: entryDir(), env })
  bridge = connectInProcess(host.platform.clock, (connection) => host.attach(connection, 'cli'))
  await vi.waitUntil(() => bridge.status().kind === 'open', { timeout: 30_000 })
  const saved = await bridge.call('providers.upsert', {
    connection: {
      name: 'Quick',
      client: 'builtin',
      preset: 'custom',
      baseUrl: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`,
      authMode: 'bearer',
      protocol: 'responses',
      manualModelId: 'quick-1',
    },
    key: 'sk-quick-0123456789abcdef',
    expectedRevision: (await bridge.call('providers.list', {})).revision,
  })
  connectionId = saved.connectionId ?? ''
}, 180_000)
afterAll(async () => {
  bridge.close()
  await host.stop()
  upstream.close()
  dir[Symbol.dispose]()
  putAway()
})

const choice = () => ({ connectionId, modelId: 'quick-1', effort: 'default' }) as const

async function run(sessionId: string, text: string) {
  const { runId } = await bridge.call('runs.submit', { sessionId, text })
  const followed = follow(bridge, sessionId)
  const { data: end } = await followed.until(isEnd(runId))
  followed.forget()
  return { runId, end, events: followed.events }
}

describe('the MCP servers of a session', () => {
  test(
    'a file that the agent publishes with our own tool is there for the person, unasked',
    { timeout: 60_000 },
    async () => {
      writeFileSync(dir.at('project', 'report.txt'), 'all is well\n')
      const { id: sessionId } = await bridge.call('sessions.create', {
        agentId: 'builtin',
        workDir: dir.at('project'),
        mode: 'agent',
        choice: choice(),
      })
      steps.push({ calls: [['mcp__wheelhouse__publish_artifact', { path: 'report.txt' }]] }, { text: 'Done.' })
      const { runId, end } = await run(sessionId, 'Publish the report.')
      expect(end).toMatchObject({ state: 'completed' })
      const { attachments } = await bridge.call('attachments.list', { runId })
      expect(attachments).toMatchObject([{ filename: 'report.txt', bytes: 12 }])
      const { base64 } = await bridge.call('attachments.read', {
        sessionId,
        artifactId: attachments[0]?.artifactId ?? '',
        offset: 0,
      })
      expect(Buffer.from(base64, 'base64').toString()).toBe('all is well\n')
    },
  )

  test(
    'RT-A87 one that a person set up is offered, an optional one that does not start is left out and named, a required one fails the run',
    { timeout: 60_000 },
    async () => {
      const server = dir.at('server.sh')
      writeFileSync(
        server,
        `#!/bin/sh
read -r _; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}}'
read -r _; read -r _; echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"weather","inputSchema":{"type":"object"}}]}}'
while read -r _; do :; done
`,
      )
      chmodSync(server, 0o700)
      const project = dir.at('project')
      const add = (name: string, command: string, required: boolean) =>
        bridge.call('mcp.upsert', {
          server: {
            scope: { kind: 'project', path: project },
            name,
            command,
            args: [],
            env: [],
            required,
            enabled: true,
          },
          expectedRev: 0,
        })
      await add('good', server, true)
      const broken = await add('broken', '/bin/false', false)
      const { id: sessionId } = await bridge.call('sessions.create', {
        agentId: 'builtin',
        workDir: project,
        mode: 'agent',
        choice: choice(),
      })
      steps.push({ text: 'Hello.' })
      const first = await run(sessionId, 'Say hello.')
      expect(first.end).toMatchObject({ state: 'completed' })
      const notices = first.events.filter(({ type }) => type === 'notice')
      expect(JSON.stringify(notices)).toContain('The MCP server broken did not come up.')
      const names = asked.at(-1)?.tools?.map(({ name }) => name) ?? []
      expect(names).toContain('mcp__good__weather')
      expect(names).toContain('mcp__wheelhouse__publish_artifact')

      const { rev, ...wasBroken } = broken
      await bridge.call('mcp.upsert', { server: { ...wasBroken, env: [], required: true }, expectedRev: rev })
      const second = await run(sessionId, 'Say it again.')
      expect(second.end).toMatchObject({ state: 'failed', error: { code: 'mcp_server_unavailable' } })
    },
  )
})

describe.runIf(process.platform === 'linux')('a confined session', () => {
  test('WK-56 the built-in agent works in it, and writes in its folder alone', { timeout: 60_000 }, async () => {
    const work = dir.at('confined')
    mkdirSync(work)
    const { id: sessionId, sandbox } = await bridge.call('sessions.create', {
      agentId: 'builtin',
      workDir: work,
      mode: 'yolo',
      sandbox: true,
      choice: choice(),
    })
    expect(sandbox).toBe(true)
    const outside = dir.at('outside')
    // What was said in other sessions lies beside what this one's agent keeps: it is neither read nor changed from inside.
    const others = `${host.platform.paths.dataDir}/agent`
    mkdirSync(`${others}/another`, { recursive: true })
    writeFileSync(`${work}/look.sh`, `ls ${others} > sessions.txt`)
    steps.push(
      {
        calls: [
          ['bash', { command: 'echo inside > inside.txt' }],
          ['bash', { command: `echo outside > ${outside}` }],
          ['bash', { command: 'sh look.sh' }],
        ],
      },
      { text: 'Done.' },
    )
    const { end } = await run(sessionId, 'Write.')
    expect(end).toMatchObject({ state: 'completed' })
    expect(readFileSync(`${work}/inside.txt`, 'utf8')).toBe('inside\n')
    expect(existsSync(outside)).toBe(false)
    expect(readFileSync(`${work}/sessions.txt`, 'utf8')).toBe(`${sessionId}\n`)
    const { rev, sandbox: option } = await bridge.call('sessions.config.get', { sessionId })
    expect(option).toEqual({ value: true, available: true, why: null })
    await bridge.call('sessions.config.set', { sessionId, expectedRev: rev, sandbox: false })
    steps.push({ calls: [['bash', { command: `echo outside > ${outside}` }]] }, { text: 'Done.' })
    await run(sessionId, 'Write once more.')
    expect(readFileSync(outside, 'utf8')).toBe('outside\n')

    await bridge.call('sessions.delete', { sessionId })
    await vi.waitUntil(() => !existsSync(`${others}/${sessionId}`), { timeout: 10_000 })
  })
})

describe('an ACP agent that a person adds', () => {
  test('DT-A37 is checked first, and its sessions work', { timeout: 60_000 }, async () => {
    const wrong = await bridge.call('agents.add', { label: 'Missing', commandLine: 'no-such-agent --acp' })
    expect(wrong).toMatchObject({ added: false, agent: { available: false } })
    expect(wrong.agent.checks).toMatchObject([{ id: 'starts', status: 'fail' }])
    expect(wrong.agent.checks[0]?.hint).toContain('no-such-agent')

    const commandLine = `${process.execPath} ${FAKE_AGENT}`
    const { agent, added } = await bridge.call('agents.add', { label: 'Fake agent', commandLine })
    expect([added, agent.id, agent.available, agent.version]).toEqual([true, 'acp:fake-agent', true, '1.2.3'])
    expect((await bridge.call('agents.list', {})).agents.map(({ id }) => id)).toContain('acp:fake-agent')

    const work = dir.at('work')
    mkdirSync(work)
    const { id: sessionId } = await bridge.call('sessions.create', { agentId: agent.id, workDir: work, mode: 'agent' })
    const { end, events } = await run(sessionId, 'Hello.')
    expect(end).toMatchObject({ state: 'completed' })
    expect(JSON.stringify(events.filter(({ type }) => type === 'output_text'))).toContain('hello')

    await bridge.call('agents.remove', { agentId: agent.id })
    const { sessions } = await bridge.call('sessions.list', {})
    expect(sessions.find(({ id }) => id === sessionId)).toMatchObject({ agentId: 'acp:fake-agent' })
    const again = await run(sessionId, 'Hello again.')
    expect(again.end).toMatchObject({ state: 'failed', error: { code: 'worker_not_found' } })
  })
})
