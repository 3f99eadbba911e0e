import { useEffect, useRef, useState } from 'react'
import type { ProcedureInput, ProcedureName, ProcedureOutput } from '../../shared/bridge/index.ts'
import { AppError } from '../../shared/errors.ts'
import { noteDurability } from './frail.ts'
import { useBridge } from './react.tsx'

export interface Asking<N extends ProcedureName> {
  /** Null: it failed or was cancelled; `error` says which. */
  ask: (input: ProcedureInput<N>) => Promise<ProcedureOutput<N> | null>
  pending: boolean
  /** Whole seconds since it began. */
  seconds: number
  output: ProcedureOutput<N> | null
  error: AppError | null
  cancel: () => void
  reset: () => void
}

/** A call that can be cancelled and whose input is kept nowhere: it may hold a key. */
export function useAsking<N extends ProcedureName>(name: N): Asking<N> {
  const bridge = useBridge()
  const [state, setState] = useState<{
    pending: boolean
    output: ProcedureOutput<N> | null
    error: AppError | null
  }>(IDLE)
  const [seconds, setSeconds] = useState(0)
  const abort = useRef<AbortController | null>(null)
  const { pending } = state

  useEffect(() => () => abort.current?.abort(), [])
  useEffect(() => {
    if (!pending) return undefined
    const timer = setInterval(() => setSeconds((count) => count + 1), 1_000)
    return () => clearInterval(timer)
  }, [pending])

  return {
    ...state,
    seconds,
    async ask(input) {
      abort.current?.abort()
      const mine = new AbortController()
      abort.current = mine
      setSeconds(0)
      setState({ ...IDLE, pending: true })
      try {
        const output = await bridge.call(name, input, mine.signal)
        noteDurability(bridge, name, output)
        if (mine.signal.aborted) return null
        setState({ ...IDLE, output })
        return output
      } catch (thrown) {
        if (mine.signal.aborted) return null
        const error = thrown instanceof AppError ? thrown : new AppError('internal', 'The call failed.')
        setState({ ...IDLE, error })
        return null
      }
    },
    cancel() {
      abort.current?.abort()
      setState(IDLE)
    },
    reset: () => setState(IDLE),
  }
}

const IDLE = { pending: false, output: null, error: null }
