import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { AppError, isErrorCode } from '../../../shared/errors.ts'
import type { Mode, RuntimeChoice } from '../../../shared/vocabulary.ts'
import { useChange } from '../../bridge/index.ts'

export interface ConfigChange {
  expectedRev: number
  mode?: Mode
  /** Keeps the agent to the session's folders. */
  sandbox?: boolean
  choice?: RuntimeChoice
  allowHistoryStrip?: boolean
}

/**
 * Changes the session's mode or model. A change that would leave the agent's hidden reasoning behind is refused at first;
 * `needsStrip` asks the person, who may repeat it with `allowHistoryStrip`.
 */
export function useSetConfig(sessionId: string) {
  const queries = useQueryClient()
  const change = useChange('sessions.config.set')
  const [refused, setRefused] = useState<AppError | null>(null)
  const error = change.error ?? refused
  return {
    pending: change.isPending,
    error,
    needsStrip: error?.code === 'route_binding_incompatible' && change.variables?.allowHistoryStrip !== true,
    dropStrip: () => {
      change.reset()
      setRefused(null)
    },
    set(wanted: ConfigChange) {
      setRefused(null)
      change.mutate(
        { sessionId, ...wanted },
        {
          onSuccess: ({ effect }) => {
            if (effect.kind === 'refused') setRefused(refusal(effect.code))
          },
          // Whatever came of it, the revision is another one now.
          onSettled: () => void queries.invalidateQueries({ queryKey: ['sessions.config.get', { sessionId }] }),
        },
      )
    },
  }
}

function refusal(code: string): AppError {
  return new AppError(
    isErrorCode(code) ? code : 'config_value_invalid',
    'The session cannot change to that. It stays as it was.',
  )
}
