/**
 * One conversation's bookkeeping, the same for every agent. Whatever depends on the order of the wire happens here
 * synchronously, called from the reader; only waiting is asynchronous.
 */
import { withDeadline, within } from '../../../platform/index.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Prompt } from '../../../../shared/vocabulary.ts'
import { WorkerError } from '../../errors.ts'
import type { DecidedBy, Exit, PromptResult, Refusal, ReleaseOutcome, Session } from '../../types.ts'
import { LARGE_LINE_BYTES, parseLargeLine } from '../../text/large-line.ts'
import { parseJsonLine } from '../../text/line-reader.ts'
import { AT_ONCE } from '../../worker.ts'
import { createContentChannel } from './content-channel.ts'
import { createInteractionDesk } from './interactions.ts'
import { createPermissionGate } from './permission-gate.ts'
import type { Conversation, ConversationOptions, Question, Turn, TurnEnd } from './types.ts'
import { createUpdateQueue } from './update-queue.ts'

/** Codes of a process that a signal ended, also when a shell reports it as a code. */
const SIGNALLED = new Set([129, 130, 137, 143])

interface TurnRecord extends Turn {
  settled: boolean
  cancelAsked: boolean
  refusals: Refusal[]
  refusalsTruncated: boolean
  /** The prompt's bytes were taken by the pipe. */
  written: Promise<void>
  /** Monotonic. */
  beganMs: number
  done: PromiseWithResolvers<PromptResult>
}

