/** Agents in a thread of their own: many streams at once, and when their bytes arrived. */
import { Agent, request as httpRequest } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { parentPort } from 'node:worker_threads'

export interface StreamsTask {
  readonly port: number
  /** Taken in turns: one route carries so many. */
  readonly routeIds: readonly string[]
  /** Tells the fake Provider what to answer. */
  readonly query: string
  readonly streams: number
}

export interface StreamsDone {
  readonly seconds: number
  readonly bytes: number
  /** Streams that did not come whole. */
  readonly failed: number
  /** Between two arrivals in one stream, in ms. */
  readonly gaps: readonly number[]
}

const agent = new Agent({ keepAlive: true, maxSockets: 1_024 })
const BODY = '{"model":"model-a","input":[]}'

function open(port: number, query: string, routeId: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${routeId}`, 'content-length': BODY.length }
    const path = `/v1/responses?${query}`
    const request = httpRequest({ agent, host: '127.0.0.1', port, method: 'POST', path, headers })
    request.on('error', reject).on('response', resolve)
    request.end(BODY)
  })
}

async function run({ port, routeIds, query, streams }: StreamsTask): Promise<StreamsDone> {
  const began = performance.now()
  const gaps: number[] = []
  let bytes = 0
  let failed = 0
  const one = async (_: unknown, index: number): Promise<void> => {
    try {
      const response = await open(port, query, routeIds[index % routeIds.length] ?? '')
      if (response.statusCode !== 200) failed++
      let before = 0
      for await (const chunk of response as AsyncIterable<Buffer>) {
        const now = performance.now()
        if (before > 0) gaps.push(now - before)
        before = now
        bytes += chunk.length
      }
    } catch {
      failed++
    }
  }
  await Promise.all(Array.from({ length: streams }, one))
  return { seconds: (performance.now() - began) / 1_000, bytes, failed, gaps }
}

async function answer(task: StreamsTask): Promise<void> {
  const done = await run(task)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
  parentPort?.postMessage(done)
}

parentPort?.on('message', (task: StreamsTask) => void answer(task))
