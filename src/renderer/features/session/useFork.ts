import { useState } from 'react'
import { useChange } from '../../bridge/index.ts'
import { navigate } from '../../stores/navigation.ts'

/** A second session that goes on from a turn's end, or from the last; it is opened at once. */
export function useFork(sessionId: string) {
  const change = useChange('sessions.fork')
  /** An answer that got lost is asked for again by the same id: there is one fork. */
  const [requestId, setRequestId] = useState(() => crypto.randomUUID())
  return {
    pending: change.isPending,
    error: change.error,
    fork: (atRun?: string) =>
      change.mutate(
        {
          sessionId,
          requestId: atRun === undefined ? requestId : `${requestId}:${atRun}`,
          ...(atRun === undefined ? {} : { atRun }),
        },
        {
          onSuccess: ({ id }) => {
            setRequestId(crypto.randomUUID())
            navigate({ kind: 'session', sessionId: id })
          },
        },
      ),
  }
}
