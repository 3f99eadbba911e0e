/** A host that answers from a test's own words. Inputs, outputs and events pass the real contract: a fake that lies fails. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { act, render } from '@testing-library/react'
import { userEvent } from '@testing-library/user-event'
import type { UserEvent } from '@testing-library/user-event'
import type { ReactNode } from 'react'
import { BridgeProvider } from '../../../src/renderer/bridge/index.ts'
import { createAppStores, StoresProvider } from '../../../src/renderer/stores/app-stores.tsx'
import { UiProvider } from '../../../src/renderer/ui/index.ts'
import type { Bridge, BridgeStatus, TopicObserver } from '../../../src/shared/bridge/client.ts'
import { procedures, topics } from '../../../src/shared/bridge/index.ts'
import type {
  ParsedInput,
  ProcedureName,
  ProcedureOutput,
  TopicEvent,
  TopicFilter,
  TopicName,
} from '../../../src/shared/bridge/index.ts'
import { AppError } from '../../../src/shared/errors.ts'

type Handler<N extends ProcedureName> = (
  input: ParsedInput<N>,
  signal: AbortSignal,
) => ProcedureOutput<N> | Promise<ProcedureOutput<N>>

export type FakeHandlers = { [N in ProcedureName]?: Handler<N> }
/** What a topic says as soon as somebody follows it. */
export type FakeTopics = { [N in TopicName]?: TopicEvent<N> | readonly TopicEvent<N>[] }

export interface FakeBridge {
  bridge: Bridge
  /** The inputs of every call of this procedure so far, as the host would have read them. */
  calls<N extends ProcedureName>(name: N): ParsedInput<N>[]
  /** Sends an event to all who follow the topic. */
  publish<N extends TopicName>(name: N, event: TopicEvent<N>): void
  setStatus(status: BridgeStatus): void
}

const OPEN: BridgeStatus = {
  kind: 'open',
  hello: { protocol: 1, generation: 'fake', app: '0.0.0', installation: 'fake', capabilities: [] },
}

export function createFakeBridge(handlers: FakeHandlers = {}, says: FakeTopics = {}): FakeBridge {
  const made: { name: ProcedureName; input: unknown }[] = []
  const followers = new Set<{ name: TopicName; filter: unknown; event: (event: unknown) => void }>()
  const listeners = new Set<(status: BridgeStatus) => void>()
  let status = OPEN

  const bridge: Bridge = {
    async call(name, input, signal) {
      const parsed = procedures[name].input.parse(input)
      made.push({ name, input: parsed })
      const handler = handlers[name] as ((input: unknown, signal: AbortSignal) => unknown) | undefined
      if (handler === undefined) throw new AppError('procedure_unknown', `This fake does not answer ${name}.`)
      const abort = new AbortController()
      const cancelled = new Promise<never>((_resolve, reject) => {
        signal?.addEventListener('abort', () => {
          abort.abort()
          reject(new AppError('aborted', 'The call was cancelled.'))
        })
      })
      // The race may be over, or never run, when the signal comes.
      cancelled.catch(() => undefined)
      const output = await Promise.race([Promise.resolve(handler(parsed, abort.signal)), cancelled])
      return procedures[name].output.parse(output) as ProcedureOutput<typeof name>
    },
    subscribe<N extends TopicName>(name: N, filter: TopicFilter<N>, observer: TopicObserver<N>) {
      topics[name].filter.parse(filter)
      const follower = { name, filter, event: (event: unknown) => observer.event(event as TopicEvent<N>) }
      followers.add(follower)
      const first = says[name]
      const events: readonly unknown[] = first === undefined ? [] : Array.isArray(first) ? first : [first]
      for (const event of events) follower.event(topics[name].event.parse(event))
      return () => followers.delete(follower)
    },
    status: () => status,
    onStatus(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: () => followers.clear(),
  }

  return {
    bridge,
    calls: <N extends ProcedureName>(name: N) =>
      made.filter((call) => call.name === name).map((call) => call.input as ParsedInput<N>),
    publish(name, event) {
      const parsed = topics[name].event.parse(event)
      act(() => {
        for (const follower of followers) if (follower.name === name) follower.event(parsed)
      })
    },
    setStatus(next) {
      status = next
      act(() => {
        for (const listener of listeners) listener(next)
      })
    },
  }
}

/** Renders inside of everything the page has round its views; answers the person who uses it. */
export function renderWithBridge(view: ReactNode, host: FakeBridge): UserEvent {
  const stores = createAppStores(host.bridge)
  const queries = new QueryClient({
    defaultOptions: { queries: { staleTime: Infinity, retry: false, refetchOnWindowFocus: false } },
  })
  render(
    <UiProvider>
      <BridgeProvider bridge={host.bridge}>
        <StoresProvider stores={stores}>
          <QueryClientProvider client={queries}>{view}</QueryClientProvider>
        </StoresProvider>
      </BridgeProvider>
    </UiProvider>,
  )
  return userEvent.setup()
}
