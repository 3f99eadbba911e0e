import { strings } from '../../strings/index.ts'
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
      <header className={styles.sectionHead}>
        <h1 id="health-heading">{strings.health.heading}</h1>
        <ExportDiagnostics />
      </header>
      <Workers />
      <Ownership />
      <Checks />
      <Agents />
      <LogTail />
    </section>
  )
}
