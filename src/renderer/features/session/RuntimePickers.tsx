import { useState } from 'react'
import type { ConfigView, SessionView } from '../../../shared/bridge/index.ts'
import type { Mode, RuntimeChoice } from '../../../shared/vocabulary.ts'
import { useCall } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { ConfirmDialog, ErrorNote, Select } from '../../ui/index.ts'
import type { SelectItem } from '../../ui/index.ts'
import { useSetConfig } from './useSetConfig.ts'
import styles from './Composer.module.css'

/** The model and the mode of the session's next prompt. */
export function RuntimePickers({ session }: { session: SessionView }) {
  const config = useCall('sessions.config.get', { sessionId: session.id })
  const { set, pending, error, needsStrip, dropStrip } = useSetConfig(session.id)
  const [asked, setAsked] = useState<RuntimeChoice | null>(null)
  if (config.error !== null) return <ErrorNote error={config.error} onRetry={() => void config.refetch()} />
  if (config.data === undefined) return <div className={styles.pickers} />
  const { rev, mode, choice } = config.data
  const items = choiceItems(config.data, session.choiceLabel)
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
        items={items}
        disabled={pending}
        onChange={(key) => {
          const next = config.data.choices.find((option) => keyOf(option.choice) === key)?.choice
          if (next === undefined || key === keyOf(choice)) return
          setAsked(next)
          set({ expectedRev: rev, choice: next })
        }}
      />
      {error !== null && !needsStrip && <ErrorNote error={error} />}
      <ConfirmDialog
        open={needsStrip}
        title={strings.session.stripTitle}
        description={strings.session.stripText}
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

const keyOf = ({ connectionId, modelId }: RuntimeChoice): string => JSON.stringify([connectionId, modelId])

/** Every choice, and the present one even if it is no longer offered. */
function choiceItems(config: ConfigView, label: string): readonly SelectItem<string>[] {
  const items = config.choices.map(({ choice, label, ready }) => ({
    value: keyOf(choice),
    label,
    ...(ready ? {} : { note: strings.session.notReady, disabled: true }),
  }))
  const present = keyOf(config.choice)
  return items.some((item) => item.value === present) ? items : [{ value: present, label }, ...items]
}
