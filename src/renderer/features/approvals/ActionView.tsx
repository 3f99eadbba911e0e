import { formText } from '../../../shared/questions.ts'
import { Diff } from '../../content/index.ts'
import type { DecisionAction } from '../../../shared/vocabulary.ts'
import { Revealed } from '../../text/index.ts'
import styles from './card.module.css'

/** The action itself, to the letter; nothing of it hides. */
export function ActionView({ action, workDir }: { action: DecisionAction; workDir: string | null }) {
  switch (action.kind) {
    case 'command':
      return <Exact text={action.command} />
    case 'edit':
      return (
        <div className={styles.changes}>
          {action.changes.map((change, index) => (
            <Diff
              // oxlint-disable-next-line react/no-array-index-key -- one file may be changed twice in one action
              key={index}
              {...change}
              whole
              {...(workDir === null ? {} : { within: workDir })}
            />
          ))}
        </div>
      )
    case 'mcp':
      return <Exact text={action.input} />
    case 'other':
      return <Exact text={action.text} />
    case 'question':
      return <Exact text={formText(action.form)} />
    default:
      return action satisfies never
  }
}

export function Exact({ text }: { text: string }) {
  return (
    <pre className={styles.exact}>
      <Revealed text={text} />
    </pre>
  )
}
