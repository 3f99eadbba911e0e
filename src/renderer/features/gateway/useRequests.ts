import { useEffect, useState } from 'react'
import type { RequestView } from '../../../shared/bridge/index.ts'
import { useBridge } from '../../bridge/index.ts'

const SHOWN = 100

/** The newest requests while the view is open; null until they are known. */
export function useRequests(): readonly RequestView[] | null {
  const bridge = useBridge()
  const [requests, setRequests] = useState<readonly RequestView[] | null>(null)
  useEffect(
    () =>
      bridge.subscribe(
        'requests',
        {},
        {
          event: (event) =>
            setRequests((known) =>
              event.kind === 'snapshot' ? event.requests : [event.request, ...(known ?? [])].slice(0, SHOWN),
            ),
        },
      ),
    [bridge],
  )
  return requests
}
