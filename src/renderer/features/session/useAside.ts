import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import type { ProcedureOutput } from '../../../shared/bridge/index.ts'
import type { AppError } from '../../../shared/errors.ts'
import { useBridge } from '../../bridge/index.ts'

/** Asks beside the conversation; the question is given up when nobody waits for its answer any more. */
export function useAside(sessionId: string) {
  const bridge = useBridge()
  const abort = useRef<AbortController | null>(null)
  const { data, error, isPending, mutate, reset } = useMutation<ProcedureOutput<'runs.aside'>, AppError, string>({
    mutationFn: (text) => {
      const controller = new AbortController()
      abort.current = controller
      return bridge.call('runs.aside', { sessionId, text }, controller.signal)
    },
  })
  useEffect(() => () => abort.current?.abort(), [])
  return {
    pending: isPending,
    answer: data ?? null,
    error,
    ask: (text: string) => mutate(text),
    cancel: () => {
      if (!isPending) return
      abort.current?.abort()
      reset()
    },
  }
}
