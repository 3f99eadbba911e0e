/** Every string of the interface, in one typed catalogue: plain words, or functions of what they name. */
import { agents } from './agents.ts'
import { app } from './app.ts'
import { approvals } from './approvals.ts'
import { attachments } from './attachments.ts'
import { content } from './content.ts'
import { deliveries } from './deliveries.ts'
import { desktop } from '../../shared/strings/desktop.ts'
import { errors } from './errors.ts'
import { firstRun } from './first-run.ts'
import { folders } from './folders.ts'
import { gateway } from './gateway.ts'
import { health } from './health.ts'
import { lists } from './lists.ts'
import { mcp } from './mcp.ts'
import { newSession } from './new-session.ts'
import { permissions } from './permissions.ts'
import { ownAgents } from './own-agents.ts'
import { providers } from './providers.ts'
import { schedules } from './schedules.ts'
import { session } from './session.ts'
import { sessions } from './sessions.ts'
import { settings } from './settings.ts'
import { trust } from './trust.ts'
import { usage } from './usage.ts'

export const strings = {
  agents,
  app,
  approvals,
  attachments,
  content,
  deliveries,
  /** What the desktop says outside of its windows; its own process reads it from the same place. */
  desktop,
  errors,
  firstRun,
  folders,
  gateway,
  health,
  lists,
  mcp,
  newSession,
  permissions,
  ownAgents,
  providers,
  schedules,
  session,
  sessions,
  settings,
  trust,
  usage,
} as const
