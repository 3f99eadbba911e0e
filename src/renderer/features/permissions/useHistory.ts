import { keepPreviousData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { DecisionView, ProcedureInput, ProcedureOutput } from '../../../shared/bridge/index.ts'
import type { AppError } from '../../../shared/errors.ts'
import { useBridge, useBridgeStatus } from '../../bridge/index.ts'
import { useStores } from '../../stores/app-stores.tsx'

const PAGE = 50

export type HistoryQuery = Omit<ProcedureInput<'decisions.history'>, 'before' | 'limit'>

export interface HistoryPages {
  decisions: readonly DecisionView[]
  loaded: boolean
  pending: boolean
  error: AppError | null
  again: () => void
  /** Null: these are all. */
  more: (() => void) | null
}

/** How questions were answered, newest first; it follows what is asked and answered meanwhile. */
export function useHistory(query: HistoryQuery): HistoryPages {
  const bridge = useBridge()
  const queries = useQueryClient()
  const { decisions } = useStores()
  const open = useBridgeStatus().kind === 'open'
  useEffect(
    () => decisions.subscribe(() => void queries.invalidateQueries({ queryKey: ['decisions.history'] })),
    [decisions, queries],
  )
  const { data, error, isFetching, hasNextPage, fetchNextPage, refetch } = useInfiniteQuery<
    ProcedureOutput<'decisions.history'>,
    AppError,
    { pages: ProcedureOutput<'decisions.history'>[] },
    readonly unknown[],
    string | undefined
  >({
    queryKey: ['decisions.history', query],
    queryFn: ({ pageParam, signal }) =>
      bridge.call(
        'decisions.history',
        { ...query, limit: PAGE, ...(pageParam === undefined ? {} : { before: pageParam }) },
        signal,
      ),
    initialPageParam: undefined,
    getNextPageParam: (last) => last.next ?? undefined,
    enabled: open,
    placeholderData: keepPreviousData,
  })
  return {
    decisions: data?.pages.flatMap((page) => page.decisions) ?? [],
    loaded: data !== undefined,
    pending: isFetching,
    error,
    again: () => void refetch(),
    more: hasNextPage ? () => void fetchNextPage() : null,
  }
}
