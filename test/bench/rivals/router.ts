/** The Router alone, in a process of its own: `node router.ts UPSTREAM_PORT`. Its key is all `A`. */
import { createSystemClock } from '../../../src/main/platform/index.ts'
import { createRouter, routeDigest } from '../../../src/main/providers/router/index.ts'
import type { RouteBinding } from '../../../src/main/providers/router/index.ts'
import { createUpstream } from '../../../src/main/providers/upstream/index.ts'
import { createMemoryLog } from '../../support/log.ts'

const routeId = 'A'.repeat(43)
const binding: RouteBinding = {
  routeDigest: routeDigest(routeId),
  sessionId: 'bench',
  client: 'claude',
  connectionId: 'bench',
  preset: 'custom',
  providerLabel: 'bench',
  routeProtocol: 'anthropic_messages',
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
const router = createRouter({
  clock: createSystemClock(),
  log: createMemoryLog(),
  upstream: createUpstream(),
  bodyCapBytes: () => 33_554_432,
  port: {
    binding: (digest) => (digest === binding.routeDigest ? binding : null),
    ready: () => true,
    key: () => Promise.resolve(null),
    upstreamBaseUrl: () => `http://127.0.0.1:${process.argv[2] ?? ''}`,
    models: () => [],
    codexCatalog: () => null,
    tunnelsWebSocket: () => false,
    failover: () => null,
    begin: () => null,
    waitMs: () => 0,
    isEnabledModel: () => false,
    markOpaque: () => Promise.resolve({ applied: true, durable: true }),
    record: () => undefined,
  },
})
console.log((await router.ensureListening()).port)
