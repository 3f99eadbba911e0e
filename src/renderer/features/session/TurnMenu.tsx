import type { RunView } from '../../../shared/projection/index.ts'
import { isTerminal } from '../../../shared/vocabulary.ts'
import { strings } from '../../strings/index.ts'
import { ErrorNote, Menu } from '../../ui/index.ts'
import { useFork } from './useFork.ts'

/** What can be done with one turn. */
export function TurnMenu({ sessionId, run }: { sessionId: string; run: RunView }) {
  const { fork, pending, error } = useFork(sessionId)
  const answer = run.items.flatMap((item) => (item.kind === 'text' ? [item.text] : [])).join('\n\n')
  const { session } = strings
  return (
    <>
      {error !== null && <ErrorNote error={error} />}
      <Menu
        label={session.turnMenu}
        trigger={
          <svg viewBox="0 0 16 16" width="14" height="14" fill="currentColor" aria-hidden="true">
            <circle cx="3" cy="8" r="1.1" />
            <circle cx="8" cy="8" r="1.1" />
            <circle cx="13" cy="8" r="1.1" />
          </svg>
        }
        actions={[
          { label: session.copyPrompt, onSelect: () => void navigator.clipboard.writeText(run.prompt) },
          {
            label: session.copyAnswer,
            disabled: answer === '',
            onSelect: () => void navigator.clipboard.writeText(answer),
          },
          {
            label: session.forkHere,
            // A fork ends with an answer: there has to be one.
            disabled: pending || answer === '' || !isTerminal(run.state),
            onSelect: () => fork(run.runId),
          },
        ]}
      />
    </>
  )
}
