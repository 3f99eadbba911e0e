import type { Bridge } from '../../shared/bridge/client.ts'
import { AppError } from '../../shared/errors.ts'
import { readEvent } from '../../shared/events.ts'
import type { EventData, SessionEvent } from '../../shared/events.ts'
import type { Answer, RunState } from '../../shared/vocabulary.ts'
import { EXIT } from './exit-codes.ts'
import type { Command } from './index.ts'
import { askOnTerminal } from './ask.ts'
import { printError } from './print.ts'
import { createProgress } from './progress.ts'
import { chooseRuntime, readRunOptions } from './run-options.ts'
import type { RunOptions } from './run-options.ts'

/** One session, one prompt, to its end. */
export const run: Command = (args) => {
  const options = readRunOptions(args)
  return ({ bridge }, interrupted) => runSession(bridge, options, interrupted)
}

async function runSession(bridge: Bridge, options: RunOptions, interrupted: AbortSignal): Promise<number> {
  const choice = await chooseRuntime(bridge, options)
  const session = await bridge.call('sessions.create', {
    agentId: options.agentId,
    workDir: options.dir,
    mode: options.mode,
    ...(choice === null ? {} : { choice }),
  })
  const progress = createProgress(options)
  const ended = Promise.withResolvers<{ state: RunState; denied: boolean }>()
  let runId: string | null = null
  let denied = false
  const asking = new Map<string, AbortController>()

  const onEvent = (event: SessionEvent): void => {
    progress.event(event)
    const typed = readEvent(event)
    if (typed === null) return
    if (typed.type === 'decision_requested') {
      const settled = new AbortController()
      asking.set(typed.data.decisionId, settled)
      void decide(bridge, options, typed.data, AbortSignal.any([settled.signal, interrupted])).catch(
        (error: unknown) => {
          // Somebody else was faster, the agent took it back, or the run is being stopped: the log says so.
          if (!settled.signal.aborted && !interrupted.aborted) printError(error)
        },
      )
    }
    if (typed.type === 'decision_resolved') {
      asking.get(typed.data.decisionId)?.abort()
      asking.delete(typed.data.decisionId)
      if (isRefusal(typed.data.answer, typed.data.by.via)) denied = true
    }
    if (typed.type === 'run_finished' || typed.type === 'run_recovered')
      ended.resolve({ state: typed.data.state, denied })
  }
  const unsubscribe = bridge.subscribe(
    'session.events',
    { sessionId: session.id },
    {
      after: 0,
      event: onEvent,
      ended: (_reason, error) => ended.reject(error ?? new AppError('host_unreachable', 'The host went away.')),
    },
  )

  // A connection that is gone for good brings no further event.
  const forgetStatus = bridge.onStatus((status) => status.kind === 'refused' && ended.reject(status.error))
  ended.promise.catch(() => undefined)

  const interrupt = (): void => {
    if (runId === null) return
    process.stderr.write('Stopping the run. Press Ctrl-C again to leave at once.\n')
    bridge.call('runs.stop', { sessionId: session.id, expectedRunId: runId }).catch(printError)
  }
  interrupted.addEventListener('abort', interrupt, { once: true })
  try {
    if (interrupted.aborted) return EXIT.interrupted
    const receipt = await bridge.call('runs.submit', { sessionId: session.id, text: options.prompt })
    runId = receipt.runId
    if (interrupted.aborted) interrupt()
    const end = await ended.promise
    progress.end(end.state)
    if (interrupted.aborted) return EXIT.interrupted
    if (end.denied) return EXIT.denied
    return end.state === 'completed' ? 0 : 1
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

async function decide(
  bridge: Bridge,
  options: RunOptions,
  asked: EventData<'decision_requested'>,
  settled: AbortSignal,
): Promise<void> {
  const answer = await answerFor(bridge, options, asked, settled)
  await bridge.call('decisions.resolve', { decisionId: asked.decisionId, answer })
}

async function answerFor(
  bridge: Bridge,
  options: RunOptions,
  asked: EventData<'decision_requested'>,
  settled: AbortSignal,
): Promise<Answer> {
  switch (options.approve) {
    case 'all':
      return { option: 'allow_once' }
    case 'once':
      return asked.risk === 'high' || !asked.complete
        ? { option: 'reject_once', reason: 'High risk is not allowed on this command line.' }
        : { option: 'allow_once' }
    case 'deny':
      return { option: 'reject_once' }
    case 'ask':
      return askOnTerminal(asked, () => wholeAction(bridge, asked), settled)
    default:
      return options.approve satisfies never
  }
}

/** Nobody is asked to allow what they cannot read whole. Null: the event holds all of it. */
async function wholeAction(bridge: Bridge, asked: EventData<'decision_requested'>): Promise<string | null> {
  if (asked.wholeBytes === undefined) return null
  const pages: string[] = []
  for (let offset: number | null = 0; offset !== null;) {
    const page: { text: string; next: number | null } = await bridge.call('decisions.preview', {
      decisionId: asked.decisionId,
      offset,
    })
    pages.push(page.text)
    offset = page.next
  }
  return pages.join('')
}
