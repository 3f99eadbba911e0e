/** An agent that takes the time to an answer's first byte. It runs in the thread of what it measures: see `router.ts`. */
import { Agent, request as httpRequest } from 'node:http'

export interface ClientTask {
  readonly ports: readonly number[]
  readonly routeId: string
  readonly body: Uint8Array
  readonly rounds: number
}

const agent = new Agent({ keepAlive: true })

/** Asks every port in turn, `rounds` times; answers with the times in ms, a list for each port. */
export async function timeFirstBytes({ ports, routeId, body, rounds }: ClientTask): Promise<number[][]> {
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
