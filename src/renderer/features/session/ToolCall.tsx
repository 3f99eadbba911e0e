import { memo, useId, useState } from 'react'
import type { ToolItem } from '../../../shared/projection/index.ts'
import { strings } from '../../strings/index.ts'
import { viewHash } from '../../stores/navigation.ts'
import { duration, PathText, relativeTo, Revealed, shortenMiddle } from '../../text/index.ts'
import { StateMark } from '../../ui/index.ts'
import type { MarkState } from '../../ui/index.ts'
import { ToolContentView } from './ToolContentView.tsx'
import styles from './ToolCall.module.css'

const SHOWN_PATHS = 3
const TITLE_CHARS = 160
const MARKS: Readonly<Record<ToolItem['status'], MarkState>> = {
  pending: 'starting',
  in_progress: 'running',
  completed: 'completed',
  failed: 'failed',
  declined: 'held',
}
/** What a person wants to see without asking: changes and commands. */
const OPEN_KINDS: ReadonlySet<ToolItem['tool']> = new Set(['edit', 'delete', 'move', 'execute'])

/** From the question to its answer, in Unix ms. */
export interface Wait {
  fromMs: number
  toMs: number
}

export interface ToolCallProps {
  tool: ToolItem
  /** When its approvals, which stand beside it, waited for an answer; none: it was not asked about. */
  waits: readonly Wait[]
  workDir: string
}

/** One tool call: what it did, to what, how it went and how long it took. */
export const ToolCall = memo(function ToolCall({ tool, waits, workDir }: ToolCallProps) {
  const [chosen, setChosen] = useState<boolean | null>(null)
  const open = chosen ?? opensBySelf(tool, waits.length > 0)
  const bodyId = useId()
  const { toolKinds, toolStates } = strings.session
  const kind = toolKinds[tool.tool]
  const title = tool.title === '' ? (tool.name ?? '') : tool.title
  const paths = tool.paths.filter((path) => path !== workDir && !title.includes(relativeTo(path, workDir)))
  const hasBody = tool.content.length > 0 || tool.allowedBy !== null || tool.title.length > TITLE_CHARS
  return (
    <section className={styles.tool} data-status={tool.status} aria-label={`${kind}: ${title}`}>
      <div className={styles.head}>
        <StateMark state={MARKS[tool.status]} label={toolStates[tool.status]} />
        <button
          type="button"
          className={styles.toggle}
          aria-expanded={hasBody ? open : undefined}
          aria-controls={hasBody && open ? bodyId : undefined}
          disabled={!hasBody}
          onClick={() => setChosen(!open)}
        >
          {!title.toLowerCase().startsWith(kind.toLowerCase()) && <span className={styles.kind}>{kind}</span>}
          <span className={styles.title} data-mono={tool.tool === 'execute' ? '' : undefined}>
            <Revealed text={shortenMiddle(title, TITLE_CHARS)} />
          </span>
        </button>
        <span className={styles.paths}>
          {paths.slice(0, SHOWN_PATHS).map((path) => (
            <PathText key={path} path={path} within={workDir} max={48} />
          ))}
          {paths.length > SHOWN_PATHS && <span>{strings.session.morePaths(paths.length - SHOWN_PATHS)}</span>}
        </span>
        <span className={styles.word} data-status={tool.status}>
          {tool.status === 'completed' ? null : toolStates[tool.status]}
        </span>
        <span className={styles.time}>
          {tool.finishedAt === null ? null : duration(ownMs(tool.startedAt, tool.finishedAt, waits))}
        </span>
      </div>
      {open && hasBody && (
        <div id={bodyId} className={styles.body}>
          {tool.title.length > TITLE_CHARS && (
            <pre className={styles.whole}>
              <Revealed text={tool.title} />
            </pre>
          )}
          {tool.allowedBy !== null && (
            <p className={styles.allowed}>
              {tool.allowedBy.ruleId === null ? (
                strings.session.allowedBy(tool.allowedBy.reason)
              ) : (
                <a href={viewHash({ kind: 'permissions', ruleId: tool.allowedBy.ruleId })}>
                  {strings.session.allowedByRule}
                </a>
              )}
            </p>
          )}
          {tool.content.map((content, index) => (
            // oxlint-disable-next-line react/no-array-index-key -- contents of a call come as one whole, in order
            <ToolContentView key={index} content={content} workDir={workDir} />
          ))}
        </div>
      )}
    </section>
  )
})

function opensBySelf(tool: ToolItem, asked: boolean): boolean {
  if (tool.status === 'failed') return true
  const newsBeyondApproval = tool.content.some((content) => content.type === 'output')
  return tool.status !== 'pending' && OPEN_KINDS.has(tool.tool) && (!asked || newsBeyondApproval)
}

/** What the tool itself took: a person's time to answer is none of it. */
function ownMs(startedAt: number, finishedAt: number, waits: readonly Wait[]): number {
  const waited = waits.map(({ fromMs, toMs }) => Math.min(toMs, finishedAt) - Math.max(fromMs, startedAt))
  return waited.reduce((ms, each) => ms - Math.max(0, each), finishedAt - startedAt)
}
