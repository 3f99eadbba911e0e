import { useState } from 'react'
import type { SessionView } from '../../../shared/bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { PathText } from '../../text/index.ts'
import { StateMark } from '../../ui/index.ts'
import { markOf } from '../sessions/index.ts'
import { TrustFact } from '../trust/index.ts'
import { SessionMenu } from './SessionMenu.tsx'
import { SessionTitle } from './SessionTitle.tsx'
import { Unasked } from './Unasked.tsx'
import { useAgentLabel } from './useAgentLabel.ts'
import styles from './SessionHeader.module.css'

export function SessionHeader({ session }: { session: SessionView }) {
  const [renaming, setRenaming] = useState(false)
  const agent = useAgentLabel(session.agentId)
  const mark = markOf(session)
  return (
    <header className={styles.header}>
      <div className={styles.line}>
        <SessionTitle session={session} renaming={renaming} onRenaming={setRenaming} />
        {session.rehearsal && (
          <span className={styles.badge} title={strings.session.rehearsalHint}>
            {strings.session.rehearsal}
          </span>
        )}
        {session.archivedAt !== null && <span className={styles.badge}>{strings.session.archived}</span>}
        <span className={styles.state}>
          <StateMark state={mark.state} label={mark.label} showLabel />
        </span>
        <SessionMenu session={session} onRename={() => setRenaming(true)} />
      </div>
      <ul className={styles.facts}>
        <li>{agent}</li>
        <li>{session.choiceLabel}</li>
        <li>{strings.newSession.modes[session.mode]}</li>
        <li>{strings.newSession.confinements[session.sandbox === true ? 'kept' : 'open']}</li>
        <li className={styles.path}>
          <PathText path={session.workDir} max={64} />
        </li>
        {session.extraDirs.map((dir) => (
          <li key={dir} className={styles.path}>
            <PathText path={dir} max={40} />
          </li>
        ))}
        <Unasked agentId={session.agentId} />
        <TrustFact agentId={session.agentId} folder={session.workDir} />
      </ul>
    </header>
  )
}
