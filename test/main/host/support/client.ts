/** A client of a running host, over its control socket: what another start of the command line is. */
import { createBridgeClient } from '../../../../src/shared/bridge/client.ts'
import type { Bridge } from '../../../../src/shared/bridge/client.ts'
import type { HostFrame, TopicEvent } from '../../../../src/shared/bridge/index.ts'
import { createHostControl, createSystemClock } from '../../../../src/main/platform/index.ts'
import type { FrameConnection } from '../../../../src/main/platform/index.ts'

export type SessionEvent = TopicEvent<'session.events'>

/** The bare connection. */
export async function connectFrames(dataDir: string): Promise<FrameConnection> {
  const role = await createHostControl().acquire(dataDir)
  if (role.kind === 'running') return role.connect(AbortSignal.timeout(15_000))
  await role.release()
  throw new Error('No host runs there.')
}

export async function connectBridge(dataDir: string): Promise<Bridge> {
  const clock = createSystemClock()
  const connection = await connectFrames(dataDir)
  const bridge = createBridgeClient({
    connect(handlers) {
      connection.onFrame((frame) => handlers.frame(frame as HostFrame))
      connection.onClose(() => handlers.closed({ final: true, error: null }))
      return { send: (frame) => void connection.send(frame), close: () => connection.close() }
    },
    nowMs: () => clock.nowMs(),
    after: (ms, fn) => {
      const timer = clock.after(ms, fn)
      return () => timer[Symbol.dispose]()
    },
  })
  if (bridge.status().kind === 'open') return bridge
  await new Promise<void>((resolve) => {
    const forget = bridge.onStatus((status) => {
      if (status.kind !== 'open') return
      forget()
      resolve()
    })
  })
  return bridge
}

/** Follows a session's events. */
export function follow(bridge: Bridge, sessionId: string, after = 0) {
  const events: SessionEvent[] = []
  const watchers = new Set<() => void>()
  const forget = bridge.subscribe(
    'session.events',
    { sessionId },
    {
      after,
      event(event) {
        events.push(event)
        for (const watcher of watchers) watcher()
      },
    },
  )
  return {
    events,
    forget,
    /** Resolves with the first event, old or new, that `test` takes. */
    until(test: (event: SessionEvent) => boolean): Promise<SessionEvent> {
      return new Promise((resolve) => {
        const look = (): boolean => {
          const found = events.find(test)
          if (found === undefined) return false
          watchers.delete(look)
          resolve(found)
          return true
        }
        watchers.add(look)
        look()
      })
    },
  }
}

export const isEnd = (runId: string) => (event: SessionEvent) =>
  event.runId === runId && (event.type === 'run_finished' || event.type === 'run_recovered')

/** Allows whatever the session's agent asks. */
export function allowEverything(bridge: Bridge): () => void {
  return bridge.subscribe(
    'decisions',
    {},
    {
      event(event) {
        const asked = event.kind === 'snapshot' ? event.decisions : [event.decision]
        for (const { decisionId, status } of asked) {
          if (status !== 'pending') continue
          void bridge.call('decisions.resolve', { decisionId, answer: { option: 'allow_once' } }).catch(() => undefined)
        }
      },
    },
  )
}
