import { useSyncExternalStore } from 'react'
import { frailOf } from './frail.ts'
import { useBridge } from './react.tsx'

/** Whether the newest change of the area may still be undone, whichever part of the page made it. */
export function useIsFrail(area: string): boolean {
  const frail = frailOf(useBridge())
  return useSyncExternalStore(
    (listener) => {
      frail.listeners.add(listener)
      return () => void frail.listeners.delete(listener)
    },
    () => frail.areas.has(area),
  )
}
