/** A line of many megabytes is made into a value on a thread of its own: the host goes on meanwhile. */
import { Worker } from 'node:worker_threads'

/** Below this, decoding costs less than a thread. */
export const LARGE_LINE_BYTES = 1_048_576

const PROGRAM = `
const { parentPort } = require('node:worker_threads')
parentPort.once('message', (line) => {
  let value
  try { value = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(line)) } catch {}
  parentPort.postMessage(value)
})`

/** As `parseJsonLine`: undefined when it is not UTF-8 or not JSON. The bytes are copied before this returns. */
export function parseLargeLine(line: Uint8Array): Promise<unknown> {
  const copy = new Uint8Array(line)
  return new Promise((resolve) => {
    const thread = new Worker(PROGRAM, { eval: true, env: {}, stdin: false })
    // What cannot be carried over, such as a value nested too deep, is as good as unreadable.
    const settle = (value: unknown): void => {
      resolve(value)
      void thread.terminate()
    }
    thread.once('message', settle)
    thread.once('messageerror', () => settle(undefined))
    thread.once('error', () => settle(undefined))
    thread.once('exit', () => resolve(undefined))
    thread.postMessage(copy, [copy.buffer])
  })
}
