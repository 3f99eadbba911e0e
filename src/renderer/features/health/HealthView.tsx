import { strings } from '../../strings/index.ts'
import { ViewHead } from '../../ui/index.ts'
import { Agents } from './Agents.tsx'
import { Checks } from './Checks.tsx'
import { ExportDiagnostics } from './ExportDiagnostics.tsx'
import { LogTail } from './LogTail.tsx'
import { Ownership } from './Ownership.tsx'
import { Workers } from './Workers.tsx'
import styles from './health.module.css'

export function HealthView() {
  return (
    <section className={styles.view} aria-labelledby="health-heading">
      <ViewHead id="health-heading" title={strings.health.heading} action={<ExportDiagnostics />} />
      <Workers />
      <Ownership />
      <Checks />
      <Agents />
      <LogTail />
    </section>
  )
}
