import { strings } from '../../strings/index.ts'
import { View } from '../../ui/index.ts'
import { TrustedFolders } from '../trust/index.ts'
import { History } from './History.tsx'
import { Rules } from './Rules.tsx'

export interface PermissionsViewProps {
  /** The rule to show first. */
  ruleId: string | null
  /** Whose history is shown; null: that of all sessions. */
  sessionId: string | null
}

export function PermissionsView({ ruleId, sessionId }: PermissionsViewProps) {
  return (
    <View title={strings.permissions.heading}>
      <Rules wanted={ruleId} />
      <TrustedFolders />
      <History key={sessionId} sessionId={sessionId} />
    </View>
  )
}
