import type { ScheduleView, TopicEvent } from '../../../shared/bridge/index.ts'
import type { scheduleProcedures } from '../../../shared/bridge/schedules.ts'
import { AppError } from '../../../shared/errors.ts'
import type { RunState } from '../../../shared/vocabulary.ts'
import type { SessionRuntimes } from '../../executor/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import type { Schedule, Schedules } from '../../schedules/index.ts'
import { compact } from '../compact.ts'
import type { HandlersOf } from '../types.ts'

export interface ScheduleHandlerDeps {
  runtime: Pick<Runtime, 'runs'>
  runtimes: Pick<SessionRuntimes, 'labelOf'>
  schedules: Schedules
}

export function scheduleHandlers(deps: ScheduleHandlerDeps): HandlersOf<typeof scheduleProcedures> {
  const { schedules } = deps
  return {
    'schedules.list': () => schedulesEvent(deps),
    'schedules.create': async (input) => scheduleView(deps, await schedules.create(compact(input))),
    'schedules.update': async ({ id, expectedRev, change }) =>
      scheduleView(deps, await schedules.update(id, expectedRev, compact(change))),
    'schedules.delete': async ({ id }) => ({ deleted: await schedules.delete(id) }),
    'schedules.run': ({ id }, { signal }) => schedules.run(id, signal),
    'schedules.times': ({ cron, timeZone }) => schedules.times(cron, timeZone),
  }
}

export function schedulesEvent(deps: ScheduleHandlerDeps): TopicEvent<'schedules'> {
  const { schedules } = deps
  return {
    schedules: schedules.all().map((schedule) => scheduleView(deps, schedule)),
    executing: schedules.executing(),
  }
}

function scheduleView({ runtime, runtimes }: ScheduleHandlerDeps, schedule: Schedule): ScheduleView {
  const { agentId, choice, deliverTo, last } = schedule
  return {
    ...schedule,
    deliverTo: [...deliverTo],
    choiceLabel: choice === null ? null : runtimes.labelOf(agentId, choice),
    last: last === null ? null : { ...last, runState: last.runId === null ? null : stateOf(runtime, last.runId) },
  }
}

/** Null: the run is not kept any more. */
function stateOf(runtime: Pick<Runtime, 'runs'>, runId: string): RunState | null {
  try {
    return runtime.runs.get(runId).state
  } catch (error) {
    if (error instanceof AppError && error.code === 'run_not_found') return null
    throw error
  }
}
