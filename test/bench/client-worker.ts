/** The agent of `client.ts` in a thread of its own. */
import { parentPort } from 'node:worker_threads'
import { timeFirstBytes } from './client.ts'
import type { ClientTask } from './client.ts'

async function answer(task: ClientTask): Promise<void> {
  const times = await timeFirstBytes(task)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
  parentPort?.postMessage(times)
}

parentPort?.on('message', (task: ClientTask) => void answer(task))
