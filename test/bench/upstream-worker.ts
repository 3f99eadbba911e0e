/** A fake Provider in a thread of its own, so that it costs the measured side nothing. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parentPort } from 'node:worker_threads'

const EVENT = 'event: response.completed\ndata: {"type":"response.completed","response":{"id":"r"}}\n\n'

const server = createServer((request, response) => {
  request.resume().once('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(EVENT)
  })
})
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as AddressInfo).port))
