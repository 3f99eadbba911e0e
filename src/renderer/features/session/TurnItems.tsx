import type { RunView, TranscriptItem } from '../../../shared/projection/index.ts'
import type { Wait } from './ToolCall.tsx'
import { TurnItem } from './TurnItem.tsx'
import { useDeferred } from './useDeferred.ts'
import styles from './Turn.module.css'

/** So many steps come and go together. */
const GROUP_ITEMS = 20
const GUESS_ITEM_PX = 36
const NEVER_ASKED: readonly Wait[] = []

export interface TurnItemsProps {
  run: RunView
  /** Index of the first item that is shown. */
  from: number
  workDir: string
}

/** The steps of a turn, in groups of which those far from sight are not drawn. */
export function TurnItems({ run, from, workDir }: TurnItemsProps) {
  const { items } = run
  const waits = waitsOf(items)
  const groups: { at: number; items: readonly TranscriptItem[] }[] = []
  for (let at = from; at < items.length;) {
    // Groups keep their place in the turn, whatever is shown of it and however it grows.
    const end = (Math.floor(at / GROUP_ITEMS) + 1) * GROUP_ITEMS
    groups.push({ at: end, items: items.slice(at, end) })
    at = end
  }
  return groups.map((group, index) => (
    <Group key={group.at} items={group.items} waits={waits} workDir={workDir} newest={index >= groups.length - 2} />
  ))
}

interface GroupProps {
  items: readonly TranscriptItem[]
  waits: ReadonlyMap<string, readonly Wait[]>
  workDir: string
  newest: boolean
}

function Group({ items, waits, workDir, newest }: GroupProps) {
  const keep = items.some((item) => item.kind === 'decision' && item.decision.status === 'pending')
  const { ref, drawn, blockSize } = useDeferred<HTMLDivElement>({
    initially: newest,
    keep,
    guessPx: items.length * GUESS_ITEM_PX,
  })
  return (
    <div ref={ref} className={styles.items} style={{ blockSize }}>
      {drawn &&
        items.map((item) => (
          <TurnItem
            key={`${item.kind}:${item.seq}`}
            item={item}
            waits={(item.kind === 'tool' ? waits.get(item.toolCallId) : undefined) ?? NEVER_ASKED}
            workDir={workDir}
          />
        ))}
    </div>
  )
}

/** When each tool call that was asked about waited for its answer. */
function waitsOf(items: readonly TranscriptItem[]): ReadonlyMap<string, readonly Wait[]> {
  const waits = new Map<string, Wait[]>()
  for (const item of items) {
    if (item.kind !== 'decision') continue
    const { toolCallId, createdAt, settledAt } = item.decision
    const known = waits.get(toolCallId) ?? []
    waits.set(toolCallId, [...known, { fromMs: createdAt, toMs: settledAt ?? createdAt }])
  }
  return waits
}
