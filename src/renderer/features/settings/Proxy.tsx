import { useState } from 'react'
import { strings } from '../../strings/index.ts'
import { Select } from '../../ui/index.ts'
import { Saved } from './controls.tsx'
import { Row } from './Row.tsx'
import { mayBe, useSetting } from './useSetting.ts'
import styles from './settings.module.css'

type Kind = 'none' | 'system' | 'address'

/** How requests to Providers leave this machine. */
export function Proxy() {
  const setting = useSetting('upstreamProxy')
  const { settings } = strings
  const label = settings.label('upstreamProxy')
  const held: Kind = setting.value === 'none' || setting.value === 'system' ? setting.value : 'address'
  // An address is only a choice once there is one.
  const [picked, setPicked] = useState<Kind | null>(null)
  const kind = picked ?? held
  return (
    <Row label={label} about={setting.about} setting={setting}>
      <Select<Kind>
        label={label}
        value={kind}
        items={(['none', 'system', 'address'] as const).map((value) => ({ value, label: settings.proxies[value] }))}
        onChange={(next) => {
          setPicked(next === 'address' ? next : null)
          if (next !== 'address') setting.set(next)
        }}
      />
      {kind === 'address' && (
        <Saved
          key={setting.value}
          wide
          label={settings.proxyAddress}
          held={held === 'address' ? setting.value : ''}
          pending={setting.pending}
          placeholder={settings.proxyHint}
          wrong={(text) =>
            text.trim().includes('://') && mayBe('upstreamProxy', text.trim()) ? null : settings.notAProxy
          }
          onSave={(address) => setting.set(address)}
        />
      )}
      {kind !== 'none' && <p className={styles.about}>{settings.proxyNote}</p>}
    </Row>
  )
}
