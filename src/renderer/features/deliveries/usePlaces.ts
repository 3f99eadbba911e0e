import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useBridge, useCall } from '../../bridge/index.ts'

/** The places, and the deliveries, are asked for again whenever the host tells of a change. */
export function useFreshDeliveries(): void {
  const bridge = useBridge()
  const queries = useQueryClient()
  useEffect(
    () =>
      bridge.subscribe(
        'deliveries',
        {},
        {
          event: ({ kind }) =>
            void queries.invalidateQueries({
              queryKey: [kind === 'targets' ? 'deliveries.targets.list' : 'deliveries.list'],
            }),
        },
      ),
    [bridge, queries],
  )
}

export function usePlaces() {
  useFreshDeliveries()
  return useCall('deliveries.targets.list', {})
}
