/**
 * A fake Provider in a thread of its own, so that it costs the measured side nothing. `?think=MS` waits first; `?bytes=N`
 * answers with as many, `?events=N` with one event a second; `?encoding=WORD` names one that is none.
 */
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parentPort } from 'node:worker_threads'

const DONE = 'event: response.completed\ndata: {"type":"response.completed","response":{"id":"r"}}\n\n'
const delta = (text: string): string =>
  `event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"${text}"}\n\n`
/** About 64 KiB of events as a model says them. */
const PIECE = Buffer.from(delta('some words of an answer. '.repeat(8)).repeat(256))

// A socket that waits for the next measurement is not closed meanwhile.
const server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
  const wanted = new URL(request.url ?? '/', 'http://upstream').searchParams
  const number = (name: string): number => Number(wanted.get(name) ?? '0')
  request.resume().once('end', () => {
    const answer = (): void => {
      const encoding = wanted.get('encoding')
      response.writeHead(200, {
        'content-type': 'text/event-stream',
        ...(encoding === null ? {} : { 'content-encoding': encoding }),
      })
      if (number('bytes') > 0) sendBytes(response, number('bytes'))
      else if (number('events') > 0) sendEvents(response, number('events'))
      else response.end(DONE)
    }
    if (number('think') > 0) setTimeout(answer, number('think'))
    else answer()
  })
})

function sendBytes(response: ServerResponse, bytes: number): void {
  let left = bytes
  const more = (): void => {
    while (left > 0) {
      left -= PIECE.length
      if (!response.write(PIECE)) return void response.once('drain', more)
    }
    response.end(DONE)
  }
  more()
}

function sendEvents(response: ServerResponse, count: number): void {
  let sent = 0
  const timer = setInterval(() => {
    sent += 1
    response.write(delta(String(sent)))
    if (sent < count) return
    clearInterval(timer)
    response.end(DONE)
  }, 1_000)
  response.once('close', () => clearInterval(timer))
}

server.listen({ port: 0, host: '127.0.0.1', backlog: 1_024 }, () => {
  const { port } = server.address() as AddressInfo
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
  parentPort?.postMessage(port)
})
