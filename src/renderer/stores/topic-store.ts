import { createStore } from 'zustand/vanilla'
import type { StoreApi } from 'zustand/vanilla'
import type { Bridge } from '../../shared/bridge/client.ts'
import type { TopicEvent, TopicFilter, TopicName } from '../../shared/bridge/index.ts'

/** What a topic of state said so far; `loaded` is false until its first whole. What was loaded stays when the host goes. */
export interface TopicState<S> {
  loaded: boolean
  value: S
}

/** Keeps one topic of state, folded by `apply`, for as long as the page lives. */
export function keepTopic<N extends TopicName, S>(
  bridge: Bridge,
  name: N,
  filter: TopicFilter<N>,
  initial: S,
  apply: (state: S, event: TopicEvent<N>) => S,
): StoreApi<TopicState<S>> {
  const store = createStore<TopicState<S>>(() => ({ loaded: false, value: initial }))
  bridge.subscribe(name, filter, {
    event: (event) => store.setState(({ value }) => ({ loaded: true, value: apply(value, event) })),
  })
  return store
}
