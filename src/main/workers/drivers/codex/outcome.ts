/** How a turn went: its error as a code, and what it cost. */
import type { Usage } from '../../../../shared/vocabulary.ts'
import { WorkerError } from '../../errors.ts'
import type { Redactor } from '../../types.ts'
import type { TurnEnd } from '../shared/types.ts'
import type { Tokens, TurnFailure, TurnNote } from './wire.ts'

const CODES = new Map<string, 'usage_limit' | 'login_required'>([
  ['usageLimitExceeded', 'usage_limit'],
  ['rateLimitExceeded', 'usage_limit'],
  ['sessionBudgetExceeded', 'usage_limit'],
  ['unauthorized', 'login_required'],
])

export function turnEnd(turn: TurnNote['turn'], usage: Usage | null, redactor: Redactor): TurnEnd {
  switch (turn.status) {
    case 'completed':
      return { kind: 'stopped', stop: 'end_turn', usage }
    case 'interrupted':
      return { kind: 'stopped', stop: 'cancelled', usage }
    case 'failed':
      if (errorName(turn.error) === 'contextWindowExceeded') return { kind: 'stopped', stop: 'max_tokens', usage }
      return { kind: 'failed', error: turnError(turn.error ?? null, redactor) }
    default:
      return {
        kind: 'failed',
        error: new WorkerError('stop_unknown', 'Codex ended its turn for an unknown reason.', {
          detail: redactor.line(turn.status),
        }),
      }
  }
}

/** `data.httpStatus` holds what the model's server answered, where Codex says it. */
function turnError(failure: TurnFailure | null, redactor: Redactor): WorkerError {
  const httpStatus = httpStatusOf(failure)
  const code = CODES.get(errorName(failure) ?? '') ?? (httpStatus === 401 ? 'login_required' : 'turn_failed')
  const said = failure === null ? '' : redactor.line(failure.message)
  const message = said === '' ? 'Codex could not finish this turn.' : `Codex could not go on: ${said}`
  return new WorkerError(code, message, httpStatus === null ? {} : { data: { httpStatus } })
}

function errorName(failure: TurnFailure | null | undefined): string | null {
  const info = failure?.codexErrorInfo
  if (typeof info === 'string') return info
  return info === null || info === undefined ? null : (Object.keys(info)[0] ?? null)
}

export function httpStatusOf(failure: TurnFailure | null): number | null {
  const info = failure?.codexErrorInfo
  if (typeof info !== 'object' || info === null) return null
  const [told] = Object.values(info)
  const status = typeof told === 'object' && told !== null && 'httpStatusCode' in told ? told.httpStatusCode : null
  return typeof status === 'number' ? status : null
}

/** "Reconnecting... 2/5". */
export function retryOf(message: string): { attempt: number; maxAttempts: number } | null {
  const [, attempt, maxAttempts] = /(\d{1,4})\/(\d{1,4})\s*$/.exec(message) ?? []
  return attempt === undefined || maxAttempts === undefined
    ? null
    : { attempt: Number(attempt), maxAttempts: Number(maxAttempts) }
}

/**
 * A turn's tokens. Codex tells the thread's total after every model request, and repeats it at times; so a turn's are the
 * difference between the total now and the total when it began.
 */
export interface UsageMeter {
  beginTurn(): void
  note(total: Tokens, last: Tokens, contextSize: number | null): Usage
  /** Of the turn that began last; null: nothing was said. */
  readonly turn: Usage | null
}

export function createUsageMeter(): UsageMeter {
  let known: Tokens | null = null
  let atStart: Tokens | null = null
  let turn: Usage | null = null
  return {
    beginTurn() {
      atStart = known
      turn = null
    },
    note(total, last, contextSize) {
      known = total
      // A conversation that was continued, whose total so far nobody told: it stood there before this request.
      atStart ??= minus(total, last)
      const spent = minus(total, atStart)
      turn = {
        inputTokens: spent.inputTokens - spent.cachedInputTokens,
        cachedInputTokens: spent.cachedInputTokens,
        cacheWriteTokens: spent.cacheWriteInputTokens,
        outputTokens: spent.outputTokens,
        reasoningTokens: spent.reasoningOutputTokens,
        contextUsed: last.totalTokens,
        contextSize,
        costUsd: null,
      }
      return turn
    },
    get turn() {
      return turn
    },
  }
}

function minus(a: Tokens, b: Tokens): Tokens {
  return {
    totalTokens: Math.max(0, a.totalTokens - b.totalTokens),
    inputTokens: Math.max(0, a.inputTokens - b.inputTokens),
    cachedInputTokens: Math.max(0, a.cachedInputTokens - b.cachedInputTokens),
    cacheWriteInputTokens: Math.max(0, a.cacheWriteInputTokens - b.cacheWriteInputTokens),
    outputTokens: Math.max(0, a.outputTokens - b.outputTokens),
    reasoningOutputTokens: Math.max(0, a.reasoningOutputTokens - b.reasoningOutputTokens),
  }
}