export function createConversation({ started, deps, product, dialect }: ConversationOptions): Conversation {
  const { worker, cfg, limits, redactor } = started
  const { clock, ids } = deps
  const log = redactor.log(deps.log.child({ workerId: cfg.workerId }))
  const updates = createUpdateQueue(clock, limits.updates)
  const channel = createContentChannel(cfg.content, redactor, updates, limits)
  const ending = Promise.withResolvers<WorkerError>()
  let opened = false
  let end: WorkerError | null = null
  let replaying = false
  let modeProven = false
  let turns = 0
  let turn: TurnRecord | null = null
  let invalidLines = 0
  let invalidInTurn = 0
  let invalidBytes = 0
  let outcome: Promise<ReleaseOutcome> | null = null

  const gate = createPermissionGate({
    cfg,
    clock,
    ids,
    log,
    limits,
    redactor,
    updates,
    refuseBecause,
    turnRefusals: () => (turn === null ? null : { add: (refusal) => addRefusal(turn, refusal) }),
    flooded: () => fail(new WorkerError('request_flood', `${product} asked for more than it listened to.`)),
  })

  const interactions = createInteractionDesk({
    port: cfg.interactions,
    ids,
    log,
    limits,
    mayAsk: () => refuseBecause({ ours: true }) === null,
    exact: redactor.exact,
  })

  function refuseBecause(question: Pick<Question, 'ours'>): DecidedBy | null {
    if (end !== null) return 'unsafe'
    if (!question.ours || replaying || turn === null || turn.settled) return 'bounds'
    if (turn.cancelAsked) return 'cancelled'
    return modeProven ? null : 'unsafe'
  }

  function addRefusal(to: TurnRecord | null, refusal: Refusal): void {
    if (to === null) return
    if (to.refusals.length < limits.refusalsPerTurn) to.refusals.push(refusal)
    else to.refusalsTruncated = true
  }

  /** The first reason wins. The turn is rejected before anything is released. */
  function finish(error: WorkerError, permissions: DecidedBy): void {
    if (end !== null) return
    end = redactor.error(error)
    channel.flush()
    gate.abortAll(permissions)
    interactions.abortAll()
    if (turn !== null && !turn.settled) {
      turn.settled = true
      turn.done.reject(end)
    }
    updates.end()
    ending.resolve(end)
  }

  function fail(error: WorkerError): void {
    if (end !== null) return
    finish(error, 'unsafe')
    outcome ??= worker.release(AT_ONCE)
  }

  function ended(exit: Exit | null): void {
    if (end !== null) return
    fail(endOf(exit))
  }

  /** W-9: what a process that went by itself amounts to. */
  function endOf(exit: Exit | null): WorkerError {
    const options = { process: worker.process, detail: exitDetail(exit) }
    const last = worker.stderrTail()
    const said = last === '' ? '' : ` It said: ${last}`
    if (!opened) return new WorkerError('agent_exited_early', `${product} ended before it was ready.${said}`, options)
    if (turn === null || turn.settled) return new WorkerError('session_ended', `${product} has ended.`, options)
    if (!modeProven) {
      return new WorkerError(
        'session_unverified',
        `${product} ended before it proved its permission mode.${said}`,
        options,
      )
    }
    const itself = exit !== null && exit.signal === null && exit.code !== null && exit.code !== 0
    return itself && !SIGNALLED.has(exit.code ?? 0)
      ? new WorkerError('worker_failed', `${product} failed in the middle of its work.${said}`, options)
      : new WorkerError('worker_lost', `${product} ended in the middle of its work.${said}`, options)
  }

  function begin(): TurnRecord {
    turns += 1
    invalidInTurn = 0
    invalidBytes = 0
    const record: TurnRecord = {
      number: turns,
      settled: false,
      cancelAsked: false,
      agentTurnId: null,
      refusals: [],
      refusalsTruncated: false,
      written: Promise.resolve(),
      beganMs: clock.monotonicMs(),
      done: Promise.withResolvers(),
    }
    record.done.promise.catch(() => undefined)
    turn = record
    return record
  }

  function settle(how: TurnEnd): void {
    const record = turn
    if (record === null || record.settled || end !== null) return
    record.settled = true
    interactions.abortAll()
    channel.flush()
    void conclude(record, how)
  }

  /** A refusal made at the last moment still counts; a decision that nobody will make does not hold the turn. */
  async function conclude(record: TurnRecord, how: TurnEnd): Promise<void> {
    await within(clock, limits.decisionDrainMs, gate.idle())
    gate.abortAll('cancelled')
    if (record.cancelAsked && dialect.afterTurn !== undefined) {
      await dialect.afterTurn(record).catch((error: unknown) => log.warn('clearing up after a turn failed', { error }))
    }
    if (turn === record) turn = null
    const result = judge(record, how)
    if (result instanceof WorkerError) record.done.reject(redactor.error(result))
    else record.done.resolve(result)
  }

  /** `cancelled` is believed only of a turn that we were asked to cancel. */
  function judge(record: TurnRecord, how: TurnEnd): PromptResult | WorkerError {
    if (how.kind === 'failed') return how.error
    const { refusals, refusalsTruncated } = record
    const result = { refusals, refusalsTruncated, usage: how.usage }
    if (how.stop !== 'cancelled' || record.cancelAsked) return { ...result, stop: how.stop }
    if (refusals.length > 0) return { ...result, stop: 'ended_by_denial' }
    return new WorkerError('turn_interrupted', `${product} stopped its turn by itself.`)
  }

  function prompt(given: Prompt, signal?: AbortSignal): Promise<PromptResult> {
    if (end !== null) return Promise.reject(end)
    if (turn !== null) return Promise.reject(new WorkerError('turn_in_flight', 'A turn is still running.'))
    if (Buffer.byteLength(given.text) > limits.promptBytes) {
      return Promise.reject(new WorkerError('prompt_too_large', 'This prompt is longer than 1 MiB.'))
    }
    if (signal?.aborted === true) return Promise.reject(new WorkerError('aborted', 'The prompt was given up.'))
    const record = begin()
    const text = turns === 1 && cfg.history !== null ? `${cfg.history}\n\n${given.text}` : given.text
    record.written = dialect.startTurn(record, { ...given, text })
    record.written.catch((error: unknown) => settle({ kind: 'failed', error: redactor.error(error) }))
    return waitFor(record.done.promise, signal)
  }

  async function cancel(signal?: AbortSignal): Promise<'sent' | 'no_turn'> {
    if (end !== null) throw end
    const record = turn
    if (record === null || record.settled) return 'no_turn'
    record.cancelAsked = true
    gate.abortAll('cancelled')
    interactions.abortAll()
    try {
      await withDeadline(clock, limits.cancelWriteMs, signal, async () => {
        await record.written
        await dialect.cancelTurn(record)
      })
    } catch (error) {
      throw cancelError(error, signal)
    }
    const grace = clock.after(limits.cancelGraceMs, () => void endShells(record))
    void record.done.promise.catch(() => undefined).finally(() => grace[Symbol.dispose]())
    return 'sent'
  }

  function cancelError(error: unknown, signal: AbortSignal | undefined): WorkerError {
    if (error instanceof AppError && error.code === 'deadline_exceeded') {
      return new WorkerError('cancel_stuck', `${product} does not listen, so its turn could not be cancelled.`)
    }
    if (signal?.aborted === true) return new WorkerError('aborted', 'The cancel was given up.')
    return redactor.error(error)
  }

  /** No signal to the agent's group reaches its shells. */
  async function endShells(record: TurnRecord): Promise<void> {
    if (record.settled || end !== null) return
    try {
      await worker.endFamily(clock.monotonicMs() - record.beganMs)
    } catch (error) {
      log.warn("a cancelled turn's shells could not be ended", { error })
    }
  }

  function invalidLine(bytes: number): void {
    invalidLines += 1
    invalidInTurn += 1
    invalidBytes += bytes
    if (invalidInTurn > limits.invalidLines || invalidBytes > limits.invalidBytes) {
      fail(new WorkerError('worker_protocol_error', `${product} sent too much that cannot be read.`))
    }
  }

  function close(options: Parameters<Session['close']>[0]): Promise<ReleaseOutcome> {
    if (outcome === null) {
      // Released first: the cancel of a running turn is written before the turn counts as over.
      outcome = worker.release(options)
      finish(new WorkerError('session_ended', 'This session was closed.', { process: worker.process }), 'cancelled')
    }
    return outcome
  }

  worker.onRelease(() => {
    if (turn !== null && !turn.settled) void dialect.cancelTurn(turn).catch(() => undefined)
  })

  return {
    limits,
    redactor,
    ended: ending.promise,
    get turn() {
      return turn === null || turn.settled ? null : turn
    },
    get closing() {
      return end !== null
    },
    content(body) {
      if (end === null) channel.write(replaying ? 0 : (turn?.number ?? turns), body, replaying)
    },
    replaying(on) {
      channel.flush()
      replaying = on
    },
    modeProven() {
      modeProven = true
    },
    permission: (question) => gate.ask(question),
    interaction: (interaction) => interactions.put(interaction),
    withdraw(wireId) {
      gate.withdraw(wireId)
      interactions.withdraw(wireId)
    },
    refused(toolCallId, tool, kind) {
      if (!replaying && end === null) gate.observed(toolCallId, tool, kind)
    },
    settle,
    invalidLine,
    unsafe(message, detail) {
      fail(new WorkerError('unsafe_mode', message, detail === undefined ? {} : { detail }))
    },
    fail,
    read(onLine) {
      const streamEnd = Promise.withResolvers<null>()
      /** What a line cannot be made sense of for, such as a value nested too deep, is no reason to end anything else. */
      const take = (value: unknown, bytes: number): void => {
        try {
          onLine(value, bytes)
        } catch (error) {
          log.warn('a line of the agent could not be handled', { error })
          invalidLine(bytes)
        }
      }
      worker.lines(
        (line) => {
          if (end !== null) return
          if (line.length < LARGE_LINE_BYTES) return take(parseJsonLine(line), line.length)
          const bytes = line.length
          return parseLargeLine(line).then((value) => {
            if (end === null) take(value, bytes)
          })
        },
        (why) => {
          if (why === 'line_too_long') {
            fail(new WorkerError('line_too_long', `${product} sent a line longer than ${limits.lineBytes} bytes.`))
          }
          streamEnd.resolve(null)
        },
      )
      // Whichever comes first waits a little for the other: the last lines, or how it ended.
      void streamEnd.promise.then(() => within(clock, limits.pipeDrainMs, worker.exited)).then(ended)
      void worker.exited.then(async (exit) => {
        await within(clock, limits.pipeDrainMs, streamEnd.promise)
        ended(exit)
      })
    },
    async open(signal, handshake) {
      try {
        const result = await withDeadline(clock, limits.handshakeMs, signal, (inner) =>
          Promise.race([handshake(inner), ending.promise.then((error) => Promise.reject(error))]),
        )
        if (end !== null) throw end
        opened = true
        return result
      } catch (error) {
        const why = openError(await whyNotTaken(error), signal)
        finish(why, 'unsafe')
        outcome ??= worker.release(AT_ONCE)
        const released = await outcome
        throw redactor.error(why).withStarted(released.kind === 'gone' ? 'ended' : 'held', worker.process)
      }
    },
    session(parts) {
      return {
        ...parts,
        process: worker.process,
        exited: worker.exited,
        prompt,
        cancel,
        close,
        updates: () => updates.iterate(),
        diagnostics: () => ({
          droppedUpdates: updates.dropped,
          invalidLines,
          contentGaps: channel.gaps,
          refusalsUnrecorded: gate.unrecorded,
          stderr: worker.stderrLines(),
        }),
      }
    },
  }

  /** What was written to a program that is leaving was not taken because it leaves: how it leaves says more. */
  async function whyNotTaken(thrown: unknown): Promise<unknown> {
    if (!(thrown instanceof WorkerError) || thrown.code !== 'session_ended') return thrown
    return (await within(clock, 2 * limits.pipeDrainMs, ending.promise)) ?? thrown
  }

  function openError(error: unknown, signal: AbortSignal): WorkerError {
    if (end !== null) return end
    if (signal.aborted) return new WorkerError('aborted', 'The start was given up.')
    if (error instanceof AppError && error.code === 'deadline_exceeded') {
      return new WorkerError('handshake_timeout', `${product} did not get ready in time.`)
    }
    if (error instanceof WorkerError) return error
    return new WorkerError('handshake_failed', `${product} could not be started.`, {
      detail: redactor.line(error instanceof Error ? error.message : ''),
    })
  }
}

function exitDetail(exit: Exit | null): string {
  if (exit === null) return 'its output ended while it lives'
  return exit.signal === null ? `exit code ${exit.code}` : `signal ${exit.signal}`
}

/** Ends the waiting, never the turn. */
function waitFor<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new WorkerError('aborted', 'The prompt was given up; its turn goes on.'))
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
