import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { createSecret, createSystemClock } from '../../src/main/platform/index.ts'
import { createGateway } from '../../src/main/providers/gateway/gateway.ts'
import { createRouter } from '../../src/main/providers/router/index.ts'
import { createUpstream } from '../../src/main/providers/upstream/index.ts'
import { createMemoryLog } from '../support/log.ts'
import { timeFirstBytes } from './client.ts'
import type { ClientTask } from './client.ts'
import { bindingOf, bodyOf, portTo } from './router.ts'
import { median } from './types.ts'
import type { Benchmark, Figure } from './types.ts'

const REPEATS = 25

export const gatewayFirstByte: Benchmark = {
  name: 'gateway',
  how: `Time to the first byte through the machine gateway over that through the Router, interleaved, median of ${REPEATS} repeats.`,
  run: measureGateway,
}

async function measureGateway(): Promise<readonly Figure[]> {
  const provider = new Worker(new URL('./upstream-worker.ts', import.meta.url))
  const [upstreamPort] = (await once(provider, 'message')) as [number]
  const baseUrl = `http://127.0.0.1:${upstreamPort}`
  // One key opens both, so that the client asks both in the same way.
  const routeId = randomBytes(32).toString('base64url')
  const common = {
    clock: createSystemClock(),
    log: createMemoryLog(),
    upstream: createUpstream(),
    bodyCapBytes: () => 33_554_432,
  }
  const router = createRouter({ ...common, port: portTo(baseUrl, bindingOf(routeId)) })
  const key = createSecret(routeId)
  const gateway = createGateway({
    ...common,
    ready: () => true,
    localKey: async () => key,
    upstreamOf: () => ({
      connectionId: 'bench',
      connectionName: 'bench',
      preset: 'custom',
      baseUrl,
      authMode: 'none',
      credentialRef: null,
      credentialEnv: null,
    }),
    keyOf: async () => null,
    addressOf: () => baseUrl,
    begin: () => null,
    record: () => undefined,
  })
  try {
    const { port } = await router.ensureListening()
    await gateway.listen(0)
    const task: ClientTask = {
      ports: [port, gateway.port() ?? 0],
      routeId,
      body: bodyOf('model-a', 65_536),
      rounds: 300,
    }
    const ratios: number[] = []
    // The first repeat warms up both ways and does not count.
    for (let repeat = 0; repeat <= REPEATS; repeat++) {
      const [routed = [], passed = []] = await timeFirstBytes(task)
      if (repeat > 0) ratios.push(median(passed) / median(routed))
    }
    return [
      {
        name: 'first byte, 64 KiB body',
        unit: 'times',
        value: median(ratios),
        samples: ratios,
        target: { kind: 'at_most', value: 1.05 },
      },
    ]
  } finally {
    await gateway.stop(AbortSignal.abort())
    await router.stop(AbortSignal.abort())
    await common.upstream.close()
    await provider.terminate()
  }
}
