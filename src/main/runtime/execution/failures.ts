import type { ErrorCode } from '../../../shared/errors.ts'
import type { ErrorInfo, RunPhase } from '../../../shared/events.ts'

export interface Failure {
  failureClass: ErrorInfo['failureClass']
  /** How it may be tried again when the run has left no traces. */
  mode: ErrorInfo['retryMode']
  phase: RunPhase | null
  message: string
}

const row = (
  failureClass: Failure['failureClass'],
  mode: Failure['mode'],
  message: string,
  phase: RunPhase | null = null,
): Failure => ({ failureClass, mode, message, phase })

/** Every way in which a run ends other than completed, by its code. */
export const FAILURES: Partial<Record<ErrorCode, Failure>> = {
  run_cancelled: row('cancelled', 'user', 'The run was stopped.'),
  run_timed_out: row('cancelled', 'user', 'The run took longer than it may.'),
  run_incomplete: row('incomplete', 'user', 'The agent reached a limit before it was done.', 'model'),
  content_rejected: row('policy', 'user', 'The model refused to answer this.', 'model'),
  provider_request_invalid: row('provider', 'none', 'The Provider refused the request as malformed.', 'model'),
  context_overflow: row('provider', 'user', 'The conversation is too long for this model.', 'context'),
  provider_auth_failed: row('provider', 'user', 'The Provider did not accept the login or key.', 'model'),
  provider_quota_exhausted: row('provider', 'user', 'The quota of this Provider account is used up.', 'model'),
  provider_forbidden: row('provider', 'user', 'This Provider account may not use that.', 'model'),
  model_not_found: row('validation', 'user', 'The Provider does not offer this model.', 'model'),
  provider_timeout: row('transient', 'automatic', 'The Provider did not answer in time.', 'model'),
  rate_limited: row('transient', 'automatic', 'The Provider is limiting how much may be asked.', 'model'),
  provider_unavailable: row('transient', 'automatic', 'The Provider has a problem at the moment.', 'model'),
  provider_request_failed: row('provider', 'none', 'The Provider refused the request.', 'model'),
  network_unavailable: row('transport', 'automatic', 'The Provider cannot be reached.', 'transport'),
  provider_interrupted: row('transport', 'automatic', 'The answer broke off.', 'transport'),
  tls_untrusted: row('transport', 'user', "The Provider's certificate is not trusted.", 'transport'),
  worker_not_found: row('validation', 'user', 'The agent is not installed where it was looked for.', 'admission'),
  worker_not_executable: row('validation', 'user', 'The agent cannot be started: it is not a program.', 'admission'),
  worker_start_failed: row('transient', 'automatic', 'The agent ended before it was ready.', 'admission'),
  worker_start_timeout: row('transient', 'automatic', 'The agent did not get ready in time.', 'admission'),
  mcp_server_unavailable: row('tool', 'user', 'A required MCP server did not come up.', 'admission'),
  worker_exited: row('transport', 'automatic', 'The agent ended in the middle of the run.', 'transport'),
  worker_killed: row('transport', 'user', 'Something outside Wheelhouse ended the agent.', 'transport'),
  worker_protocol_error: row('internal', 'user', 'The agent said something that cannot be read.', 'transport'),
  tool_failed: row('tool', 'user', 'A tool failed and ended the run.', 'tool'),
  policy_blocked: row('policy', 'none', 'The policy ended the run.', 'approval'),
  decision_timed_out: row('policy', 'user', 'Nobody answered in time.', 'approval'),
  decision_undeliverable: row('policy', 'user', 'The answer could not be handed to the agent.', 'approval'),
  storage_full: row('persistence', 'user', 'The disk is full.', 'persistence'),
  database_busy: row('persistence', 'automatic', 'The database was kept busy by another process.', 'persistence'),
  database_corrupt: row('persistence', 'none', 'A record in the database cannot be read.', 'persistence'),
  lease_lost: row('persistence', 'reconcile', 'Another process has taken the session over.', 'persistence'),
  owner_lost: row('internal', 'user', 'Wheelhouse ended while this run was under way.', 'terminalization'),
  cancelled_by_user_after_owner_loss: row(
    'cancelled',
    'user',
    'The run was stopped after Wheelhouse had ended under it.',
    'terminalization',
  ),
  run_queue_full: row('transient', 'user', 'Too many runs are waiting already.', 'admission'),
  event_backlog_full: row('persistence', 'user', 'The run said more than could be saved.', 'persistence'),
  run_failed: row('internal', 'user', 'The run failed.'),
}

/** A code that is registered elsewhere and ended a run all the same. */
export const OTHER_FAILURE: Failure = row('internal', 'user', '')
