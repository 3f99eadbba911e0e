import { useMutation, useQuery } from '@tanstack/react-query'
import type { UseMutationResult, UseQueryResult } from '@tanstack/react-query'
import { createContext, use, useSyncExternalStore } from 'react'
import type { ReactNode } from 'react'
import type { Bridge, BridgeStatus } from '../../shared/bridge/client.ts'
import type { ProcedureInput, ProcedureName, ProcedureOutput } from '../../shared/bridge/index.ts'
import { AppError } from '../../shared/errors.ts'
import { noteDurability } from './frail.ts'

const BridgeContext = createContext<Bridge | null>(null)

export function BridgeProvider({ bridge, children }: { bridge: Bridge; children: ReactNode }) {
  return <BridgeContext value={bridge}>{children}</BridgeContext>
}

export function useBridge(): Bridge {
  const bridge = use(BridgeContext)
  if (bridge === null) throw new AppError('internal', 'A component stands outside of its BridgeProvider.')
  return bridge
}

export function useBridgeStatus(): BridgeStatus {
  const bridge = useBridge()
  return useSyncExternalStore(bridge.onStatus, bridge.status)
}

/** A query of the bridge. Freshness comes from topics, which invalidate it by its name. */
export function useCall<N extends ProcedureName>(
  name: N,
  input: ProcedureInput<N>,
  options: {
    enabled?: boolean
    /** Asked anew by whoever shows it: no topic tells when it is old. */
    fresh?: boolean
  } = {},
): UseQueryResult<ProcedureOutput<N>, AppError> {
  const bridge = useBridge()
  const open = useBridgeStatus().kind === 'open'
  return useQuery<ProcedureOutput<N>, AppError>({
    queryKey: [name, input],
    queryFn: ({ signal }) => bridge.call(name, input, signal),
    enabled: open && (options.enabled ?? true),
    ...(options.fresh === true ? { staleTime: 0, gcTime: 0 } : {}),
  })
}

/** A mutation of the bridge. No optimistic guess: the topics bring the truth to every window. */
export function useChange<N extends ProcedureName>(
  name: N,
): UseMutationResult<ProcedureOutput<N>, AppError, ProcedureInput<N>> {
  const bridge = useBridge()
  return useMutation<ProcedureOutput<N>, AppError, ProcedureInput<N>>({
    mutationFn: async (input) => {
      const output = await bridge.call(name, input)
      noteDurability(bridge, name, output)
      return output
    },
  })
}
