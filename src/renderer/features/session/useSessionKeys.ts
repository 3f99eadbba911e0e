import { useEffect, useEffectEvent, useRef, useState } from 'react'
import type { SessionView } from '../../../shared/bridge/index.ts'
import { isDialogOpen, isPlainKey } from '../../app/keys.ts'
import { useStopRun } from './useStopRun.ts'

const SECOND_PRESS_MS = 1_500

/** Esc twice stops the run; `[` and `]` walk the turns; `I` goes to the prompt. */
export function useSessionKeys(session: SessionView): { escapePressed: boolean } {
  const { stop } = useStopRun(session)
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
  const turns = [...document.querySelectorAll<HTMLElement>('main article[data-turn]')]
  const focused = turns.findIndex((turn) => turn.contains(document.activeElement))
  const next = turns[focused < 0 ? turns.length - 1 : focused + by]
  next?.focus({ preventScroll: true })
  next?.scrollIntoView({ block: 'start' })
}
