import type { Bridge } from '../../shared/bridge/client.ts'
import { AppError } from '../../shared/errors.ts'
import { readEvent } from '../../shared/events.ts'
import type { SessionEvent, TypedEvent } from '../../shared/events.ts'
import type { Answer, RunState } from '../../shared/vocabulary.ts'
import { EXIT } from './exit-codes.ts'
import { printError, tell } from './print.ts'
import { createProgress } from './progress.ts'

export interface FollowOptions {
  sessionId: string
  /** Events up to this sequence are known already. */
  after: number
  json: boolean
  /** Submits the run, once its events are followed; answers its id. */
  start(): Promise<string>
  event?(event: TypedEvent): void
}

/** One run to its end, on the terminal. An interrupt stops it in order. Answers the exit code. */
export async function followRun(bridge: Bridge, options: FollowOptions, interrupted: AbortSignal): Promise<number> {
  const { sessionId, after } = options
  const progress = createProgress(options)
  const ended = Promise.withResolvers<{ state: RunState; denied: boolean }>()
  let runId: string | null = null
  let denied = false
  /** Not to answer one is no denial. */
  const questions = new Set<string>()

  const onEvent = (event: SessionEvent): void => {
    progress.event(event)
    const typed = readEvent(event)
    if (typed === null) return
    options.event?.(typed)
    if (typed.type === 'decision_requested' && typed.data.kind === 'question') questions.add(typed.data.decisionId)
    if (typed.type === 'decision_resolved' && !questions.has(typed.data.decisionId)) {
      denied ||= isRefusal(typed.data.answer, typed.data.by.via)
    }
    if (typed.type === 'run_finished' || typed.type === 'run_recovered')
      ended.resolve({ state: typed.data.state, denied })
  }
  const unsubscribe = bridge.subscribe(
    'session.events',
    { sessionId },
    {
      after,
      event: onEvent,
      ended: (_reason, error) => ended.reject(error ?? new AppError('host_unreachable', 'The host went away.')),
    },
  )

  // A connection that is gone for good brings no further event.
  const forgetStatus = bridge.onStatus((status) => status.kind === 'refused' && ended.reject(status.error))
  ended.promise.catch(() => undefined)

  const interrupt = (): void => {
    if (runId === null) return
    tell('Stopping the run. Press Ctrl-C again to leave at once.\n')
    bridge.call('runs.stop', { sessionId, expectedRunId: runId }).catch(printError)
  }
  interrupted.addEventListener('abort', interrupt, { once: true })
  try {
    if (interrupted.aborted) return EXIT.interrupted
    runId = await options.start()
    if (interrupted.aborted) interrupt()
    const end = await ended.promise
    progress.end(end.state)
    if (interrupted.aborted) return EXIT.interrupted
    if (end.denied) return EXIT.denied
    return end.state === 'completed' ? EXIT.ok : EXIT.failed
  } finally {
    unsubscribe()
    forgetStatus()
    interrupted.removeEventListener('abort', interrupt)
  }
}

/** A reject of anyone's, the policy included, is what exit code 3 tells. */
function isRefusal(answer: Answer | null, via: string): boolean {
  if (answer === null || !('option' in answer)) return false
  return (answer.option === 'reject_once' || answer.option === 'reject_session') && via !== 'recovery'
}
