/** A line of many megabytes is made into a value on a thread of its own: the host goes on meanwhile. */
import { Worker } from 'node:worker_threads'

/** Below this, decoding costs less than a thread. */
export const LARGE_LINE_BYTES = 1_048_576

/**
 * A text costs its length; each object, list and number costs many times that, here and where it is carried over to: three
 * bytes make one, and thirty megabytes of them would take the whole host's memory.
 */
const MOST_VALUES = 250_000

const PROGRAM = `
const { parentPort } = require('node:worker_threads')
/** Counts what stands outside of texts and begins a value: brackets and commas. */
function values(line) {
  let count = 0
  for (let at = 0; at < line.length; at++) {
    const byte = line[at]
    if (byte === 0x22) {
      for (at++; at < line.length && line[at] !== 0x22; at++) if (line[at] === 0x5c) at++
    } else if (byte === 0x2c || byte === 0x5b || byte === 0x7b) count++
  }
  return count
}
parentPort.once('message', (line) => {
  let value
  try { if (values(line) <= ${MOST_VALUES}) value = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(line)) } catch {}
  parentPort.postMessage(value)
})`

/** As `parseJsonLine`: undefined when it is not UTF-8, not JSON, or of too many values. The bytes are copied before this returns. */
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
