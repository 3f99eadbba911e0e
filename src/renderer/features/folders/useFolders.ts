import { useInfiniteQuery } from '@tanstack/react-query'
import type { AppError } from '../../../shared/errors.ts'
import { useBridge } from '../../bridge/index.ts'

/** The folders inside of one, page by page. `path: null` is the home folder. */
export function useFolders(path: string | null, hidden: boolean) {
  const bridge = useBridge()
  const query = useInfiniteQuery({
    queryKey: ['fs.folders', { path, hidden }],
    queryFn: ({ pageParam, signal }) =>
      bridge.call('fs.folders', { path, hidden, ...(pageParam === null ? {} : { after: pageParam }) }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next ?? undefined,
    // What is on a disk changes without a word.
    staleTime: 0,
  })
  const first = query.data?.pages[0]
  return {
    path: first?.path ?? null,
    parent: first?.parent ?? null,
    folders: query.data?.pages.flatMap((page) => page.folders) ?? null,
    // Queries of the bridge throw nothing else.
    error: query.error as AppError | null,
    hasMore: query.hasNextPage,
    loadingMore: query.isFetchingNextPage,
    loadMore: () => void query.fetchNextPage(),
    refresh: () => void query.refetch(),
  }
}
