import { expect, test } from 'vitest'
import { createBridgeClient } from '../../src/shared/bridge/client.ts'
import type { ChannelHandlers } from '../../src/shared/bridge/client.ts'
import type { ClientFrame, HostFrame } from '../../src/shared/bridge/index.ts'
import type { SessionEvent } from '../../src/shared/events.ts'

const sessionId = '01900000-0000-7000-8000-000000000001'
const hello: HostFrame = { hello: { protocol: 1, generation: 'g', app: '1', installation: 'i', capabilities: [] } }
const at = (seq: number): SessionEvent => ({
  sessionId,
  seq,
  runId: null,
  type: 'notice',
  state: null,
  at: 1,
  data: {},
})

function harness() {
  const channels: { handlers: ChannelHandlers; sent: ClientFrame[] }[] = []
  const timers: (() => void)[] = []
  const client = createBridgeClient({
    connect: (handlers) => {
      const channel = { handlers, sent: [] as ClientFrame[] }
      channels.push(channel)
      return { send: (frame) => channel.sent.push(frame), close: () => {} }
    },
    nowMs: () => 5_000,
    after: (_ms, fn) => {
      timers.push(fn)
      return () => {}
    },
  })
  return { client, channels, fire: () => timers.shift()?.(), last: () => channels.at(-1)! }
}

test('a call is matched to its answer by id', async () => {
  const { client, last } = harness()
  last().handlers.frame(hello)
  const asked = client.call('workers.list', {})
  const [frame] = last().sent
  last().handlers.frame({ id: frame!.id, ok: true, output: { workers: [] } })
  await expect(asked).resolves.toEqual({ workers: [] })
})

test('a host that goes rejects what is under way as host_unreachable, and is tried again', async () => {
  const { client, channels, fire, last } = harness()
  last().handlers.frame(hello)
  const asked = client.call('workers.list', {})
  last().handlers.closed({ final: false, error: null })
  await expect(asked).rejects.toMatchObject({ code: 'host_unreachable', retryable: true })
  expect(client.status()).toEqual({ kind: 'lost', sinceMs: 5_000 })
  fire()
  expect(channels).toHaveLength(2)
})

test('after a reconnect a resumable topic goes on from its last seq, and drops what it has', () => {
  const { client, fire, last } = harness()
  const seen: number[] = []
  last().handlers.frame(hello)
  client.subscribe('session.events', { sessionId }, { after: 3, event: (event) => seen.push(event.seq) })
  const id = last().sent[0]!.id
  last().handlers.frame({ id, event: at(4) })
  last().handlers.frame({ id, event: at(5) })
  last().handlers.closed({ final: false, error: null })
  fire()
  last().handlers.frame(hello)
  expect(last().sent).toEqual([{ id, sub: 'session.events', filter: { sessionId }, after: 5 }])
  for (const seq of [5, 6]) last().handlers.frame({ id, event: at(seq) })
  expect(seen).toEqual([4, 5, 6])
})

test('a topic that lagged is asked for again at once, from where it stood', () => {
  const { client, last } = harness()
  last().handlers.frame(hello)
  client.subscribe('session.events', { sessionId }, { after: 0, event: () => {} })
  const id = last().sent[0]!.id
  last().handlers.frame({ id, event: at(1) })
  last().handlers.frame({ id, end: 'lagged' })
  expect(last().sent.at(-1)).toMatchObject({ id, after: 1 })
})

test('an aborted call sends a cancel', async () => {
  const { client, last } = harness()
  last().handlers.frame(hello)
  const abort = new AbortController()
  const asked = client.call('workers.list', {}, abort.signal)
  abort.abort()
  await expect(asked).rejects.toMatchObject({ code: 'aborted' })
  expect(last().sent.at(-1)).toEqual({ id: last().sent[0]!.id, cancel: true })
})

test('a host that refuses for good is not tried again', async () => {
  const { client, channels, fire, last } = harness()
  last().handlers.closed({ final: true, error: null })
  fire()
  expect(channels).toHaveLength(1)
  expect(client.status().kind).toBe('refused')
})
