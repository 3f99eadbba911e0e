import type { RunView, TranscriptItem } from '../../../shared/projection/index.ts'
import { TurnItem } from './TurnItem.tsx'
import { useDeferred } from './useDeferred.ts'
import styles from './Turn.module.css'

/** So many steps come and go together. */
const GROUP_ITEMS = 20
const GUESS_ITEM_PX = 36

export interface TurnItemsProps {
  run: RunView
  /** Index of the first item that is shown. */
  from: number
  workDir: string
}

/** The steps of a turn, in groups of which those far from sight are not drawn. */
export function TurnItems({ run, from, workDir }: TurnItemsProps) {
  const { items } = run
  const asked = new Set(items.flatMap((item) => (item.kind === 'decision' ? [item.decision.toolCallId] : [])))
  const groups: { at: number; items: readonly TranscriptItem[] }[] = []
  for (let at = from; at < items.length;) {
    // Groups keep their place in the turn, whatever is shown of it and however it grows.
    const end = (Math.floor(at / GROUP_ITEMS) + 1) * GROUP_ITEMS
    groups.push({ at: end, items: items.slice(at, end) })
    at = end
  }
  return groups.map((group, index) => (
    <Group key={group.at} items={group.items} asked={asked} workDir={workDir} newest={index >= groups.length - 2} />
  ))
}

interface GroupProps {
  items: readonly TranscriptItem[]
  asked: ReadonlySet<string>
  workDir: string
  newest: boolean
}

function Group({ items, asked, workDir, newest }: GroupProps) {
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
            asked={item.kind === 'tool' && asked.has(item.toolCallId)}
            workDir={workDir}
          />
        ))}
    </div>
  )
}
