import { once } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { watchJson } from '../../../../src/main/providers/router/answer-watch.ts'
import { MIB, open, startRouter, startUpstream } from './support.ts'

const LINE_MIB = 100
/** Over sockets a MiB costs far more time, and far less of it than this would be seen. */
const SENT_MIB = 40
/** What the line is made of: no end of a line in it, and different at each place. */
const BLOCK = Buffer.from(Array.from({ length: MIB }, (_, at) => 0x61 + ((at * 7 + (at >> 8)) % 26)))
const USAGE = '"usage":{"input_tokens":3,"output_tokens":2}'
const HELD_MOST = 16 * MIB

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

function heldBytes(): number {
  collectGarbage()
  // What the first one let go of is swept beside it, and gone with the second.
  collectGarbage()
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  return arrayBuffers + heapUsed
}

test('an event of 40 MiB on one line passes byte for byte, is read to its end, and is never held', async () => {
  const head = 'event: response.completed\ndata: {"response":{"id":"r1","output":"'
  const tail = `",${USAGE}}}\n\n`
  await using upstream = await startUpstream((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(head)
    void (async () => {
      for (let sent = 0; sent < SENT_MIB; sent++) if (!response.write(BLOCK)) await once(response, 'drain')
      response.end(tail)
    })()
  })
  await using to = await startRouter({ baseUrl: upstream.url })
  // Upstream, Router and agent are in this process: what is under way between them counts as well, and is little.
  const before = heldBytes()
  let held: number | null = null
  const response = await open(to, { path: '/v1/responses', body: '{"model":"model-a"}' })
  const line = { from: head.length, to: head.length + SENT_MIB * MIB }
  let at = 0
  let edges = ''
  for await (const chunk of response as AsyncIterable<Buffer>) {
    const [from, end] = [Math.max(line.from - at, 0), Math.min(line.to - at, chunk.length)]
    for (let next = from; next < end;) {
      const place = (at + next - line.from) % MIB
      const length = Math.min(end - next, MIB - place)
      if (BLOCK.compare(chunk, next, next + length, place, place + length) !== 0) throw new Error(`differs near ${at}`)
      next += length
    }
    edges += chunk.toString('latin1', 0, Math.min(from, chunk.length)) + chunk.toString('latin1', Math.max(end, 0))
    at += chunk.length
    if (held === null && at > line.to * 0.75) held = heldBytes() - before
  }
  expect(edges).toBe(head + tail)
  expect(at).toBe(line.to + tail.length)
  expect(held).toBeLessThan(HELD_MOST)
  expect(await to.exchange()).toMatchObject({ end: 'completed', bytesOut: at, usage: { input: 3, output: 2 } })
})

test('a JSON answer of 100 MiB on one line is read as it goes by, and never held', () => {
  const watch = watchJson('responses')
  const before = heldBytes()
  watch.push(Buffer.from('{"id":"r1","output":"'))
  for (let sent = 0; sent < LINE_MIB; sent++) watch.push(Buffer.from(BLOCK))
  expect(heldBytes() - before).toBeLessThan(HELD_MOST)
  watch.push(Buffer.from(`",${USAGE}}`))
  expect(watch.summary()).toMatchObject({ responseId: 'r1', usage: { input: 3, output: 2 } })
})
