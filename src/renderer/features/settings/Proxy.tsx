import { useState } from 'react'
import { strings } from '../../strings/index.ts'
import { Select } from '../../ui/index.ts'
import { Saved } from './controls.tsx'
import { Row } from './Row.tsx'
import { mayBe, useSetting } from './useSetting.ts'

type Kind = 'none' | 'system' | 'address'

/** How requests leave this machine. */
export function Proxy() {
  const setting = useSetting('upstreamProxy')
  const [writing, setWriting] = useState(false)
  const held = setting.value
  const kind: Kind = writing || (held !== 'none' && held !== 'system') ? 'address' : held
  const { settings } = strings
  const label = settings.label('upstreamProxy')
  return (
    <Row label={label} about={setting.about} setting={setting}>
      <Select
        label={label}
        value={kind}
        items={(['none', 'system', 'address'] as const).map((value) => ({ value, label: settings.proxies[value] }))}
        onChange={(next) => {
          setWriting(next === 'address')
          if (next !== 'address') setting.set(next)
        }}
      />
      {kind === 'address' && (
        <Saved
          key={held}
          wide
          label={settings.proxyAddress}
          held={held === 'none' || held === 'system' ? '' : held}
          pending={setting.pending}
          description={settings.proxyHint}
          wrong={(text) => (/^https?:\/\//.test(text) && mayBe('upstreamProxy', text) ? null : settings.notAProxy)}
          onSave={(address) => {
            setWriting(false)
            setting.set(address)
          }}
        />
      )}
    </Row>
  )
}
