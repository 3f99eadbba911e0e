import { strings } from '../../strings/index.ts'
import { View } from '../../ui/index.ts'
import { Agents } from './Agents.tsx'
import { Checks } from './Checks.tsx'
import { ExportDiagnostics } from './ExportDiagnostics.tsx'
import { LogTail } from './LogTail.tsx'
import { Ownership } from './Ownership.tsx'
import { Workers } from './Workers.tsx'

export function HealthView() {
  return (
    <View title={strings.health.heading} action={<ExportDiagnostics />}>
      <Workers />
      <Ownership />
      <Checks />
      <Agents />
      <LogTail />
    </View>
  )
}
