import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useBridgeStatus } from '../bridge/index.ts'
import { useStores } from '../stores/app-stores.tsx'

/** Topics are what makes an answer old: each of them lets go of the queries that it touches. */
export function useFreshQueries(): void {
  const queries = useQueryClient()
  const { sessions, providers, settings } = useStores()
  const status = useBridgeStatus()
  const generation = status.kind === 'open' ? status.hello.generation : null

  useEffect(() => {
    if (generation !== null) void queries.invalidateQueries()
  }, [queries, generation])

  useEffect(() => {
    const forget = (...names: string[]): void => {
      for (const name of names) void queries.invalidateQueries({ queryKey: [name] })
    }
    const unsubscribe = [
      sessions.subscribe((state, before) => {
        if (state.value.size !== before.value.size) forget('projects.recent', 'system.info')
        for (const session of state.value.values()) {
          const old = before.value.get(session.id)
          if (old === session || old === undefined) continue
          if (old.archivedAt !== session.archivedAt) forget('sessions.list')
          const isOtherRun = old.activeRun?.runId !== session.activeRun?.runId
          if (old.state !== session.state || isOtherRun) forget('sessions.ownership')
          // When another model would count, and what it would cost the history, change with each run too.
          if (old.configRev !== session.configRev || isOtherRun) {
            void queries.invalidateQueries({ queryKey: ['sessions.config.get', { sessionId: session.id }] })
          }
        }
      }),
      providers.subscribe(() => forget('sessions.config.get', 'system.info', 'system.health')),
      settings.subscribe(() => forget('settings.get', 'system.info', 'sessions.config.get')),
    ]
    return () => {
      for (const stop of unsubscribe) stop()
    }
  }, [queries, sessions, providers, settings])
}
