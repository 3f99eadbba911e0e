import { bind, create, createWorld, customInput, launch } from '../main/providers/support.ts'
import type { World } from '../main/providers/support.ts'
import { timedAsync } from './compare.ts'
import { median } from './types.ts'
import type { Benchmark, Figure } from './types.ts'

/** One less than there may be: the measured one is the last. */
const MANY = 511
const WRITES = 40
const STARTS = 7

export const routes: Benchmark = {
  name: 'routes',
  group: 'router',
  how: `One route more, bound in a transaction of its own and ended again, and the start of Providers with the routes of before: beside ${MANY} routes over beside one.`,
  async run() {
    await using few = await createWorld()
    await using many = await createWorld()
    const [one, all] = [await measure(few, 1), await measure(many, MANY)]
    return [ratio('one route written', all.writes, one.writes, 5), ratio('start to ready', all.starts, one.starts, 10)]
  },
}

async function measure(world: World, count: number): Promise<{ writes: number[]; starts: number[] }> {
  let host = await world.open()
  const { id } = await create(host.providers, customInput('bench', 'https://one.example.com/v1'))
  const request = (n: number) => launch(id, { workerId: `worker-${n}`, sessionId: `session-${n}` })
  for (let n = 0; n < count; n++) await bind(host, request(n))
  const writes: number[] = []
  for (let n = 0; n < WRITES; n++) {
    const more = request(count)
    writes.push(await timedAsync(() => host.store.writeTx((tx) => host.providers.bindWorker(more, tx))))
    await host.providers.unbindWorker(more.workerId, { kind: 'gone' })
  }
  const starts: number[] = []
  for (let n = 0; n < STARTS; n++) {
    await host.stop()
    const began = performance.now()
    host = await world.open()
    starts.push(performance.now() - began)
  }
  return { writes, starts }
}

function ratio(name: string, a: readonly number[], b: readonly number[], value: number): Figure {
  const samples = a.map((each, index) => each / (b[index] ?? Number.NaN))
  return { name, unit: 'times', value: median(a) / median(b), samples, target: { kind: 'at_most', value } }
}
