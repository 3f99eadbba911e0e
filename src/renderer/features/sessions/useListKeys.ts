import { useEffect, useEffectEvent } from 'react'
import type { RefObject } from 'react'
import { isPlainKey } from '../../app/keys.ts'
import { pendingCards } from '../approvals/index.ts'
import { parseView } from '../../stores/navigation.ts'
import type { ListRow } from './rows.ts'

export interface ListKeys {
  rows: readonly ListRow[]
  currentId: string | null
  scroller: RefObject<HTMLElement | null>
  searchField: RefObject<HTMLInputElement | null>
  scrollTo: (index: number) => void
}

/** J and K walk the rows, Enter opens (the rows are links), `/` goes to the search. Other lists keep their own J and K. */
export function useListKeys(keys: ListKeys): void {
  const onKey = useEffectEvent((event: KeyboardEvent): void => {
    const { scroller, searchField } = keys
    if (event.target === searchField.current && event.key === 'ArrowDown') {
      event.preventDefault()
      return step(keys, 1)
    }
    if (!isPlainKey(event)) return
    if (event.key === '/') {
      event.preventDefault()
      searchField.current?.focus()
      return
    }
    const within = scroller.current?.contains(document.activeElement) === true
    // Approvals that wait are rows of their own.
    if (!within && parseView(window.location.hash).kind === 'approvals' && pendingCards().length > 0) return
    const down = event.key === 'j' || (within && event.key === 'ArrowDown')
    const up = event.key === 'k' || (within && event.key === 'ArrowUp')
    if (!down && !up) return
    event.preventDefault()
    step(keys, down ? 1 : -1)
  })
  useEffect(() => {
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
}

function step({ rows, currentId, scroller, scrollTo }: ListKeys, by: 1 | -1): void {
  const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset['session'] : undefined
  const from = rows.findIndex((row) => row.key === (focused ?? currentId))
  let index = from < 0 ? (by > 0 ? 0 : rows.length - 1) : from + by
  while (isHeading(rows[index])) index += by
  const row = rows[index]
  if (row === undefined) return
  scrollTo(index)
  // The row may come into the page only with the next frame.
  requestAnimationFrame(() =>
    requestAnimationFrame(() =>
      scroller.current?.querySelector<HTMLElement>(`[data-session="${CSS.escape(row.key)}"]`)?.focus(),
    ),
  )
}

function isHeading(row: ListRow | undefined): boolean {
  return row !== undefined && row.kind !== 'session' && row.kind !== 'hit'
}
