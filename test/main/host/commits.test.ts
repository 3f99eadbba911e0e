/** The composed host inside of this process, its agent a process of its own. */
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Bridge } from '../../../src/shared/bridge/client.ts'
import { connectInProcess } from '../../../src/main/bridge/index.ts'
import { createHost } from '../../../src/main/host.ts'
import type { Host } from '../../../src/main/host.ts'
import { createTempDir } from '../../support/dir.ts'
import { ensureBuilt, entryDir } from './support/built.ts'
import { follow, isEnd } from './support/client.ts'

const ANSWER = [
  { type: 'response.created', response: { id: 'resp_1', created_at: 0, model: 'quick-1' } },
  { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'msg_1' } },
  { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'Done.' },
  { type: 'response.output_item.done', output_index: 0, item: { type: 'message', id: 'msg_1' } },
  { type: 'response.completed', response: { usage: { input_tokens: 1, output_tokens: 1 } } },
]

let dir: ReturnType<typeof createTempDir>
let upstream: Server
let host: Host
let bridge: Bridge

beforeAll(ensureBuilt, 180_000)
beforeEach(async () => {
  dir = createTempDir()
  upstream = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(ANSWER.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
    })
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => upstream.once('listening', resolve))
  const env = { PATH: process.env['PATH'], HOME: dir.path, LANG: 'C.UTF-8' }
  host = await createHost({ dataDir: dir.at('data'), entryDir: entryDir(), env })
  bridge = connectInProcess(host.platform.clock, (connection) => host.attach(connection, 'cli'))
  await expect.poll(() => bridge.status().kind).toBe('open')
})
afterEach(async () => {
  bridge.close()
  await host.stop()
  upstream.close()
  dir[Symbol.dispose]()
})

/** Which function asked for each transaction, in order. */
function watchCommits(): string[] {
  const { store } = host.platform
  const seen: string[] = []
  const { writeTx } = store
  Object.assign(store, {
    writeTx(...args: Parameters<typeof writeTx>) {
      const [, , caller = ''] = (new Error('caller').stack ?? '').split('\n')
      seen.push(/at (?:async )?([\w.]+)/.exec(caller)?.[1] ?? caller)
      return writeTx(...args)
    },
  })
  return seen
}

test(
  'a prompt on a warm worker costs three commits beside its stream: admitted, running, ended',
  { timeout: 60_000 },
  async () => {
    const { revision } = await bridge.call('providers.list', {})
    const { connectionId } = await bridge.call('providers.upsert', {
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
      expectedRevision: revision,
    })
    const session = await bridge.call('sessions.create', {
      agentId: 'builtin',
      workDir: dir.path,
      mode: 'agent',
      choice: { connectionId, modelId: 'quick-1', effort: 'default' },
    })
    const events = follow(bridge, session.id)
    const prompt = async (text: string) => {
      const { runId } = await bridge.call('runs.submit', { sessionId: session.id, text })
      expect((await events.until(isEnd(runId))).state).toBe('completed')
    }
    await prompt('Open the worker.')
    const commits = watchCommits()
    await prompt('Again.')
    // Group commits of the stream and the renewal of leases come by the clock, not by the prompt.
    const own = commits.filter((caller) => !/flushOnce|renew/.test(caller))
    expect({ count: own.length, commits }).toMatchObject({ count: 3 })
    expect(commits.length).toBeLessThan(3 + 20)
  },
)
