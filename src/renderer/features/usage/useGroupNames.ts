import { useCallback } from 'react'
import { useTopic } from '../../stores/app-stores.tsx'
import { strings } from '../../strings/index.ts'
import { revealText } from '../../text/index.ts'
import type { UsageGroup } from './UsageTable.tsx'

/** What a person calls the group of a key: a title, a Provider's name, else the key itself. */
export function useGroupNames(by: UsageGroup): (key: string) => string {
  const sessions = useTopic('sessions', (state) => state.value)
  const catalog = useTopic('providers', (state) => state.value)
  return useCallback(
    (key) => {
      const { usage } = strings
      if (by === 'session') return key === '' ? usage.gateway : (sessions.get(key)?.title ?? usage.goneSession)
      if (by === 'connection') return catalog?.connections.find(({ id }) => id === key)?.name ?? usage.goneConnection
      // A model's name is the Provider's own word.
      return key.trim() === '' ? usage.unknown : revealText(key)
    },
    [by, sessions, catalog],
  )
}
