/** An agent in a thread of its own: asks one port, as often or as wide as the task says. */
import { Agent, request as httpRequest } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { parentPort } from 'node:worker_threads'

export type RivalTask =
  /** One after another; answers the ms to each first byte. */
  | { kind: 'sequence'; port: number; rounds: number }
  /** That many at once for so long; answers requests per second. */
  | { kind: 'rate'; port: number; width: number; forMs: number }
  /** One stream; answers MiB per second. */
  | { kind: 'stream'; port: number; bytes: number }

const KEY = 'A'.repeat(43)
/** A conversation of some length: about 16 KiB. */
const BODY = JSON.stringify({
  model: 'model-a',
  max_tokens: 1_000,
  stream: true,
  messages: Array.from({ length: 40 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: 'some words of a long conversation '.repeat(12),
  })),
})
/** Answers other than 200 since the task began. */
let failed = 0
const agent = new Agent({ keepAlive: true, maxSockets: 512 })

function ask(port: number, body = BODY): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'x-api-key': KEY,
      'anthropic-version': '2023-06-01',
    }
    const path = '/v1/messages'
    const request = httpRequest({ agent, host: '127.0.0.1', port, method: 'POST', path, headers })
    request.on('error', reject).on('response', (response) => {
      resolve(response)
      if (response.statusCode !== 200) failed++
    })
    request.end(body)
  })
}

/** The bytes and the ms to the first of them. */
async function read(response: IncomingMessage, began: number): Promise<{ bytes: number; firstMs: number }> {
  let bytes = 0
  let firstMs = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (bytes === 0) firstMs = performance.now() - began
    bytes += chunk.length
  }
  return { bytes, firstMs }
}

async function run(task: RivalTask): Promise<number[]> {
  const began = performance.now()
  failed = 0
  if (task.kind === 'sequence') {
    const times: number[] = []
    for (let round = 0; round < task.rounds; round++) {
      const at = performance.now()
      times.push((await read(await ask(task.port), at)).firstMs)
    }
    return times
  }
  if (task.kind === 'stream') {
    const { bytes } = await read(
      await ask(task.port, BODY.replace('"max_tokens":1000', `"max_tokens":${task.bytes}`)),
      began,
    )
    return [bytes / 1_048_576 / ((performance.now() - began) / 1_000)]
  }
  let done = 0
  const one = async (): Promise<void> => {
    while (performance.now() - began < task.forMs) {
      await read(await ask(task.port), began)
      done++
    }
  }
  await Promise.all(Array.from({ length: task.width }, one))
  return [(done - failed) / ((performance.now() - began) / 1_000), failed]
}

parentPort?.on('message', (task: RivalTask) => {
  void run(task).then(
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
    (values) => parentPort?.postMessage({ values }),
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
    (error: unknown) => parentPort?.postMessage({ error: String(error) }),
  )
})
