/** A Provider of Messages in a process of its own: a short stream, or as many bytes as tokens are asked for. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const event = (data: { type: string } & object): string => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const message = {
  id: 'm1',
  type: 'message',
  role: 'assistant',
  model: 'model-a',
  content: [],
  usage: { input_tokens: 3, output_tokens: 1 },
}
const HEAD = [
  event({ type: 'message_start', message } as { type: string }),
  event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } } as { type: string }),
].join('')
const DELTA = event({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text: 'some words of an answer. '.repeat(40) },
} as { type: string })
const TAIL = [
  event({ type: 'content_block_stop', index: 0 } as { type: string }),
  event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } } as { type: string }),
  event({ type: 'message_stop' }),
].join('')
const SHORT = HEAD + DELTA + TAIL

const server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
  let head = ''
  request.on('data', (chunk: Buffer) => {
    if (head.length < 256) head += chunk.toString('latin1', 0, 256)
  })
  request.once('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const wanted = Number(/"max_tokens":(\d+)/.exec(head)?.[1] ?? '0')
    if (wanted < 1_000_000) return void response.end(SHORT)
    response.write(HEAD)
    let sent = 0
    const chunk = DELTA.repeat(16)
    const more = (): void => {
      while (sent < wanted) {
        sent += chunk.length
        if (!response.write(chunk)) return void response.once('drain', more)
      }
      response.end(TAIL)
    }
    return more()
  })
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
