/** An agent in a thread of its own, as agents are processes of their own: it takes the time to an answer's first byte. */
import { Agent, request as httpRequest } from 'node:http'
import { parentPort } from 'node:worker_threads'

/** Asks every port in turn, `rounds` times; answers with the times in ms, a list for each port. */
export interface ClientTask {
  readonly ports: readonly number[]
  readonly routeId: string
  readonly body: Uint8Array
  readonly rounds: number
}

const agent = new Agent({ keepAlive: true })

async function run({ ports, routeId, body, rounds }: ClientTask): Promise<number[][]> {
  const times = ports.map((): number[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, port] of ports.entries()) times[index]?.push(await firstByteMs(port, routeId, body))
  }
  return times
}

function firstByteMs(port: number, routeId: string, body: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    const began = performance.now()
    const request = httpRequest({
      agent,
      host: '127.0.0.1',
      port,
      method: 'POST',
      path: '/v1/responses',
      headers: { authorization: `Bearer ${routeId}`, 'content-length': body.length },
    })
    request.on('error', reject).on('response', (response) => {
      let first = 0
      response.once('data', () => (first = performance.now() - began))
      response.on('end', () => resolve(first)).on('error', reject)
      if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`))
    })
    request.end(body)
  })
}

parentPort?.on('message', (task: ClientTask) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
  void run(task).then((times) => parentPort?.postMessage(times))
})
