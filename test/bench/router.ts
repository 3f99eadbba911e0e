import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { createSystemClock } from '../../src/main/platform/index.ts'
import { createRouter, routeDigest } from '../../src/main/providers/router/index.ts'
import type { RouteBinding, RouterPort } from '../../src/main/providers/router/index.ts'
import { createUpstream } from '../../src/main/providers/upstream/index.ts'
import { createMemoryLog } from '../support/log.ts'
import { timeFirstBytes } from './client.ts'
import type { ClientTask } from './client.ts'
import { median } from './types.ts'
import type { Benchmark, Figure } from './types.ts'

const REPEATS = 5

export const routerFirstByte: Benchmark = {
  name: 'router-first-byte',
  how: `Time to the first byte of the answer through the Router over that without it, interleaved, median of ${REPEATS} repeats; the Provider is in a thread of its own, the agent in the Router's: a third thread would time how two cores share three.`,
  run: measureRouter,
}

async function measureRouter(): Promise<readonly Figure[]> {
  const provider = new Worker(new URL('./upstream-worker.ts', import.meta.url))
  const [upstreamPort] = (await once(provider, 'message')) as [number]
  const routeId = randomBytes(32).toString('base64url')
  const upstream = createUpstream()
  const router = createRouter({
    clock: createSystemClock(),
    log: createMemoryLog(),
    upstream,
    bodyCapBytes: () => 33_554_432,
    port: portTo(`http://127.0.0.1:${upstreamPort}`, bindingOf(routeId)),
  })
  const { port } = await router.ensureListening()
  const measure = async (name: string, target: number, body: Buffer, rounds: number): Promise<Figure> => {
    const task: ClientTask = { ports: [upstreamPort, port], routeId, body, rounds }
    const ratios: number[] = []
    // The first repeat warms up both ways and does not count.
    for (let repeat = 0; repeat <= REPEATS; repeat++) {
      const [direct = [], routed = []] = await timeFirstBytes(task)
      if (repeat > 0) ratios.push(median(routed) / median(direct))
    }
    return { name, unit: 'times', value: median(ratios), samples: ratios, target: { kind: 'at_most', value: target } }
  }
  try {
    return [
      await measure('first byte, 64 KiB body', 3, bodyOf('model-a', 65_536), 300),
      await measure('first byte, 8 MiB body that needs a splice', 4, bodyOf('stale', 8_388_608), 16),
    ]
  } finally {
    await router.stop(AbortSignal.abort())
    await upstream.close()
    await provider.terminate()
  }
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

export function portTo(baseUrl: string, binding: RouteBinding): RouterPort {
  return {
    binding: (digest) => (digest === binding.routeDigest ? binding : null),
    ready: () => true,
    key: () => Promise.resolve(null),
    upstreamBaseUrl: () => Promise.resolve(baseUrl),
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
