import { assertNever } from '../../../shared/errors.ts'
import type { ToolContent } from '../../../shared/vocabulary.ts'
import { CommandOutput, Diff } from '../../content/index.ts'
import { strings } from '../../strings/index.ts'
import { byteSize, Revealed } from '../../text/index.ts'
import styles from './ToolCall.module.css'

export function ToolContentView({ content, workDir }: { content: ToolContent; workDir: string }) {
  switch (content.type) {
    case 'text':
      return content.text.trim() === '' ? null : <CommandOutput text={content.text} />
    case 'diff':
      return <Diff path={content.path} oldText={content.oldText} newText={content.newText} within={workDir} />
    case 'output':
      return (
        <>
          {content.text.trim() !== '' && <CommandOutput text={content.text} />}
          {content.exitCode !== null && content.exitCode !== 0 && (
            <p className={styles.exit} data-failed="">
              {strings.session.exitCode(content.exitCode)}
            </p>
          )}
        </>
      )
    case 'blob':
      return (
        <p className={styles.exit}>
          <Revealed text={strings.session.blob(content.mediaType, byteSize(content.bytes))} />
        </p>
      )
    default:
      return assertNever(content)
  }
}
