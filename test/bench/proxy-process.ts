/**
 * What stands between agents and Provider, in a process of its own: `proxy-process.ts router|pipe UPSTREAM_PORT ROUTE_IDS`.
 * It sends its port; each message to it is answered with what it costs since the last one.
 */
import { Agent, createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createSystemClock } from '../../src/main/platform/index.ts'
import { createRouter } from '../../src/main/providers/router/index.ts'
import { createUpstream } from '../../src/main/providers/upstream/index.ts'
import { createMemoryLog } from '../support/log.ts'
import { bindingOf, portTo } from './router.ts'

export interface ProxyCost {
  readonly rssBytes: number
  /** p99 of the event loop's delay. */
  readonly loopDelayMs: number
}

const [kind = '', upstreamPort = '', routeIds = ''] = process.argv.slice(2)

async function startRouter(): Promise<number> {
  const router = createRouter({
    clock: createSystemClock(),
    log: createMemoryLog(),
    upstream: createUpstream(),
    bodyCapBytes: () => 33_554_432,
    port: portTo(`http://127.0.0.1:${upstreamPort}`, ...routeIds.split(',').map(bindingOf)),
  })
  const { port } = await router.ensureListening()
  return port
}

function startPipe(): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1_024 })
  const server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
    const { method, url: path, headers } = request
    const onward = httpRequest({ agent, host: '127.0.0.1', port: upstreamPort, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    request.pipe(onward)
  })
  return new Promise((resolve) => {
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1_024 }, () => resolve((server.address() as AddressInfo).port))
  })
}

const port = await (kind === 'router' ? startRouter() : startPipe())
const delay = monitorEventLoopDelay({ resolution: 10 })
delay.enable()
process.on('message', () => {
  // What is garbage is no cost of a stream.
  globalThis.gc?.()
  const cost: ProxyCost = { rssBytes: process.memoryUsage().rss, loopDelayMs: delay.percentile(99) / 1e6 }
  delay.reset()
  process.send?.(cost)
})
process.on('disconnect', () => process.exit())
process.send?.(port)
