import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { ProcedureOutput, SearchHit, SessionView } from '../../../shared/bridge/index.ts'
import type { AppError } from '../../../shared/errors.ts'
import { useBridge, useBridgeStatus } from '../../bridge/index.ts'

/** Typing on within this time asks the host once. */
const SETTLED_MS = 150
const MIN_CHARS = 2
const MAX_CHARS = 200
const PAGE = 50
const NOTHING: { sessions: readonly SessionView[]; hits: readonly SearchHit[] } = { sessions: [], hits: [] }

export interface TranscriptSearch {
  /** Sessions whose title fits, also such as the list is too long for. */
  sessions: readonly SessionView[]
  /** What was said, newest first. */
  hits: readonly SearchHit[]
  searching: boolean
  error: AppError | null
  /** Null: these are all. */
  more: (() => void) | null
}

/** Looks through titles and transcripts of all sessions while a person types. */
export function useTranscriptSearch(typed: string): TranscriptSearch {
  const bridge = useBridge()
  const open = useBridgeStatus().kind === 'open'
  const text = useSettled(typed.trim().slice(0, MAX_CHARS))
  const enabled = open && text.length >= MIN_CHARS
  const { data, error, isFetching, hasNextPage, fetchNextPage } = useInfiniteQuery<
    ProcedureOutput<'sessions.search'>,
    AppError,
    { pages: ProcedureOutput<'sessions.search'>[] },
    readonly unknown[],
    number | undefined
  >({
    queryKey: ['sessions.search', { text }],
    queryFn: ({ pageParam, signal }) =>
      bridge.call(
        'sessions.search',
        { text, limit: PAGE, ...(pageParam === undefined ? {} : { before: pageParam }) },
        signal,
      ),
    initialPageParam: undefined,
    getNextPageParam: (last) => last.next ?? undefined,
    enabled,
    // What is said next may hold the words too.
    staleTime: 0,
    placeholderData: keepPreviousData,
  })
  if (!enabled || data === undefined) return { ...NOTHING, searching: enabled && isFetching, error, more: null }
  return {
    sessions: data.pages[0]?.sessions ?? [],
    hits: data.pages.flatMap((page) => page.hits),
    searching: isFetching,
    error,
    more: hasNextPage ? () => void fetchNextPage() : null,
  }
}

/** The value, once it has not changed for a moment; an empty one counts at once. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), value === '' ? 0 : SETTLED_MS)
    return () => clearTimeout(timer)
  }, [value])
  return value === '' ? '' : settled
}
