import { useInfiniteQuery } from '@tanstack/react-query'
import type { ProcedureOutput } from '../../../shared/bridge/index.ts'
import type { AppError } from '../../../shared/errors.ts'
import { useBridge } from '../../bridge/index.ts'

type Page = ProcedureOutput<'fs.folders'>

/** The folders below `path` (null: home), page after page. */
export function useFolderPages(path: string | null, hidden: boolean) {
  const bridge = useBridge()
  const pages = useInfiniteQuery<Page, AppError, { pages: Page[] }, readonly unknown[], string | null>({
    queryKey: ['fs.folders', { path, hidden }],
    initialPageParam: null,
    queryFn: ({ pageParam, signal }) =>
      bridge.call('fs.folders', { path, hidden, ...(pageParam === null ? {} : { after: pageParam }) }, signal),
    getNextPageParam: (page) => page.next,
    // What is on the disk changes without a word to anyone.
    staleTime: 0,
  })
  return {
    page: pages.data?.pages[0] ?? null,
    folders: pages.data?.pages.flatMap((page) => page.folders) ?? [],
    next: pages.data?.pages.at(-1)?.next ?? null,
    loading: pages.isFetching,
    error: pages.error,
    more: () => void pages.fetchNextPage(),
    refresh: () => void pages.refetch(),
  }
}
