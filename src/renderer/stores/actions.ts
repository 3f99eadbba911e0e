import { useEffect, useEffectEvent } from 'react'
import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'

/** Something that can be done with what is open, offered by the command palette. */
export interface OfferedAction {
  id: string
  label: string
  /** What it is done to. */
  note: string
  run: () => void
}

/** By who offers them, in the order in which they came. */
const offers = createStore<ReadonlyMap<symbol, readonly OfferedAction[]>>(() => new Map())

/** Offers these actions for as long as the component stands. */
export function useOfferActions(actions: readonly (Omit<OfferedAction, 'run'> & { onSelect: () => void })[]): void {
  const run = useEffectEvent((id: string): void => actions.find((action) => action.id === id)?.onSelect())
  const read = useEffectEvent((): OfferedAction[] =>
    actions.map(({ id, label, note }) => ({ id, label, note, run: () => run(id) })),
  )
  const words = actions.map(({ id, label, note }) => `${id} ${label} ${note}`).join('\n')
  useEffect(
    () => {
      const key = Symbol('offer')
      offers.setState(new Map(offers.getState()).set(key, read()), true)
      return () => {
        const next = new Map(offers.getState())
        next.delete(key)
        offers.setState(next, true)
      }
    },
    // What it does is read when it is done: only other words are another offer.
    // oxlint-disable-next-line react/exhaustive-effect-dependencies
    [words],
  )
}

export function useOfferedActions(): ReadonlyMap<symbol, readonly OfferedAction[]> {
  return useStore(offers)
}
