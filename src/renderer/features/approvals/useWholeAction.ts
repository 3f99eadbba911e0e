import { useInfiniteQuery } from '@tanstack/react-query'
import type { AppError } from '../../../shared/errors.ts'
import type { DecisionAction } from '../../../shared/vocabulary.ts'
import { useBridge } from '../../bridge/index.ts'
import { mayBeShortened } from './card.ts'
import type { CardDecision } from './card.ts'

/** A longer change is read as text, part after part: comparing it would hold up the window. */
const MAX_DIFF_CHARS = 512 * 1024

/** The whole action, as far as it was read. */
export interface WholeAction {
  /** `text`: what was read so far of an action that is too long for its card. */
  shown: { kind: 'action'; action: DecisionAction } | { kind: 'text'; text: string }
  /** Every byte of it is on the card. */
  complete: boolean
  loading: boolean
  error: AppError | null
  /** UTF-16 units read, and bytes in all; null where the card held the whole from the start. */
  progress: { shown: number; bytes: number } | null
  readOn: () => void
}

/** Pages in what the host left out of a pending decision's card. */
export function useWholeAction(decision: CardDecision): WholeAction {
  const bridge = useBridge()
  const { decisionId, action } = decision
  const paged = decision.status === 'pending' && mayBeShortened(action)
  const { data, error, isFetching, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['decisions.preview', { decisionId }],
    queryFn: ({ pageParam, signal }) => bridge.call('decisions.preview', { decisionId, offset: pageParam }, signal),
    initialPageParam: 0,
    getNextPageParam: (last) => last.next ?? undefined,
    enabled: paged,
  })
  if (!paged) {
    return { shown: { kind: 'action', action }, complete: true, loading: false, error: null, progress: null, readOn }
  }
  function readOn(): void {
    if (!isFetching) void fetchNextPage()
  }
  const text = (data?.pages ?? []).map((page) => page.text).join('')
  const bytes = data?.pages[0]?.bytes ?? 0
  const complete = data !== undefined && !hasNextPage
  const whole = complete ? wholeAction(action, text) : null
  return {
    shown: whole === null ? { kind: 'text', text } : { kind: 'action', action: whole },
    complete,
    loading: isFetching,
    // Queries of the bridge throw nothing else.
    error: error as AppError | null,
    progress: { shown: text.length, bytes },
    readOn,
  }
}

/** The action again, where its text can be read in one way alone; null: it is shown as text. */
export function wholeAction(action: DecisionAction, text: string): DecisionAction | null {
  if (action.kind === 'command') return { ...action, command: text }
  if (action.kind === 'mcp') return { ...action, input: text }
  if (action.kind !== 'edit') return { kind: 'other', text }
  const [change, ...others] = action.changes
  if (change === undefined || others.length > 0 || text.length > MAX_DIFF_CHARS) return null
  const head = `${change.path}\n--- before\n`
  const middle = '\n+++ after\n'
  const at = text.indexOf(middle)
  if (!text.startsWith(head) || !text.endsWith('\n') || at !== text.lastIndexOf(middle)) return null
  const oldText = text.slice(head.length, at)
  const newText = text.slice(at + middle.length, -1)
  return {
    kind: 'edit',
    changes: [
      {
        path: change.path,
        oldText: change.oldText === null ? null : oldText,
        newText: change.newText === null ? null : newText,
      },
    ],
  }
}
