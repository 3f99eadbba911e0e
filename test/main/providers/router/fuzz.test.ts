import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ROUTER_PROPERTIES, STREAMS } from '../../../fuzz/router-properties.ts'
import { call, startRouter, startUpstream } from './support.ts'

test.each(ROUTER_PROPERTIES)('PR-A44 $name', async ({ property }) => {
  const details = await fc.check(property, { numRuns: 200 })
  expect(details.failed ? fc.defaultReportMessage(details) : null).toBeNull()
})

test.each(['responses', 'anthropic_messages'] as const)(
  'PR-A51 a recorded %s stream arrives as it was, wherever it is cut in two',
  async (routeProtocol) => {
    const bytes = Buffer.from(STREAMS[routeProtocol])
    let cut = 0
    await using upstream = await startUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(bytes.subarray(0, cut))
      setImmediate(() => response.end(bytes.subarray(cut)))
    })
    await using to = await startRouter({ baseUrl: upstream.url, binding: { routeProtocol } })
    const path = routeProtocol === 'responses' ? '/v1/responses' : '/v1/messages'
    for (cut = 1; cut < bytes.length; cut += 23) {
      const reply = await call(to, { path, body: '{"model":"model-a"}' })
      expect([cut, reply.complete, reply.body.equals(bytes)]).toEqual([cut, true, true])
    }
    expect(to.exchanges.filter(({ end }) => end !== 'completed')).toEqual([])
  },
)
