/** What a worker's stream costs: reading, redaction, long lines, and many at once. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { readFileSync, readdirSync } from 'node:fs'
import { createSecret, createSecretRegistry, createSystemClock } from '../../src/main/platform/index.ts'
import { LIMITS } from '../../src/main/workers/index.ts'
import type { Session, Worker } from '../../src/main/workers/index.ts'
import { createLinuxSource } from '../../src/main/workers/process/linux.ts'
import type { ProcessRow } from '../../src/main/workers/process/source.ts'
import { createProcessTable } from '../../src/main/workers/process/table.ts'
import { parseLargeLine } from '../../src/main/workers/text/large-line.ts'
import { createLineReader, parseJsonLine } from '../../src/main/workers/text/line-reader.ts'
import { createRedactor } from '../../src/main/workers/text/redactor.ts'
import { createAcpWorkers, never } from '../support/acp-worker.ts'
import { countedClock } from '../support/counted-clock.ts'
import { median } from './types.ts'
import type { Benchmark, Figure } from './types.ts'

const ROUNDS = 3
const CHUNK = 65_536
const MEBIBYTE = 1_048_576

/** P-2 to P-4. */
export const workerStream: Benchmark = {
  name: 'worker-stream',
  group: 'workers',
  how: `Redaction against its two pattern rules alone; a long line in small pieces against the same in one, and what it takes of memory while it is open, while it is parsed, and afterwards. Best of ${ROUNDS}.`,
  run: async () => [...redactionCost(), longLineCost(), ...(await longLineMemory())],
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

/** In lengths of the line: what is held before its end has come, and the most while it becomes a value. */
async function longLineMemory(): Promise<Figure[]> {
  const collect = garbageCollector()
  const held = (): number => {
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    return heapUsed + arrayBuffers
  }
  collect()
  const before = { held: held(), rss: process.memoryUsage().rss }
  let parsing: Promise<unknown> = Promise.resolve()
  const reader = createLineReader(LIMITS.lineBytes, (line) => {
    parsing = parseLargeLine(line)
  })
  reader.push(Buffer.from('"'))
  for (let at = 0; at < LIMITS.lineBytes - CHUNK; at += CHUNK) reader.push(Buffer.alloc(CHUNK, 'x'))
  collect()
  const open = held() - before.held
  let most = 0
  const sampler = setInterval(() => (most = Math.max(most, process.memoryUsage().rss - before.rss)), 1)
  reader.push(Buffer.from('"\n'))
  await parsing
  clearInterval(sampler)
  parsing = Promise.resolve()
  // What the thread let go of comes back a little later.
  for (let round = 0; round < 20; round++) {
    collect()
    await setTimeout(50)
  }
  return [
    atMost('memory of a line of 32 MiB, while it is open', 'times', open / LIMITS.lineBytes, 2),
    atMost('memory of a line of 32 MiB, while it is parsed', 'times', most / LIMITS.lineBytes, 5),
    atMost('memory of a line of 32 MiB, once it is handled', 'MB', (held() - before.held) / 1e6, 1.05),
  ]
}

function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}

function atMost(name: string, unit: Figure['unit'], value: number, most: number): Figure {
  return { name, unit, value, samples: [value], target: { kind: 'at_most', value: most } }
}

const WORKERS = 32
const RATE = 200
const SECONDS = 60

/** What an end waits for is over by then. */
const SETTLED_MS = 3_000

/** P-4 and P-5. */
export const workersAtOnce: Benchmark = {
  name: 'workers-at-once',
  group: 'workers',
  how: `${WORKERS} workers, each sending ${RATE} lines a second for ${SECONDS} s to a consumer that reads: the 99th percentile of the event loop's delay, what was dropped, and what is still open afterwards. And what ${WORKERS} idle ones add to the host.`,
  async run() {
    const { clock, waiting } = countedClock()
    await using fleet = createAcpWorkers({ clock })
    const listeners = (): number => process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0)
    const open = async (): Promise<Session> => {
      const env = { FAKE_RATE: `${RATE}`, FAKE_SECONDS: `${SECONDS}` }
      return fleet.workers.open('acp', await fleet.config('stream', env), {}, never)
    }
    await (await open()).close()
    await setTimeout(SETTLED_MS)
    const before = {
      fds: readdirSync('/proc/self/fd').length,
      rss: process.memoryUsage().rss,
      timers: waiting(),
      listeners: listeners(),
    }
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
    await setTimeout(SETTLED_MS)
    const left = Math.max(0, readdirSync('/proc/self/fd').length - before.fds)
    return [
      atMost('event loop, 99th percentile', 'ms', delay.percentile(99) / 1e6, 20),
      atMost('updates that were dropped', 'count', dropped, 0),
      atMost('descriptors left open', 'count', left, 0),
      atMost('timers left waiting', 'count', Math.max(0, waiting() - before.timers), 0),
      atMost('listeners left', 'count', Math.max(0, listeners() - before.listeners), 0),
      atMost(`memory of ${WORKERS} idle workers`, 'MB', idleMB, 64),
    ]
  },
}

