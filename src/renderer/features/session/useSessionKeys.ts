import { useEffect, useEffectEvent, useRef, useState } from 'react'
import type { SessionView } from '../../../shared/bridge/index.ts'
import { isDialogOpen, isPlainKey } from '../../app/keys.ts'
import { goToTurn, shownTurns } from './go-to-turn.ts'

const SECOND_PRESS_MS = 1_500

/** Esc twice stops the run; `[` and `]` walk the turns, `{` and `}` go to the first and the last; `I` goes to the prompt. */
export function useSessionKeys(
  session: SessionView,
  stop: () => void,
  toFirst: () => Promise<void>,
): { escapePressed: boolean } {
  const [escapePressed, setEscapePressed] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null)

  const onEscape = useEffectEvent((): void => {
    if (session.activeRun === null) return
    if (timer.current !== null) clearTimeout(timer.current)
    timer.current = null
    if (escapePressed) {
      setEscapePressed(false)
      stop()
      return
    }
    setEscapePressed(true)
    timer.current = setTimeout(() => setEscapePressed(false), SECOND_PRESS_MS)
  })
  const onKey = useEffectEvent((event: KeyboardEvent): void => {
    if (event.defaultPrevented) return
    if (event.key === 'Escape' && !event.isComposing && !isDialogOpen()) return onEscape()
    if (!isPlainKey(event)) return
    if (event.key === 'i') document.querySelector<HTMLElement>('[data-prompt]')?.focus()
    else if (event.key === '[' || event.key === ']') stepTurn(event.key === ']' ? 1 : -1)
    else if (event.key === '{') void toFirst().then(() => goToTurn(shownTurns().at(0)))
    else if (event.key === '}') goToTurn(shownTurns().at(-1))
    else return
    event.preventDefault()
  })

  useEffect(() => {
    window.addEventListener('keydown', onKey)
    return () => {
      window.removeEventListener('keydown', onKey)
      if (timer.current !== null) clearTimeout(timer.current)
    }
  }, [])
  return { escapePressed: escapePressed && session.activeRun !== null }
}

function stepTurn(by: 1 | -1): void {
  const all = shownTurns()
  const focused = all.findIndex((turn) => turn.contains(document.activeElement))
  goToTurn(all[focused < 0 ? all.length - 1 : focused + by])
}
