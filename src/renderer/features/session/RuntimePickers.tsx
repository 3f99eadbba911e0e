import { useState } from 'react'
import type { SessionView } from '../../../shared/bridge/index.ts'
import type { Effort, Mode, RuntimeChoice } from '../../../shared/vocabulary.ts'
import { useCall } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { ConfirmDialog, ErrorNote, Select } from '../../ui/index.ts'
import { useLedNote } from '../gateway/index.ts'
import { choiceItems, effortItems, keyOf } from './runtime-items.ts'
import { useSetConfig } from './useSetConfig.ts'
import styles from './Composer.module.css'

/** The model and the mode of the session's next prompt. */
export function RuntimePickers({ session }: { session: SessionView }) {
  const led = useLedNote(session.agentId)
  const config = useCall('sessions.config.get', { sessionId: session.id })
  const { set, pending, error, needsStrip, dropStrip } = useSetConfig(session.id)
  const [asked, setAsked] = useState<RuntimeChoice | null>(null)
  if (config.error !== null) return <ErrorNote error={config.error} onRetry={() => void config.refetch()} />
  if (config.data === undefined) return <div className={styles.pickers} />
  const { rev, mode, choice, sandbox } = config.data
  const running = session.activeRun !== null
  const efforts = effortItems(config.data, running)
  const change = (next: RuntimeChoice): void => {
    setAsked(next)
    set({ expectedRev: rev, choice: next })
  }
  return (
    <div className={styles.pickers}>
      <Select<Mode>
        label={strings.session.mode}
        tone="quiet"
        value={mode.value}
        items={mode.options.map((option) => ({
          value: option.value,
          label: strings.newSession.modes[option.value],
          note: option.why ?? strings.newSession.modeNotes[option.value],
          disabled: !option.available,
        }))}
        disabled={pending}
        onChange={(value) => value !== mode.value && set({ expectedRev: rev, mode: value })}
      />
      <Select
        label={strings.session.model}
        tone="quiet"
        value={keyOf(choice)}
        items={choiceItems(config.data, session, led)}
        disabled={pending}
        onChange={(key) => {
          const next = config.data.choices.find((offer) => keyOf(offer.choice) === key)
          if (next === undefined || key === keyOf(choice)) return
          // The effort stays where the new model has it.
          change({ ...next.choice, effort: next.efforts.includes(choice.effort) ? choice.effort : 'default' })
        }}
      />
      {efforts.length > 1 && (
        <Select<Effort>
          label={strings.session.effort}
          tone="quiet"
          value={choice.effort}
          items={efforts}
          disabled={pending}
          onChange={(effort) => effort !== choice.effort && change({ ...choice, effort })}
        />
      )}
      {sandbox !== undefined && (sandbox.available || sandbox.value) && (
        <Select<'open' | 'kept'>
          label={strings.newSession.confinement}
          tone="quiet"
          value={sandbox.value ? 'kept' : 'open'}
          items={(['open', 'kept'] as const).map((value) => ({
            value,
            label: strings.newSession.confinements[value],
            ...(value === 'kept' && sandbox.why !== null ? { note: sandbox.why } : {}),
          }))}
          disabled={pending}
          onChange={(value) =>
            (value === 'kept') !== sandbox.value && set({ expectedRev: rev, sandbox: value === 'kept' })
          }
        />
      )}
      {error !== null && !needsStrip && <ErrorNote error={error} />}
      <ConfirmDialog
        open={needsStrip}
        title={strings.session.stripTitle}
        description={strings.session.stripText(running)}
        confirm={strings.session.stripConfirm}
        cancel={strings.session.cancel}
        pending={pending}
        onConfirm={() => {
          if (asked !== null) set({ expectedRev: rev, choice: asked, allowHistoryStrip: true })
        }}
        onClose={dropStrip}
      />
    </div>
  )
}
