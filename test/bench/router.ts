import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { createSystemClock } from '../../src/main/platform/index.ts'
import { createBreakers } from '../../src/main/providers/breaker/index.ts'
import { createRouter, routeDigest } from '../../src/main/providers/router/index.ts'
import type { RouteBinding, Router, RouterPort } from '../../src/main/providers/router/index.ts'
import { createUpstream } from '../../src/main/providers/upstream/index.ts'
import { createMemoryLog } from '../support/log.ts'
import { timeFirstBytes } from './client.ts'
import type { ClientTask, TimeFirstBytes } from './client.ts'
import { quantile } from './compare.ts'
import { median } from './types.ts'
import type { Benchmark, Figure } from './types.ts'

const REPEATS = 9

export const routerFirstByte: Benchmark = {
  name: 'router-first-byte',
  group: 'router',
  how: `Time to the first byte of the answer through the Router over that without it, interleaved, the median of ${REPEATS} repeats over the other's; the Provider is in a thread of its own, the agent in the Router's, since to wake a third thread takes as long as the Router; for 8 MiB it has one too, or its writing would delay the Router's reading. Ten agents ask the Provider that thinks, 8 ms apart.`,
  run: measureRouter,
}

async function measureRouter(): Promise<readonly Figure[]> {
  const provider = new Worker(new URL('./upstream-worker.ts', import.meta.url))
  const agent = new Worker(new URL('./client-worker.ts', import.meta.url))
  const [upstreamPort] = (await once(provider, 'message')) as [number]
  const routeId = randomBytes(32).toString('base64url')
  const upstream = createUpstream()
  const binding = bindingOf(routeId)
  const breakers = createBreakers({ clock: createSystemClock(), log: createMemoryLog(), onChange: () => undefined })
  const own: RouterPort = {
    ...portTo(`http://127.0.0.1:${upstreamPort}`, binding),
    begin: (id, isGuarded) => breakers.begin(id, isGuarded),
  }
  const routerOf = (port: RouterPort): Router =>
    createRouter({
      clock: createSystemClock(),
      log: createMemoryLog(),
      upstream,
      bodyCapBytes: () => 33_554_432,
      port,
    })
  const router = routerOf(own)
  const candidates = [{ binding: { ...binding, connectionId: 'other', upstreamModel: 'model-b' }, strips: false }]
  const guarded = routerOf({ ...own, failover: () => ({ on429: true, candidates }) })
  const { port } = await router.ensureListening()
  const { port: guardedPort } = await guarded.ensureListening()

  /** The times of each port, a list for each repeat; another repeat, before them, warms up both ways. */
  async function compare(
    task: Omit<ClientTask, 'routeId'>,
    time: TimeFirstBytes = timeFirstBytes,
  ): Promise<{ before: number[][]; after: number[][] }> {
    const times = { before: [] as number[][], after: [] as number[][] }
    for (let repeat = 0; repeat <= REPEATS; repeat++) {
      const [before = [], after = []] = await time({ ...task, routeId })
      if (repeat === 0) continue
      times.before.push(before)
      times.after.push(after)
    }
    return times
  }
  const figure = (
    name: string,
    target: number,
    { before, after }: Awaited<ReturnType<typeof compare>>,
    of: (times: readonly number[]) => number = median,
  ): Figure => ({
    name,
    unit: 'times',
    value: of(after.flat()) / of(before.flat()),
    samples: after.map((times, index) => of(times) / of(before[index] ?? [])),
    target: { kind: 'at_most', value: target },
  })
  const body = bodyOf('model-a', 65_536)
  const ports = [upstreamPort, port]
  try {
    const plain = await compare({ ports, body, rounds: 300 })
    const spliced = await compare({ ports, body: bodyOf('stale', 8_388_608), rounds: 24 }, (task) =>
      inThread(agent, task),
    )
    const thinking = await compare({ ports, body, rounds: 10, width: 10, apartMs: 8, query: '?think=200' })
    const ruled = await compare({ ports: [port, guardedPort], body, rounds: 300 })
    return [
      figure('first byte, 64 KiB body', 3, plain),
      figure('first byte, 8 MiB body that needs a splice', 4, spliced),
      figure('first byte, a Provider that thinks for 200 ms', 1.02, thinking),
      figure('first byte, a Provider that thinks for 200 ms, p99', 1.1, thinking, (times) => quantile(times, 0.99)),
      figure('first byte, with a failover rule over without', 1.05, ruled),
    ]
  } finally {
    await router.stop(AbortSignal.abort())
    await guarded.stop(AbortSignal.abort())
    await upstream.close()
    await provider.terminate()
    await agent.terminate()
  }
}

async function inThread(agent: Worker, task: ClientTask): Promise<number[][]> {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
  agent.postMessage(task)
  const [times] = (await once(agent, 'message')) as [number[][]]
  return times
}

/** Items of a conversation, so that the scanner meets what it meets in life. */
export function bodyOf(model: string, bytes: number): Buffer {
  const item = `{"type":"message","role":"user","content":[{"type":"input_text","text":"${'some words of a long conversation '.repeat(20)}"}]}`
  const items = Array.from({ length: Math.floor(bytes / (item.length + 1)) }, () => item)
  return Buffer.from(`{"model":"${model}","input":[${items.join(',')}],"stream":true}`)
}

export function bindingOf(routeId: string): RouteBinding {
  return {
    routeDigest: routeDigest(routeId),
    sessionId: 'bench',
    client: 'codex',
    connectionId: 'bench',
    preset: 'custom',
    providerLabel: 'bench',
    routeProtocol: 'responses',
    clientModel: 'model-a',
    upstreamModel: 'model-a',
    smallModel: null,
    effort: 'default',
    efforts: null,
    effortDefault: null,
    authMode: 'none',
    historyState: 'may_contain_opaque',
    historyPortability: null,
    generation: 1,
  }
}

export function portTo(baseUrl: string, ...bindings: readonly RouteBinding[]): RouterPort {
  const known = new Map(bindings.map((binding) => [binding.routeDigest, binding]))
  return {
    binding: (digest) => known.get(digest) ?? null,
    ready: () => true,
    key: () => Promise.resolve(null),
    upstreamBaseUrl: () => baseUrl,
    models: () => [],
    codexCatalog: () => null,
    isEnabledModel: () => false,
    tunnelsWebSocket: () => false,
    failover: () => null,
    begin: () => null,
    waitMs: () => 0,
    markOpaque: () => Promise.resolve({ applied: true, durable: true }),
    record: () => undefined,
  }
}
