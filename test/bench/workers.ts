/** What a worker's stream costs: reading, redaction, long lines, and many at once. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { readdirSync } from 'node:fs'
import { createSecret, createSecretRegistry } from '../../src/main/platform/index.ts'
import { LIMITS } from '../../src/main/workers/index.ts'
import type { Session } from '../../src/main/workers/index.ts'
import { createLineReader, parseJsonLine } from '../../src/main/workers/text/line-reader.ts'
import { createRedactor } from '../../src/main/workers/text/redactor.ts'
import { createAcpWorkers, never } from '../support/acp-worker.ts'
import { median } from './types.ts'
import type { Benchmark, Figure } from './types.ts'

const ROUNDS = 3
const MEBIBYTE = 1_048_576

/** P-2 and P-3. */
export const workerStream: Benchmark = {
  name: 'worker-stream',
  group: 'workers',
  how: `Redaction against its two pattern rules alone; a long line in small pieces against the same in one. Best of ${ROUNDS}.`,
  run: () => Promise.resolve([...redactionCost(), longLineCost()]),
}

function redactionCost(): Figure[] {
  const secrets = Array.from({ length: 64 }, (_, n) => createSecret(`sk-${n}-0123456789abcdefghijklmnop`))
  const full = createRedactor(createSecretRegistry(), { secrets, env: {}, dirs: [] })
  const bare = createRedactor(createSecretRegistry(), { secrets: [], env: {}, dirs: [] })
  const line = 'the build wrote 14 files to out/main and asked someone@example.org about it. '.repeat(3).slice(0, 200)
  const time = (sanitize: (text: string) => string): number => {
    const began = performance.now()
    for (let n = 0; n < 20_000; n++) sanitize(line)
    return performance.now() - began
  }
  time(full.sanitize)
  time(bare.sanitize)
  const ratios = Array.from({ length: ROUNDS }, () => time(full.sanitize) / time(bare.sanitize))
  const long = 'a'.repeat(MEBIBYTE)
  const samples = Array.from({ length: ROUNDS }, () => {
    const began = performance.now()
    full.sanitize(long)
    return performance.now() - began
  })
  return [
    {
      name: 'redaction with 64 secrets',
      unit: 'times',
      value: Math.min(...ratios),
      samples: ratios,
      target: { kind: 'at_most', value: 5 },
    },
    {
      name: 'redaction of 1 MiB of one letter',
      unit: 'ms',
      value: Math.min(...samples),
      samples,
      target: { kind: 'at_most', value: 50 },
    },
  ]
}

function longLineCost(): Figure {
  const line = Buffer.alloc(32 * MEBIBYTE, 'x')
  line.write('"', 0)
  line.write('"\n', line.length - 2)
  const read = (size: number): number => {
    let seen = 0
    const reader = createLineReader(LIMITS.lineBytes, (whole) => {
      if (typeof parseJsonLine(whole) === 'string') seen += whole.length
    })
    const began = performance.now()
    for (let at = 0; at < line.length; at += size) reader.push(line.subarray(at, at + size))
    if (seen !== line.length - 1) throw new Error('the line did not arrive')
    return performance.now() - began
  }
  read(1_024)
  const samples = Array.from({ length: ROUNDS }, () => read(1_024) / read(line.length))
  return {
    name: 'a line of 32 MiB in pieces of 1 KiB, read',
    unit: 'times',
    value: Math.min(...samples),
    samples,
    target: { kind: 'at_most', value: 3 },
  }
}

const WORKERS = 32
const RATE = 200
const SECONDS = 60

/** P-4 and P-5. */
export const workersAtOnce: Benchmark = {
  name: 'workers-at-once',
  group: 'workers',
  how: `${WORKERS} workers, each sending ${RATE} lines a second for ${SECONDS} s to a consumer that reads: the 99th percentile of the event loop's delay, what was dropped, and what is still open afterwards. And what ${WORKERS} idle ones add to the host.`,
  async run() {
    await using fleet = createAcpWorkers()
    const open = async (): Promise<Session> => {
      const env = { FAKE_RATE: `${RATE}`, FAKE_SECONDS: `${SECONDS}` }
      return fleet.workers.open('acp', await fleet.config('stream', env), {}, never)
    }
    await (await open()).close()
    const before = { fds: readdirSync('/proc/self/fd').length, rss: process.memoryUsage().rss }
    const sessions: Session[] = []
    for (let n = 0; n < WORKERS; n++) sessions.push(await open())
    const idleMB = (process.memoryUsage().rss - before.rss) / 1e6
    const delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    let updates = 0
    const consumed = sessions.map(async (session) => {
      for await (const _ of session.updates()) updates += 1
    })
    const prompt = (n: number) => ({ text: 'go', inputs: [], clientMessageId: `${n}`, literal: false })
    await Promise.all(sessions.map((session, n) => session.prompt(prompt(n))))
    delay.disable()
    const dropped = sessions.reduce((sum, session) => sum + session.diagnostics().droppedUpdates, 0)
    await Promise.all(sessions.map((session) => session.close()))
    await Promise.all(consumed)
    if (updates === 0) throw new Error('nothing was read')
    const left = Math.max(0, readdirSync('/proc/self/fd').length - before.fds)
    const one = (name: string, unit: Figure['unit'], value: number, most: number): Figure => ({
      name,
      unit,
      value,
      samples: [value],
      target: { kind: 'at_most', value: most },
    })
    return [
      one('event loop, 99th percentile', 'ms', delay.percentile(99) / 1e6, 20),
      one('updates that were dropped', 'count', dropped, 0),
      one('descriptors left open', 'count', left, 0),
      one(`memory of ${WORKERS} idle workers`, 'MB', idleMB, 64),
    ]
  },
}

const STARTS = 10

/** P-6 and P-7. */
export const workerLife: Benchmark = {
  name: 'worker-life',
  group: 'workers',
  how: 'Starting a supervised process until it is on record, against a bare `spawn` of the same program until it runs; and ending one that leaves when its input ends, beyond its own leaving.',
  async run() {
    await using fleet = createAcpWorkers()
    const bare: number[] = []
    const ours: number[] = []
    const releases: number[] = []
    for (let round = 0; round <= STARTS; round++) {
      const began = performance.now()
      const child = spawn('/bin/cat', [], { stdio: 'pipe' })
      await once(child, 'spawn')
      const spawned = performance.now() - began
      const ended = performance.now()
      child.stdin.end()
      await once(child, 'exit')
      const leaving = performance.now() - ended

      const cfg = await fleet.config('ok')
      const start = performance.now()
      const worker = await fleet.workers.spawn(
        {
          workerId: cfg.workerId,
          runId: 'run',
          product: 'cat',
          command: { path: '/bin/cat', args: [], env: {}, cwd: '/' },
          redaction: cfg.redaction,
          onStarted: () => Promise.resolve(),
        },
        never,
      )
      const started = performance.now() - start
      const close = performance.now()
      await worker.release()
      const released = performance.now() - close - leaving
      // The first is there to warm everything up.
      if (round === 0) continue
      bare.push(spawned)
      ours.push(started)
      releases.push(released)
    }
    const ratios = ours.map((ms, index) => ms / (bare[index] ?? ms))
    return [
      {
        name: 'a start, supervised',
        unit: 'times',
        value: median(ratios),
        samples: ratios,
        target: { kind: 'at_most', value: 3 },
      },
      {
        name: 'an end, beyond its own',
        unit: 'ms',
        value: median(releases),
        samples: releases,
        target: { kind: 'at_most', value: 150 },
      },
    ]
  },
}
