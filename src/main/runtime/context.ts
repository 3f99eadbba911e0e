import type { Platform } from '../platform/types.ts'
import type { CapabilityOf } from './deliveries/terminal.ts'
import type { ChangeBus, EventHub } from './events/hub.ts'
import type { EventWriter } from './events/writer.ts'
import type { LeaseKeeper } from './leases/keeper.ts'
import type { Tables } from './store/index.ts'
import type { RuntimeTiming } from './timing.ts'
import type { EndWork, Executor } from './types.ts'

/** What the parts of the runtime share. */
export interface RuntimeContext extends Platform {
  tables: Tables
  keeper: LeaseKeeper
  hub: EventHub
  changes: ChangeBus
  writer: EventWriter
  timing: RuntimeTiming
  executor: Executor
  endWork: EndWork | null
  capabilityOf: CapabilityOf
}
