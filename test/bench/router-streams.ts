import { HELD_TO_PIPE, quantile, ratio, shareOf } from './compare.ts'
import { openThrough } from './through.ts'
import type { Through, Way } from './through.ts'
import type { Benchmark, Figure } from './types.ts'

/** Whether the collector comes by weighs more on a turn than what is compared. */
const REPEATS = 15
const PAIRS = 60
const MIB = 1_048_576
const STREAMS = 500
const SECONDS = 60

export const routerThroughput: Benchmark = {
  name: 'router-throughput',
  group: 'router',
  how: `Bytes a second of one stream of 256 MiB, and of 50 streams of 4 MiB together, through the Router over those without it, in turns, each in the other order than the one before: the medians of ${REPEATS} over one another. Agents, Router and Provider are three threads: on two cores, the way through the Router shares what the direct one has. ${HELD_TO_PIPE} Metering is off where the answer comes in an encoding that the Router does not read; two equal ways differ by a tenth from one stream to the next, so that is ${PAIRS} pairs of 256 MiB.`,
  async run() {
    await using through = await openThrough()
    const all = ['direct', 'router', 'pipe'] as const
    const one = await compare(through, all, REPEATS, { query: `bytes=${256 * MIB}`, streams: 1 })
    const many = await compare(through, all, REPEATS, { query: `bytes=${4 * MIB}`, streams: 50 })
    const metered = await compare(through, ['router', 'unmetered'], PAIRS, { query: `bytes=${256 * MIB}`, streams: 1 })
    const atLeast = (value: number) => ({ kind: 'at_least', value }) as const
    return [
      ratio(
        'one stream of 256 MiB, Router over direct',
        one.router,
        one.direct,
        atLeast(shareOf(0.8, one.pipe, one.direct)),
      ),
      ratio('50 streams, Router over direct', many.router, many.direct, atLeast(shareOf(0.75, many.pipe, many.direct))),
      ratio('metering on over off, one stream of 256 MiB', metered.router, metered.unmetered, atLeast(0.95)),
    ]
  },
}

type Rates = Record<Way | 'unmetered', number[]>

/** In turns, each in the other order than the one before; the first warms everything up and does not count. */
async function compare(
  through: Through,
  ways: readonly (keyof Rates)[],
  turns: number,
  task: { query: string; streams: number },
): Promise<Rates> {
  const rates: Rates = { direct: [], router: [], pipe: [], unmetered: [] }
  for (let turn = 0; turn <= turns; turn++) {
    for (const way of turn % 2 === 0 ? ways : ways.toReversed()) {
      const [by, query]: [Way, string] =
        way === 'unmetered' ? ['router', `${task.query}&encoding=opaque`] : [way, task.query]
      const { bytes, seconds, failed } = await through.ask(by, { ...task, query })
      if (failed > 0) throw new Error(`${failed} streams did not come whole`)
      if (turn > 0) rates[way].push(bytes / seconds)
    }
  }
  return rates
}

export const routerStreams: Benchmark = {
  name: 'router-streams',
  group: 'router',
  how: `${STREAMS} open streams with an event a second for ${SECONDS} s: without the Router, through it, and through a bare pipe in its place, each a process of its own, one after another. Memory is resident, after a collection: in the middle of it, and once all have closed; a first, short round warms up.`,
  async run() {
    await using through = await openThrough()
    const direct = await round(through, 'direct')
    const pipe = await round(through, 'pipe')
    const router = await round(through, 'router')
    const atMost = (name: string, unit: Figure['unit'], value: number, target: number): Figure => ({
      name,
      unit,
      value,
      samples: [value],
      target: { kind: 'at_most', value: target },
    })
    const wrong = router.failed + (router.bytes === direct.bytes ? 0 : 1)
    return [
      atMost('streams that did not come whole', 'count', wrong, 0),
      atMost('gap between two events p99, Router over direct', 'times', router.gapMs / direct.gapMs, 1.5),
      atMost('event loop delay p99, Router over bare pipe', 'times', router.loopDelayMs / pipe.loopDelayMs, 1.5),
      atMost('memory of an open stream, Router over bare pipe', 'times', router.perStream / pipe.perStream, 1.5),
      atMost('memory of an open stream', 'KB', router.perStream / 1_024, 128),
      atMost('memory after they closed over before', 'times', router.after / router.before, 1.1),
    ]
  },
}

async function round(through: Through, way: Way) {
  const of = way === 'direct' ? null : way
  const cost = async () => (of === null ? { rssBytes: 0, loopDelayMs: 0 } : await through.cost(of))
  await through.ask(way, { query: 'events=2', streams: STREAMS })
  const before = await cost()
  const asked = through.ask(way, { query: `events=${SECONDS}`, streams: STREAMS })
  const half = new Promise((resolve) => setTimeout(resolve, (SECONDS * 1_000) / 2))
  const during = await half.then(cost)
  const done = await asked
  const after = await cost()
  return {
    bytes: done.bytes,
    failed: done.failed,
    gapMs: quantile(done.gaps, 0.99),
    loopDelayMs: Math.max(during.loopDelayMs, after.loopDelayMs),
    perStream: Math.max(1, during.rssBytes - before.rssBytes) / STREAMS,
    before: before.rssBytes,
    after: after.rssBytes,
  }
}
