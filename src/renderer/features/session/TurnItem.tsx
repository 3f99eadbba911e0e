import { memo } from 'react'
import { assertNever } from '../../../shared/errors.ts'
import type { TranscriptItem } from '../../../shared/projection/index.ts'
import { Markdown } from '../../content/index.ts'
import { strings } from '../../strings/index.ts'
import { Revealed } from '../../text/index.ts'
import { ApprovalCard } from '../approvals/index.ts'
import { Thought } from './Thought.tsx'
import { ToolCall } from './ToolCall.tsx'
import type { Wait } from './ToolCall.tsx'
import styles from './Turn.module.css'

export interface TurnItemProps {
  item: TranscriptItem
  /** When approvals of this tool call waited for their answer; none: it was not asked about. */
  waits: readonly Wait[]
  workDir: string
}

/** One thing that happened in a turn. Items that did not change are not drawn again. */
export const TurnItem = memo(function TurnItem({ item, waits, workDir }: TurnItemProps) {
  switch (item.kind) {
    case 'text':
      return (
        <div className={styles.message} dir="auto">
          <Markdown text={item.text} />
        </div>
      )
    case 'thought':
      return <Thought text={item.text} />
    case 'tool':
      return <ToolCall tool={item} waits={waits} workDir={workDir} />
    case 'decision':
      return <ApprovalCard decision={item.decision} workDir={workDir} folds />
    case 'steer':
      return (
        <div className={styles.prompt}>
          <h3 className={styles.promptHead}>{strings.session.steered}</h3>
          <p className={styles.promptText}>
            <Revealed text={item.text} />
          </p>
        </div>
      )
    case 'notice':
      return (
        <p className={styles.notice} data-level={item.level}>
          <Revealed text={item.message} />
        </p>
      )
    default:
      return assertNever(item)
  }
})
