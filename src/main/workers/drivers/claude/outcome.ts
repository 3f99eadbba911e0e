/** How a turn went: its result as an end or an error, and what it cost. */
import type { ErrorCode } from '../../../../shared/errors.ts'
import type { Usage } from '../../../../shared/vocabulary.ts'
import { WorkerError } from '../../errors.ts'
import type { Redactor } from '../../types.ts'
import type { TurnEnd } from '../shared/types.ts'
import { Counts } from './wire.ts'
import type { Result } from './wire.ts'

const LOGIN_HINT = 'Run `claude` in a terminal and log in with /login, or choose a Provider.'

/** What a message that stands for a failed model request calls its reason. */
const NAMED: Readonly<Record<string, ErrorCode>> = {
  authentication_failed: 'login_required',
  oauth_org_not_allowed: 'login_required',
  rate_limit: 'usage_limit',
  billing_error: 'usage_limit',
}
const BY_STATUS: Readonly<Record<number, ErrorCode>> = { 401: 'login_required', 429: 'usage_limit' }

/** `named`: the reason that the turn's last made-up message gave. */
export function turnEnd(result: Result, named: string | null, usage: Usage | null, redactor: Redactor): TurnEnd {
  const stopped = (stop: Extract<TurnEnd, { kind: 'stopped' }>['stop']): TurnEnd => ({ kind: 'stopped', stop, usage })
  const { subtype, stop_reason: reason } = result
  if (result.terminal_reason?.startsWith('aborted_') === true) return stopped('cancelled')
  if (subtype === 'error_max_turns') return stopped('max_turn_requests')
  if (reason === 'refusal') return stopped('refusal')
  // `success` says that the program went well, not the turn.
  if (result.is_error || subtype !== 'success') return { kind: 'failed', error: turnError(result, named, redactor) }
  if (reason === 'max_tokens') return stopped('max_tokens')
  // A stream that was cut without its end is taken for a success by the program.
  const cut = reason === null || reason === undefined || reason === 'tool_use'
  if (result.num_turns >= 1 && cut) {
    return {
      kind: 'failed',
      error: new WorkerError('stop_unknown', 'The answer of the model ended before it was complete.'),
    }
  }
  return stopped('end_turn')
}

function turnError(result: Result, named: string | null, redactor: Redactor): WorkerError {
  const status = result.api_error_status ?? null
  const code = BY_STATUS[status ?? 0] ?? (named === null ? undefined : NAMED[named]) ?? 'turn_failed'
  const said = redactor.line(result.result ?? result.errors?.[0] ?? '')
  const data = status === null ? {} : { data: { httpStatus: status } }
  if (code === 'login_required' && status === null) {
    return new WorkerError(code, `Claude Code is not logged in. ${LOGIN_HINT}`, { detail: said })
  }
  const message = said === '' ? 'Claude Code could not finish this turn.' : `Claude Code could not go on: ${said}`
  return new WorkerError(code, message, data)
}

/**
 * A turn's tokens. Of its model requests the messages tell the context that is filled; the result tells the turn's sum,
 * and the window and the cost so far.
 */
export interface UsageMeter {
  beginTurn(): void
  /** What a model request of the main conversation used. Null: it cannot be read. */
  request(counts: unknown): Usage | null
  result(result: Result): Usage | null
}

export function createUsageMeter(model: () => string | null): UsageMeter {
  let contextUsed: number | null = null
  let contextSize: number | null = null
  let costUsd: number | null = null
  let spent: Usage | null = null
  return {
    beginTurn() {
      spent = null
    },
    request(counts) {
      const read = Counts.safeParse(counts)
      if (!read.success) return null
      const used = usageOf(read.data)
      const parts = [used.inputTokens, used.cachedInputTokens, used.cacheWriteTokens, used.outputTokens]
      contextUsed = parts.reduce<number>((sum, part) => sum + (part ?? 0), 0)
      spent = spent === null ? used : plus(spent, used)
      return { ...spent, contextUsed, contextSize, costUsd }
    },
    result(result) {
      const windows = result.modelUsage ?? {}
      const own = windows[model() ?? ''] ?? Object.values(windows)[0]
      contextSize = own?.contextWindow ?? contextSize
      costUsd = result.total_cost_usd ?? costUsd
      if (result.usage === null || result.usage === undefined) return null
      return { ...usageOf(result.usage), contextUsed, contextSize, costUsd }
    },
  }
}

function usageOf(counts: Counts): Usage {
  return {
    inputTokens: counts.input_tokens ?? null,
    cachedInputTokens: counts.cache_read_input_tokens ?? null,
    cacheWriteTokens: counts.cache_creation_input_tokens ?? null,
    outputTokens: counts.output_tokens ?? null,
    reasoningTokens: null,
    contextUsed: null,
    contextSize: null,
    costUsd: null,
  }
}

function plus(a: Usage, b: Usage): Usage {
  const sum = (x: number | null, y: number | null): number | null => (x === null ? y : x + (y ?? 0))
  return {
    ...a,
    inputTokens: sum(a.inputTokens, b.inputTokens),
    cachedInputTokens: sum(a.cachedInputTokens, b.cachedInputTokens),
    cacheWriteTokens: sum(a.cacheWriteTokens, b.cacheWriteTokens),
    outputTokens: sum(a.outputTokens, b.outputTokens),
  }
}
