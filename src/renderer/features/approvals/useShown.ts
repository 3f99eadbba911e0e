import { useState } from 'react'
import type { DecisionView } from '../../../shared/bridge/index.ts'
import { useTopic } from '../../stores/app-stores.tsx'

export interface ShownApprovals {
  loaded: boolean
  /** Oldest first: what is pending, and what others settled while this view stood open. */
  shown: readonly DecisionView[]
  pendingCount: number
  /** Newest first: settled since this window opened, and no longer among the shown. */
  recent: readonly DecisionView[]
  /** Answered here: it may leave the list. */
  release: (decisionId: string) => void
}

const MAX_RECENT = 20

/** A card that somebody else settles stays where it is and says so; one that was answered here leaves the list. */
export function useShown(): ShownApprovals {
  const loaded = useTopic('decisions', (state) => state.loaded)
  const { pending, settled } = useTopic('decisions', (state) => state.value)
  /** What was settled before the view was opened, or was answered here. */
  const [released, setReleased] = useState<ReadonlySet<string>>(() => new Set(settled.keys()))

  // What policy answered by itself never waited for anybody.
  const all = [...settled.values()].filter((decision) => decision.by?.via !== 'policy')
  const stays = ({ decisionId }: DecisionView): boolean => !released.has(decisionId)
  return {
    loaded,
    shown: [...pending, ...all.filter(stays)].sort((a, b) => a.createdAt - b.createdAt),
    pendingCount: pending.length,
    recent: all
      .filter((decision) => !stays(decision))
      .sort((a, b) => (b.settledAt ?? 0) - (a.settledAt ?? 0))
      .slice(0, MAX_RECENT),
    release: (decisionId) => setReleased((ids) => new Set(ids).add(decisionId)),
  }
}
