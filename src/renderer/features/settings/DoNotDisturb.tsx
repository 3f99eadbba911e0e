import { strings } from '../../strings/index.ts'
import { Switch } from '../../ui/index.ts'
import { Saved } from './controls.tsx'
import { SwitchRow } from './Row.tsx'
import { mayBe, useSetting } from './useSetting.ts'
import styles from './settings.module.css'

const AT_FIRST = { from: '22:00', to: '07:00' }

/** Hours without notifications. */
export function DoNotDisturb() {
  const setting = useSetting('doNotDisturb')
  const hours = setting.value
  const { settings } = strings
  const wrong = (text: string): string | null =>
    mayBe('doNotDisturb', { ...AT_FIRST, from: text.trim() }) ? null : settings.notATime
  return (
    <SwitchRow setting={setting}>
      <Switch
        label={settings.label('doNotDisturb')}
        description={setting.about}
        checked={hours !== null}
        onChange={(on) => setting.set(on ? AT_FIRST : null)}
      />
      {hours !== null && (
        <div className={styles.hours}>
          {(['from', 'to'] as const).map((end) => (
            <div key={end} className={styles.hour}>
              <span aria-hidden="true">{settings[end]}</span>
              <Saved
                key={hours[end]}
                label={`${settings.label('doNotDisturb')}: ${settings[end]}`}
                held={hours[end]}
                pending={setting.pending}
                placeholder={settings.timeHint}
                wrong={wrong}
                onSave={(time) => setting.set({ ...hours, [end]: time })}
              />
            </div>
          ))}
        </div>
      )}
    </SwitchRow>
  )
}
