import { useState } from 'react'
import { strings } from '../../strings/index.ts'
import { ConfirmDialog, Switch } from '../../ui/index.ts'
import { SwitchRow } from './Row.tsx'
import { useSetting } from './useSetting.ts'
import styles from './settings.module.css'

/** Offers the mode that asks for nothing: never without saying what that means. */
export function OsMode() {
  const setting = useSetting('osModeEnabled')
  const [asking, setAsking] = useState(false)
  const { settings } = strings
  return (
    <SwitchRow setting={setting}>
      <Switch
        label={settings.label('osModeEnabled')}
        description={setting.about}
        checked={setting.value}
        onChange={(enabled) => (enabled ? setAsking(true) : setting.set(false))}
      />
      <p className={styles.warning}>{settings.osWarning}</p>
      <ConfirmDialog
        open={asking}
        title={settings.osConfirmTitle}
        description={settings.osWarning}
        confirm={settings.osConfirm}
        cancel={settings.cancel}
        onConfirm={() => {
          setAsking(false)
          setting.set(true)
        }}
        onClose={() => setAsking(false)}
      />
    </SwitchRow>
  )
}
