import type { Asides } from './asides/asides.ts'
import type { RuntimeContext } from './context.ts'
import type { DeliverySystem } from './deliveries/deliveries.ts'
import type { DecisionService } from './decisions/service.ts'
import type { Watch } from './events/watch.ts'
import type { RunRegistry } from './execution/active.ts'
import { within } from '../platform/index.ts'
import type { Housekeeping } from './housekeeping/timer.ts'
import type { Coordinator } from './recovery/coordinator.ts'

const COORDINATOR_MS = 2_000
const FLUSH_MS = 1_000
/** Of the time that runs get: what is left belongs to taking their agents away. */
const ASKING_SHARE = 0.6
const CHECKPOINT_SQL = 'wal_checkpoint(TRUNCATE)'

export interface ShutDownDeps {
  ctx: RuntimeContext
  registry: RunRegistry
  coordinator: Coordinator
  decisions: DecisionService
  watch: Watch
  housekeeping: Housekeeping
  asides: Pick<Asides, 'ended'>
  deliveries: Pick<DeliverySystem, 'stop'>
}

/**
 * Admissions are refused already. Every wait is bounded; what could not be written stays as it is, without a lease, so that
 * the next start recovers it at once.
 */
export async function shutDown({
  ctx,
  registry,
  coordinator,
  decisions,
  watch,
  housekeeping,
  asides,
  deliveries,
}: ShutDownDeps): Promise<void> {
  const { clock, log, store, keeper, writer, hub, timing } = ctx
  await within(clock, COORDINATOR_MS, Promise.all([coordinator.stop(), housekeeping.stop(), deliveries.stop()]))

  const runs = registry.all()
  for (const run of runs) {
    // What goes on elsewhere is taken up again by the next start.
    if (run.isRemote()) run.detach()
    else run.end({ kind: 'shutdown', graceMs: timing.stopRunsMs * ASKING_SHARE })
  }
  const ended = Promise.all([asides.ended(), ...runs.map(({ gone }) => gone)])
  await within(clock, timing.stopRunsMs, ended)

  await within(clock, FLUSH_MS, writer.flush())
  decisions.stop()
  watch.stop()
  writer.stop()
  hub.stopAll()
  for (const lease of keeper.all()) await within(clock, FLUSH_MS, keeper.release(lease))
  keeper.stop()
  try {
    store.db.pragma(CHECKPOINT_SQL)
  } catch (error) {
    log.warn('The write-ahead log could not be folded in.', { error })
  }
}
