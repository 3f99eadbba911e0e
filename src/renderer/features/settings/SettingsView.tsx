import { useId } from 'react'
import type { ReactNode } from 'react'
import { useTopic } from '../../stores/app-stores.tsx'
import { Places } from '../deliveries/index.ts'
import { useView } from '../../stores/navigation.ts'
import { strings } from '../../strings/index.ts'
import { McpServers } from '../mcp/index.ts'
import { View } from '../../ui/index.ts'
import { Choice, OnOff, WholeNumber } from './controls.tsx'
import { DoNotDisturb } from './DoNotDisturb.tsx'
import { OsMode } from './OsMode.tsx'
import { Proxy } from './Proxy.tsx'
import { Row } from './Row.tsx'
import styles from './settings.module.css'

/** It keeps its own trouble to itself. */
const UNSAVED = { error: null, frail: false }

/** Every setting, saved as soon as it is changed. */
export function SettingsView() {
  const loaded = useTopic('settings', (state) => state.loaded)
  const view = useView()
  const part = view.kind === 'settings' ? view.part : undefined
  const { settings } = strings
  return (
    <View title={settings.heading}>
      {loaded && (
        <>
          <Section title={settings.sections.appearance}>
            <Choice of="theme" labels={settings.themes} />
          </Section>
          <Section title={settings.sections.agents}>
            <Choice of="defaultMode" labels={settings.modes} />
            <OsMode />
            <WholeNumber of="runsAtOnce" unit={settings.runs} min={1} max={32} />
            <WholeNumber of="unattendedAnswerMinutes" unit={settings.minutes} min={1} max={1_440} />
            <Row label={strings.mcp.heading} about={strings.mcp.about} setting={UNSAVED} wanted={part === 'mcp'}>
              <McpServers />
            </Row>
          </Section>
          <Section title={settings.sections.attention}>
            <OnOff of="notifications" />
            <DoNotDisturb />
            <OnOff of="keepInTray" />
          </Section>
          <Section title={strings.deliveries.places}>
            <Places />
          </Section>
          <Section title={settings.sections.network}>
            <WholeNumber of="requestBodyCapMiB" unit={settings.mib} min={1} max={128} />
            <WholeNumber of="gatewayPort" unit={settings.port} min={1_024} max={65_535} />
            <OnOff of="keepTakeoverOnQuit" />
            <OnOff of="requestInspector" />
            <Proxy />
            <WholeNumber of="webPort" unit={settings.port} min={1_024} max={65_535} empty={settings.portEmpty} />
          </Section>
        </>
      )}
    </View>
  )
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  const id = useId()
  return (
    <section className={styles.section} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  )
}
