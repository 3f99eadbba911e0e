/** An agent that takes the time to an answer's first byte. `router.ts` says in which thread it runs. */
import { Agent, request as httpRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

export interface ClientTask {
  readonly ports: readonly number[]
  readonly routeId: string
  readonly body: Uint8Array
  readonly rounds: number
  /** Tells the fake Provider what to answer. */
  readonly query?: string
  /** How many ask together, this many ms after one another: who asks in the same ms waits for the others, not for a Provider. */
  readonly width?: number
  readonly apartMs?: number
}

export type TimeFirstBytes = (task: ClientTask) => Promise<number[][]>

const agent = new Agent({ keepAlive: true })

/** Asks every port in turn, `rounds` times, by `width` agents; answers with the times in ms, a list for each port. */
export async function timeFirstBytes(task: ClientTask): Promise<number[][]> {
  const { ports, rounds, width = 1, apartMs = 0 } = task
  const times = ports.map((): number[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, port] of ports.entries()) {
      const asked = Array.from({ length: width }, async (_, place) => {
        if (place > 0 && apartMs > 0) await sleep(place * apartMs)
        return firstByteMs(port, task)
      })
      times[index]?.push(...(await Promise.all(asked)))
    }
  }
  return times
}

function firstByteMs(port: number, { routeId, body, query = '' }: ClientTask): Promise<number> {
  return new Promise((resolve, reject) => {
    const began = performance.now()
    const request = httpRequest({
      agent,
      host: '127.0.0.1',
      port,
      method: 'POST',
      path: `/v1/responses${query}`,
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
