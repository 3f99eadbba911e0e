/** The bridge as a real process, between an agent and a host that the test plays. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { bridgeFor, BRIDGE, TOKEN } from '../main/workers/bridge.ts'
import type { BridgedConfig } from '../main/workers/bridge.ts'
import { acpFixture } from '../main/workers/drivers/acp-fixture.ts'
import { createHarness } from '../main/workers/harness.ts'
import type { Harness } from '../main/workers/harness.ts'
import { createSecret, createSystemClock } from '../../src/main/platform/index.ts'
import { serveTokenAt } from '../../src/main/workers/token/token-socket.ts'
import { createMemoryLog } from '../support/log.ts'

interface Client extends Disposable {
  call(method: string, params?: object): Promise<{ result?: unknown; error?: { code: number; message: string } }>
  raw(line: string): void
  next(): Promise<unknown>
  exited: Promise<number | null>
  end(): void
}

function client(env: Record<string, string>): Client {
  const child = spawn(process.execPath, [BRIDGE], { env, stdio: ['pipe', 'pipe', 'ignore'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  let id = 0
  const next = async (): Promise<unknown> => {
    const line = await lines.next()
    if (line.done === true) throw new Error('the bridge ended')
    return JSON.parse(line.value)
  }
  return {
    async call(method, params = {}) {
      id += 1
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
      return (await next()) as Awaited<ReturnType<Client['call']>>
    },
    raw: (line) => void child.stdin.write(`${line}\n`),
    next,
    exited,
    end: () => void child.stdin.end(),
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  }
}

const HELLO = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } }

describe('the MCP bridge', () => {
  let harness: Harness
  let bridge: BridgedConfig
  let env: Record<string, string>

  beforeEach(async () => {
    harness = createHarness(acpFixture, { scenario: 'ok' })
    bridge = await bridgeFor(harness)
    await bridge.token.close()
    // The proof is another suite's: here whoever asks is the worker's.
    const path = `${harness.cfg.privateDir}/p.sock`
    const self = await harness.table.lookup(process.pid)
    if (self === null) throw new Error('this process is not there')
    const served = await serveTokenAt(
      {
        clock: createSystemClock(),
        log: createMemoryLog(),
        table: harness.table,
        peers: {
          async prove(peer, _worker, signal) {
            peer.send({ open: BRIDGE })
            await peer.receive(signal)
            return self
          },
        },
      },
      createSecret(TOKEN),
      { dir: harness.cfg.privateDir, path, made: null },
    )
    served.arm(self)
    bridge.token = served
    env = { ...bridge.cfg.mcpServers[0]?.env, WHEELHOUSE_TOKEN_SOCKET: path }
  })
  afterEach(async () => {
    await bridge[Symbol.asyncDispose]()
    await harness[Symbol.asyncDispose]()
  })

  test('offers the tools of the host and passes calls on', async () => {
    using agent = client({ ...env, ANTHROPIC_API_KEY: 'of-the-agent' })
    expect(await agent.call('initialize', HELLO)).toMatchObject({
      result: { protocolVersion: '2025-06-18', serverInfo: { name: 'wheelhouse' }, capabilities: { tools: {} } },
    })
    agent.raw(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }))
    expect(await agent.call('tools/list')).toMatchObject({ result: { tools: [{ name: 'echo' }] } })
    expect(await agent.call('tools/call', { name: 'echo', arguments: { a: 1 } })).toMatchObject({
      result: { content: [{ type: 'text', text: '{"a":1}' }], isError: false },
    })
    expect(await agent.call('tools/call', { name: 'other' })).toMatchObject({ result: { isError: true } })
    expect(bridge.calls).toEqual([
      ['echo', { a: 1 }],
      ['other', {}],
    ])
    expect(await agent.call('ping')).toMatchObject({ result: {} })
    expect(await agent.call('resources/list')).toMatchObject({ error: { code: -32_601 } })
    agent.raw('not json')
    expect(await agent.next()).toMatchObject({ error: { code: -32_700 } })
    agent.end()
    expect(await agent.exited).toBe(0)
  })

  test('says why when the host does not take its token', async () => {
    await bridge.token.close()
    using agent = client(env)
    expect(await agent.call('initialize', HELLO)).toMatchObject({ error: { code: -32_603 } })
  })

  test('ends at once when nobody of ours started it', async () => {
    using agent = client({})
    expect(await agent.exited).toBe(1)
  })
})
