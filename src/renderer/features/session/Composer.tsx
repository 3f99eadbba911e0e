import { useId, useRef } from 'react'
import type { SessionView } from '../../../shared/bridge/index.ts'
import type { RunView } from '../../../shared/projection/index.ts'
import { strings } from '../../strings/index.ts'
import { navigate } from '../../stores/navigation.ts'
import { Button, ErrorNote } from '../../ui/index.ts'
import { AttachButton, DraftInputs, useFileDrop, useUploads } from '../attachments/index.ts'
import { PromptField } from './PromptField.tsx'
import { QueuedDraft } from './QueuedDraft.tsx'
import { RuntimePickers } from './RuntimePickers.tsx'
import { useBlocked } from './useBlocked.ts'
import { useDraft } from './useDraft.ts'
import { isEmpty, usePrompt } from './usePrompt.ts'
import type { StopRun } from './useStopRun.ts'
import styles from './Composer.module.css'

export interface ComposerProps {
  session: SessionView
  newestRun: RunView | null
  stopRun: StopRun
  /** One more press of Esc stops the run. */
  escapePressed: boolean
}

/** Where a person says what to do next. While a run is under way, what is sent is queued behind it. */
export function Composer({ session, newestRun, stopRun, escapePressed }: ComposerProps) {
  const hintId = useId()
  const field = useRef<HTMLTextAreaElement>(null)
  const { draft, box } = useDraft(session)
  const prompt = usePrompt(session, draft, box)
  const uploads = useUploads(session.id, draft.inputIds.length, prompt.attach)
  const over = useFileDrop(uploads.add)
  const uploading = uploads.pending.some(({ error }) => error === null)
  const send = (): void => {
    if (!uploading) prompt.send()
  }
  const { stop, stopping, error: stopError, refused } = stopRun
  const blocked = useBlocked(session)
  const active = session.activeRun !== null
  const run = active && newestRun?.runId === session.activeRun?.runId ? newestRun : null
  const waitsFor = run?.state === 'queued' ? strings.session.waitsInLine : (run?.startWaitsFor ?? null)
  const hint = over
    ? strings.attachments.drop
    : (blocked?.text ?? (escapePressed ? strings.session.escAgain : active ? strings.session.queueHint : null))
  return (
    <form
      className={styles.composer}
      data-drop={over ? '' : undefined}
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      {waitsFor !== null && (
        <p className={styles.waits} role="status">
          {waitsFor}
          <Button pending={stopping} onClick={stop}>
            {strings.session.cancelStart}
          </Button>
        </p>
      )}
      {draft.queued ? (
        <QueuedDraft
          sessionId={session.id}
          text={draft.text}
          inputIds={draft.inputIds}
          active={active}
          pending={prompt.pending}
          onEdit={() => {
            prompt.unqueue()
            requestAnimationFrame(() => field.current?.focus())
          }}
          onDiscard={prompt.discard}
          onSend={prompt.sendQueued}
        />
      ) : (
        <>
          <DraftInputs sessionId={session.id} inputIds={draft.inputIds} uploads={uploads} onRemove={prompt.detach} />
          <PromptField
            sessionId={session.id}
            text={draft.text}
            placeholder={active ? strings.session.placeholderQueue : strings.session.placeholder}
            describedBy={hint === null ? undefined : hintId}
            fieldRef={field}
            onType={prompt.type}
            onSend={send}
            onFiles={uploads.add}
          />
        </>
      )}
      {prompt.error !== null && <ErrorNote error={prompt.error} onRetry={prompt.send} />}
      {stopError !== null && <ErrorNote error={stopError} onRetry={stop} />}
      {refused !== null && active && (
        <p className={styles.waits} role="status">
          {refused}
          <Button tone="quiet" onClick={() => navigate({ kind: 'health' })}>
            {strings.session.openHealth}
          </Button>
        </p>
      )}
      <div className={styles.bar}>
        {!draft.queued && <AttachButton onFiles={uploads.add} />}
        <RuntimePickers session={session} />
        <p id={hintId} className={styles.hint} data-kind={blocked === null ? undefined : 'blocked'}>
          {hint}
          {blocked?.kind === 'held' && (
            <Button tone="quiet" onClick={() => navigate({ kind: 'health' })}>
              {strings.session.openHealth}
            </Button>
          )}
        </p>
        {active && (
          <Button pending={stopping} onClick={stop}>
            {stopping ? strings.session.stopping : strings.session.stop}
          </Button>
        )}
        {!draft.queued && (
          <Button
            type="submit"
            tone="primary"
            pending={prompt.pending}
            disabled={blocked !== null || isEmpty(draft) || uploading}
            {...(hint === null ? {} : { 'aria-describedby': hintId })}
          >
            {strings.session.send}
          </Button>
        )}
      </div>
    </form>
  )
}
