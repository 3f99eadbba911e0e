import { expect, test } from 'vitest'
import { createSources } from '../../../src/main/bridge/sources.ts'
import type { SourceDeps } from '../../../src/main/bridge/sources.ts'
import type { WorkerOverview } from '../../../src/main/executor/index.ts'
import { createFakeClock } from '../../support/clock.ts'

const LEFT: WorkerOverview = {
  workerId: 'w',
  sessionId: 's',
  product: 'Codex',
  pid: 7,
  state: 'releasing',
  sinceMs: 0,
  heldReason: null,
}

/** The parts that the sessions topic asks: one session, held for as long as a worker of an earlier start is on record. */
function systemsWith(overview: () => WorkerOverview[]) {
  const listeners: (() => void)[] = []
  const none = () => () => undefined
  const row = { id: 's' }
  const deps = {
    runtime: {
      sessions: { list: () => ({ sessions: [row] }), get: () => row },
      changes: { subscribe: () => ({ [Symbol.dispose]: () => undefined }) },
    },
    executor: { overview, onChange: (listener: () => void) => listeners.push(listener) },
    providers: { onRequest: none, onGatewayChange: none, onChange: none },
    settings: { get: () => [], subscribe: () => ({ [Symbol.dispose]: () => undefined }) },
    schedules: { onChange: none },
    trust: { onChange: none },
    views: {
      sessions: () => Promise.resolve([{ id: 's', state: overview().length > 0 ? 'held' : 'idle' }]),
      worker: (worker: WorkerOverview) => worker,
    },
  }
  return { deps, changed: () => listeners.forEach((listener) => listener()) }
}

test('a session whose last worker of an earlier start is gone is told anew: it is held no longer', async () => {
  let left = [LEFT]
  const { deps, changed } = systemsWith(() => left)
  const clock = createFakeClock()
  const { sources } = createSources({ ...deps, clock } as unknown as SourceDeps)
  const connection = { generation: 'g', kind: 'window', shows: null, focused: true } as const
  const { signal } = new AbortController()
  const told = sources.sessions({}, { after: undefined, connection, signal })[Symbol.asyncIterator]()
  expect((await told.next()).value).toMatchObject({ kind: 'snapshot', sessions: [{ state: 'held' }] })
  left = []
  changed()
  await clock.advance(50)
  expect((await told.next()).value).toMatchObject({ kind: 'changed', session: { id: 's', state: 'idle' } })
})