const STARTS = 10
const CYCLES = 1_000
const IDLE_MS = 1_000

/** P-6 and P-7. */
export const workerLife: Benchmark = {
  name: 'worker-life',
  group: 'workers',
  how: `Starting a supervised process until it is on record, against a bare spawn of the same program until it runs; and ending one that leaves when its input ends, beyond its own leaving. How often the whole process table is read for that, and while a worker is idle; and what ${CYCLES} lives leave behind.`,
  async run() {
    const clock = createSystemClock()
    const source = createLinuxSource(clock)
    let scans = 0
    // Who asks at once shares a listing.
    const listings = new WeakSet<readonly ProcessRow[]>()
    const counted = {
      ...source,
      async rows() {
        const rows = await source.rows()
        if (rows === null || listings.has(rows)) return rows
        listings.add(rows)
        scans += 1
        return rows
      },
    }
    await using fleet = createAcpWorkers({ clock, processes: createProcessTable({ source: counted, clock }) })
    const bare: number[] = []
    const ours: number[] = []
    const releases: number[] = []
    const start = async (): Promise<Worker> => {
      const cfg = await fleet.config('ok')
      return fleet.workers.spawn(
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
    }
    const perEnd: number[] = []
    let idle = 0
    for (let round = 0; round <= STARTS; round++) {
      const began = performance.now()
      const child = spawn('/bin/cat', [], { stdio: 'pipe' })
      await once(child, 'spawn')
      const spawned = performance.now() - began
      const ended = performance.now()
      child.stdin.end()
      await once(child, 'exit')
      const leaving = performance.now() - ended

      const starting = performance.now()
      const worker = await start()
      const started = performance.now() - starting
      if (round === 0) {
        scans = 0
        await setTimeout(IDLE_MS)
        idle = scans
      }
      scans = 0
      const close = performance.now()
      await worker.release()
      const released = performance.now() - close - leaving
      // The first is there to warm everything up.
      if (round === 0) continue
      bare.push(spawned)
      ours.push(started)
      releases.push(released)
      perEnd.push(scans)
    }
    const ratios = ours.map((ms, index) => ms / (bare[index] ?? ms))
    const left = await livesLeft(fleet.dir, async () => void (await (await start()).release()))
    return [
      { ...atMost('a start, supervised', 'times', median(ratios), 3), samples: ratios },
      { ...atMost('an end, beyond its own', 'ms', median(releases), 150), samples: releases },
      // Before the input ends, and once it has left.
      { ...atMost('readings of the process table for an end', 'count', median(perEnd), 2), samples: perEnd },
      atMost('readings of the process table in an idle second', 'count', idle, 0),
      ...left,
    ]
  },
}

/** What as many lives leave behind: processes nobody reaped, descriptors, files. */
async function livesLeft(dir: string, live: () => Promise<void>): Promise<Figure[]> {
  const children = (): number => readFileSync('/proc/thread-self/children', 'utf8').split(' ').length
  const found = (): number[] => [children(), readdirSync('/proc/self/fd').length, filesIn(dir)]
  const before = found()
  for (let n = 0; n < CYCLES; n++) await live()
  const names = ['processes', 'descriptors', 'files']
  return found().map((count, index) => {
    const more = Math.max(0, count - (before[index] ?? 0))
    return atMost(`${names[index]} left by ${CYCLES} lives`, 'count', more, 0)
  })
}

function filesIn(dir: string): number {
  return readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory()).length
}
