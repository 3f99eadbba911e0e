/** The Router beside what else could stand in its place, before one Provider, in one run. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { RivalTask } from './rivals/client-worker.ts'
import { startClaudeCodeRouter, startNginx, startPipe, startRouter, startUpstream } from './rivals/start.ts'
import type { Rival } from './rivals/start.ts'
import { quantile, ratio } from './compare.ts'
import { median } from './types.ts'
import type { Benchmark, Figure } from './types.ts'

const REPEATS = 15
/** Many short slices, one rival behind the other: what else a machine does weighs on all of them, and on no median. */
const SLICES = 40
const SLICE_MS = 200
const WARM_MS = 5_000
const SEQUENCE = 60
const STREAM_BYTES = 67_108_864

export const router: Benchmark = {
  name: 'router',
  how: `The Router, a bare pipe in Node, nginx and claude-code-router 2.0.0, each a process before the same Provider of Messages, asked in turns with a 16 KiB conversation, each turn in the other order than the one before, once all are warm. Requests a second: the medians of ${SLICES} slices of ${SLICE_MS} ms over one another; the rest: of ${REPEATS} turns. MiB/s are those of one stream of 64 MiB; router-throughput holds the Router to a longer one. What is not installed is left out (nginx from PATH, the last by \`npm ci --prefix test/bench/rivals\`).`,
  run: compare,
}

interface Measured {
  readonly rival: Rival
  readonly p50: number[]
  readonly p99: number[]
  readonly at16: number[]
  readonly at64: number[]
  readonly stream: number[]
  /** Answers other than 200, at 64. */
  failed: number
}

async function compare(): Promise<readonly Figure[]> {
  await using undo = new AsyncDisposableStack()
  const use = <T extends Rival | null>(started: T): T => undo.use(started)
  const direct = use(await startUpstream())
  const rivals = [
    direct,
    use(await startRouter(direct.port)),
    use(await startPipe(direct.port)),
    use(await startNginx(direct.port)),
    use(await startClaudeCodeRouter(direct.port)),
  ].filter((rival) => rival !== null)
  const client = new Worker(new URL('./rivals/client-worker.ts', import.meta.url))
  undo.defer(() => void client.terminate())

  async function ask(task: RivalTask): Promise<number[]> {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
    client.postMessage(task)
    const [answer] = (await once(client, 'message')) as [{ values: number[] } | { error: string }]
    if ('error' in answer) throw new Error(answer.error)
    return answer.values
  }

  const all = rivals.map((rival): Measured => ({ rival, p50: [], p99: [], at16: [], at64: [], stream: [], failed: 0 }))
  async function inTurns(turns: number, measure: (of: Measured, port: number) => Promise<void>): Promise<void> {
    for (let turn = 0; turn < turns; turn++) {
      for (const of of turn % 2 === 0 ? all : all.toReversed()) await measure(of, of.rival.port)
    }
  }

  await inTurns(1, async (_, port) => {
    await ask({ kind: 'rate', port, width: 32, forMs: WARM_MS })
    await ask({ kind: 'stream', port, bytes: STREAM_BYTES })
  })
  await inTurns(REPEATS, async (of, port) => {
    const times = await ask({ kind: 'sequence', port, rounds: SEQUENCE })
    const [stream = 0] = await ask({ kind: 'stream', port, bytes: STREAM_BYTES })
    of.p50.push(quantile(times, 0.5))
    of.p99.push(quantile(times, 0.99))
    of.stream.push(stream)
  })
  await inTurns(SLICES, async (of, port) => {
    const [at16 = 0] = await ask({ kind: 'rate', port, width: 16, forMs: SLICE_MS })
    of.at16.push(at16)
  })
  await inTurns(SLICES, async (of, port) => {
    const [at64 = 0, failed = 0] = await ask({ kind: 'rate', port, width: 64, forMs: SLICE_MS })
    of.at64.push(at64)
    of.failed += failed
  })
  print(all)
  return figuresOf(all)
}

function print(all: readonly Measured[]): void {
  const [direct] = all
  if (direct === undefined) return
  console.log('  what                 +p50 ms  +p99 ms  req/s 16  req/s 64  MiB/s   RSS MB  failed')
  for (const { rival, p50, p99, at16, at64, stream, failed } of all) {
    const added = (of: readonly number[], base: readonly number[]): string => (median(of) - median(base)).toFixed(2)
    const cells = [
      added(p50, direct.p50).padStart(8),
      added(p99, direct.p99).padStart(8),
      median(at16).toFixed(0).padStart(9),
      median(at64).toFixed(0).padStart(9),
      median(stream).toFixed(0).padStart(6),
      rival.rssMb().toFixed(0).padStart(8),
      String(failed).padStart(7),
    ]
    console.log(`  ${rival.name.padEnd(19)} ${cells.join(' ')}`)
  }
}

function figuresOf(all: readonly Measured[]): readonly Figure[] {
  const of = (name: string): Measured | null => all.find(({ rival }) => rival.name === name) ?? null
  const [router, pipe, ccr, direct] = [of('Router'), of('bare pipe'), of('claude-code-router'), of('direct')]
  if (router === null || pipe === null || direct === null) return []
  const over = (name: string, a: readonly number[], b: readonly number[], value: number): Figure =>
    ratio(name, a, b, { kind: 'at_least', value })
  // A delayed acknowledgement costs 40 ms: no ordinary answer may meet one.
  const stall = router.p50.map((each, index) => each - (direct.p50[index] ?? 0))
  return [
    over('requests a second at 16, Router over bare pipe', router.at16, pipe.at16, 0.8),
    over('requests a second at 64, Router over bare pipe', router.at64, pipe.at64, 0.8),
    {
      name: 'first byte that the Router adds',
      unit: 'ms',
      value: median(stall),
      samples: stall,
      target: { kind: 'at_most', value: 40 },
    },
    ...(ccr === null
      ? []
      : [
          over('requests a second at 16, Router over claude-code-router', router.at16, ccr.at16, 3),
          over('requests a second at 64, Router over claude-code-router', router.at64, ccr.at64, 3),
        ]),
  ]
}
