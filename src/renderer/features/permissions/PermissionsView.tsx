import { strings } from '../../strings/index.ts'
import { ViewHead } from '../../ui/index.ts'
import { TrustedFolders } from '../trust/index.ts'
import { History } from './History.tsx'
import { Rules } from './Rules.tsx'
import styles from './permissions.module.css'

export interface PermissionsViewProps {
  /** The rule to show first. */
  ruleId: string | null
  /** Whose history is shown; null: that of all sessions. */
  sessionId: string | null
}

export function PermissionsView({ ruleId, sessionId }: PermissionsViewProps) {
  return (
    <section className={styles.view} aria-labelledby="permissions-heading">
      <ViewHead id="permissions-heading" title={strings.permissions.heading} />
      <Rules wanted={ruleId} />
      <TrustedFolders />
      <History key={sessionId} sessionId={sessionId} />
    </section>
  )
}
