import { useEffect } from 'react'
import { useCall } from '../bridge/index.ts'
import { FirstRun } from '../features/first-run/index.ts'
import { strings } from '../strings/index.ts'
import { useTopic } from '../stores/app-stores.tsx'
import { navigate, viewHash } from '../stores/navigation.ts'
import { Button, EmptyState } from '../ui/index.ts'

/** The first steps on a fresh machine; else the newest session; else the one next step. */
export function Home() {
  const info = useCall('system.info', {})
  const loaded = useTopic('sessions', (state) => state.loaded)
  const newest = useTopic('sessions', ({ value }) => {
    let found: { id: string; updatedAt: number } | null = null
    for (const { id, updatedAt, archivedAt } of value.values()) {
      if (archivedAt === null && (found === null || updatedAt > found.updatedAt)) found = { id, updatedAt }
    }
    return found?.id ?? null
  })
  const firstRun = info.data?.firstRun ?? null
  useEffect(() => {
    if (firstRun !== false || newest === null) return
    // Replaced, so that the back button does not lead here and forward again.
    window.location.replace(viewHash({ kind: 'session', sessionId: newest }))
  }, [firstRun, newest])

  if (firstRun === null || !loaded) return null
  if (firstRun) return <FirstRun />
  if (newest !== null) return null
  return (
    <EmptyState
      title={strings.app.nothingOpen}
      action={
        <Button tone="primary" shortcut="N" onClick={() => navigate({ kind: 'new' })}>
          {strings.app.startSession}
        </Button>
      }
    >
      {strings.app.nothingOpenHint}
    </EmptyState>
  )
}
