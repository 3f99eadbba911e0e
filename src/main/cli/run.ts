import type { Bridge } from '../../shared/bridge/client.ts'
import type { EventData, TypedEvent } from '../../shared/events.ts'
import type { Answer } from '../../shared/vocabulary.ts'
import { answerOnTerminal, askOnTerminal } from './ask.ts'
import { followRun } from './follow.ts'
import type { Command } from './index.ts'
import { printError } from './print.ts'
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
    sandbox: options.sandbox,
    ...(choice === null ? {} : { choice }),
  })
  const asking = new Map<string, AbortController>()
  const event = (typed: TypedEvent): void => {
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
    }
  }
  const start = async (): Promise<string> =>
    (
      await bridge.call('runs.submit', {
        sessionId: session.id,
        text: options.prompt,
        ...(options.failover ? {} : { failover: 'off' }),
      })
    ).runId
  return followRun(bridge, { sessionId: session.id, after: 0, json: options.json, start, event }, interrupted)
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
  const { action } = asked
  if (action.kind === 'question') {
    return options.approve === 'ask' ? answerOnTerminal(action.form, settled) : { option: 'reject_once' }
  }
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
