import { assertNever } from '../../shared/errors.ts'
import { ApprovalsView } from '../features/approvals/index.ts'
import { DeliveriesView } from '../features/deliveries/index.ts'
import { GatewayView } from '../features/gateway/index.ts'
import { HealthView } from '../features/health/index.ts'
import { NewSession } from '../features/new-session/index.ts'
import { PermissionsView } from '../features/permissions/index.ts'
import { ProvidersView } from '../features/providers/index.ts'
import { SchedulesView } from '../features/schedules/index.ts'
import { SessionPane } from '../features/session/index.ts'
import { SettingsView } from '../features/settings/index.ts'
import { UsageView } from '../features/usage/index.ts'
import type { View } from '../stores/navigation.ts'
import { Home } from './Home.tsx'

/** What the main pane shows for each view of the address. */
export function MainView({ view }: { view: View }) {
  switch (view.kind) {
    case 'home':
      return <Home />
    case 'session':
      return <SessionPane key={view.sessionId} sessionId={view.sessionId} turnId={view.turnId ?? null} />
    case 'new':
      return <NewSession />
    case 'approvals':
      return <ApprovalsView />
    case 'permissions':
      return <PermissionsView ruleId={view.ruleId ?? null} sessionId={view.sessionId ?? null} />
    case 'schedules':
      return <SchedulesView />
    case 'deliveries':
      return <DeliveriesView />
    case 'providers':
      return <ProvidersView />
    case 'gateway':
      return <GatewayView />
    case 'usage':
      return <UsageView />
    case 'health':
      return <HealthView />
    case 'settings':
      return <SettingsView />
    default:
      return assertNever(view)
  }
}
