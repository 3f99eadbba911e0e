import { useState } from 'react'
import type { ErrorInfo } from '../../../shared/events.ts'
import type { RunView } from '../../../shared/projection/index.ts'
import { useChange } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { navigate } from '../../stores/navigation.ts'
import { Revealed } from '../../text/index.ts'
import { Button, ErrorNote } from '../../ui/index.ts'
import { remedyOf } from './remedy.ts'
import styles from './Turn.module.css'

/** After these nobody knows what a second try would find. */
const CHANGED: ReadonlySet<ErrorInfo['sideEffectState']> = new Set(['mutating', 'unknown'])

export interface RunErrorProps {
  run: RunView
  error: ErrorInfo
  newest: boolean
}

/** Why the turn did not complete, what to do about it, and the code in small print. */
export function RunError({ run, error, newest }: RunErrorProps) {
  const [copied, setCopied] = useState(false)
  const remedy = remedyOf(error.code)
  const details = detailsOf(error)
  return (
    <div className={styles.error} role="group" aria-label={strings.session.runStates[run.state]} data-state={run.state}>
      <p>
        <Revealed text={error.message} />
      </p>
      {remedy !== null && <p>{remedy.text}</p>}
      <div className={styles.actions}>
        {newest && error.retryMode !== 'none' && <RetryRun run={run} error={error} />}
        {remedy !== null && remedy.view !== null && (
          <Button onClick={() => navigate({ kind: remedy.view })}>{remedy.label}</Button>
        )}
        <code>
          <Revealed text={details} />
        </code>
        <Button
          tone="quiet"
          onClick={() =>
            void navigator.clipboard
              .writeText(`${error.message}\n${details}\nrun ${run.runId}`)
              .then(() => setCopied(true))
          }
        >
          {copied ? strings.session.copied : strings.session.copyDetails}
        </Button>
      </div>
    </div>
  )
}

function RetryRun({ run, error }: { run: RunView; error: ErrorInfo }) {
  const retry = useChange('runs.retry')
  const [key] = useState(() => crypto.randomUUID())
  const risky = error.retryMode === 'decision_required' || CHANGED.has(error.sideEffectState)
  return (
    <>
      <Button
        pending={retry.isPending}
        onClick={() => retry.mutate({ runId: run.runId, key, acknowledgeSideEffects: risky })}
      >
        {risky ? strings.session.retryRisky : strings.session.retry}
      </Button>
      {risky && <span>{strings.session.retryRiskyHint}</span>}
      {retry.error !== null && <ErrorNote error={retry.error} />}
    </>
  )
}

/** The small print: the code, and what the sentence above it does not say already. */
function detailsOf({ code, message, detail, requestId }: ErrorInfo): string {
  const more = detail?.replace(message, '').replace(/^[\s:.;,-]+/, '')
  return [code, more, requestId].filter((part) => part !== undefined && part !== '').join(': ')
}
