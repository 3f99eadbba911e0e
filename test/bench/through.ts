/** A fake Provider, the Router and a bare pipe before it, and agents that ask any of them: each a process or a thread. */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { StreamsDone, StreamsTask } from './agent-worker.ts'
import type { ProxyCost } from './proxy-process.ts'

export type Way = 'direct' | 'router' | 'pipe'

export interface Through extends AsyncDisposable {
  ask(way: Way, task: Pick<StreamsTask, 'query' | 'streams'>): Promise<StreamsDone>
  cost(of: 'router' | 'pipe'): Promise<ProxyCost>
}

/** One route carries 128 requests at once. */
const ROUTES = 8

export async function openThrough(): Promise<Through> {
  await using undo = new AsyncDisposableStack()
  const provider = new Worker(new URL('./upstream-worker.ts', import.meta.url))
  undo.defer(async () => void (await provider.terminate()))
  const [upstreamPort] = (await once(provider, 'message')) as [number]
  const agents = new Worker(new URL('./agent-worker.ts', import.meta.url))
  undo.defer(async () => void (await agents.terminate()))
  const routeIds = Array.from({ length: ROUTES }, () => randomBytes(32).toString('base64url'))

  async function start(kind: 'router' | 'pipe'): Promise<{ child: ChildProcess; port: number }> {
    const child = fork(
      join(import.meta.dirname, 'proxy-process.ts'),
      [kind, String(upstreamPort), routeIds.join(',')],
      {
        execArgv: ['--expose-gc'],
      },
    )
    undo.defer(async () => {
      if (child.exitCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    })
    const [port] = (await once(child, 'message')) as [number]
    return { child, port }
  }

  const [router, pipe] = [await start('router'), await start('pipe')]
  const ports: Readonly<Record<Way, number>> = { direct: upstreamPort, router: router.port, pipe: pipe.port }
  const opened = undo.move()
  return {
    async ask(way, task) {
      const whole: StreamsTask = { ...task, port: ports[way], routeIds }
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
      agents.postMessage(whole)
      const [done] = (await once(agents, 'message')) as [StreamsDone]
      return done
    },
    async cost(of) {
      const { child } = of === 'router' ? router : pipe
      child.send('cost')
      const [cost] = (await once(child, 'message')) as [ProxyCost]
      return cost
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
