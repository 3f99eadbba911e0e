import { useEffect, useRef, useState } from 'react'
import { useBridgeStatus } from '../bridge/index.ts'

/**
 * True once the host serves another interface than this page: it was updated while the tab stood open. The page names its
 * scripts by their content, so that the same page is the same interface. In the desktop app both end together.
 */
export function useStaleInterface(): boolean {
  const status = useBridgeStatus()
  const generation = status.kind === 'open' ? status.hello.generation : null
  const mine = useRef<string | null>(null)
  const [stale, setStale] = useState(false)
  useEffect(() => {
    if (generation === null || !window.location.protocol.startsWith('http')) return undefined
    const abort = new AbortController()
    void servedPage(abort.signal).then((page) => {
      if (page === null || abort.signal.aborted) return
      mine.current ??= page
      setStale(page !== mine.current)
    })
    return () => abort.abort()
  }, [generation])
  return stale
}

/** Null: the host did not say; the next connection asks again. */
async function servedPage(signal: AbortSignal): Promise<string | null> {
  try {
    const reply = await fetch('/', { cache: 'no-store', signal })
    return reply.ok ? await reply.text() : null
  } catch {
    return null
  }
}
