/**
 * The one registry of error codes. Interface, tests and clients match on codes only; messages are for people: what
 * happened, and what to do. A code's `retryable` says whether the same call may succeed later without a change.
 */

const RETRYABLE = [
  // runtime
  'runtime_stopping',
  'database_busy',
  'storage_full',
  'terminal_persistence_pending',
  'session_busy',
  'session_run_active',
  'run_queue_full',
  'steer_unavailable',
  'aside_busy',
  'detached_remote_execution',
  'worker_still_alive',
  'config_conflict',
  'input_read_timeout',
  'delivery_busy',
  'fork_source_active',
  'draft_conflict',
  // workers
  'worker_not_started',
  'workers_full',
  'handshake_timeout',
  // providers
  'model_profiles_unavailable',
  'route_overloaded',
  'upstream_unreachable',
  'upstream_timeout',
  'upstream_circuit_open',
  'upstream_disconnected',
  'launch_cleanup_incomplete',
  'credential_store_unavailable',
  // bridge and desktop
  'deadline_exceeded',
  'host_unreachable',
  'too_many_calls',
  'host_stopping',
] as const

const PERMANENT = [
  // runtime
  'database_corrupt',
  'schema_too_new',
  'persistence_failed',
  'resources_invalid',
  'session_not_found',
  'session_exists',
  'binding_taken',
  'root_invalid',
  'run_not_found',
  'run_transition_invalid',
  'run_terminal_conflict',
  'run_ending',
  'lease_lost',
  'lease_run_mismatch',
  'lease_purpose_invalid',
  'recovery_not_needed',
  'idempotency_conflict',
  'idempotency_run_missing',
  'retry_not_latest',
  'retry_limit',
  'retry_needs_decision',
  'event_cursor_ahead',
  'event_cursor_expired',
  'event_backlog_full',
  'decision_not_found',
  'decision_value_invalid',
  'decision_identity_conflict',
  'source_conflict',
  'source_invalid',
  'source_unknown',
  'mode_invalid',
  'mode_forced',
  'mode_not_allowed',
  'policy_high_risk_blocked',
  'policy_protected_path',
  'config_value_invalid',
  'config_option_unavailable',
  'provider_unavailable_config',
  'input_too_large',
  'input_type_mismatch',
  'input_path_escape',
  'input_root_unwritable',
  'input_unavailable',
  'input_attached',
  'input_attached_elsewhere',
  'artifact_not_found',
  'artifact_expired',
  'artifact_corrupt',
  'artifact_unresolvable',
  'delivery_lease_lost',
  'delivery_plan_conflict',
  'delivery_target_not_found',
  'schedule_not_found',
  'schedule_invalid',
  'fork_no_completed_turn',
  'fork_boundary_invalid',
  'fork_boundary_unavailable',
  'fork_request_conflict',
  'work_dir_missing',
  'remote_stop_unsupported',
  'remote_stop_failed',
  'session_run_target_changed',
  'session_execution_state_unavailable',
  'prompt_invalid',
  // a run's end (ErrorInfo)
  'run_cancelled',
  'run_timed_out',
  'run_incomplete',
  'content_rejected',
  'provider_request_invalid',
  'context_overflow',
  'provider_auth_failed',
  'provider_quota_exhausted',
  'provider_forbidden',
  'model_not_found',
  'provider_timeout',
  'rate_limited',
  'provider_unavailable',
  'provider_request_failed',
  'network_unavailable',
  'provider_interrupted',
  'tls_untrusted',
  'worker_not_found',
  'worker_not_executable',
  'worker_start_failed',
  'worker_start_timeout',
  'mcp_server_unavailable',
  'worker_exited',
  'worker_killed',
  'worker_protocol_error',
  'tool_failed',
  'policy_blocked',
  'decision_timed_out',
  'decision_undeliverable',
  'owner_lost',
  'cancelled_by_user_after_owner_loss',
  'run_failed',
  // workers
  'worker_unusable',
  'platform_unsupported',
  'launch_scope_unsupported',
  'private_dir_unsafe',
  'private_dir_failed',
  'socket_path_too_long',
  'aborted',
  'handshake_failed',
  'agent_exited_early',
  'protocol_unsupported',
  'agent_mismatch',
  'login_required',
  'load_unsupported',
  'agent_session_not_found',
  'session_in_use',
  'mode_unmapped',
  'unsafe_mode',
  'session_unverified',
  'mcp_mismatch',
  'worker_failed',
  'worker_lost',
  'line_too_long',
  'request_flood',
  'turn_in_flight',
  'prompt_too_large',
  'updates_taken',
  'turn_failed',
  'usage_limit',
  'turn_interrupted',
  'stop_unknown',
  'session_ended',
  'stdin_stuck',
  'cancel_stuck',
  'group_outlived_leader',
  'identity_unknown',
  'worker_not_held',
  'worker_unknown',
  // providers
  'model_profile_not_found',
  'model_profile_conflict',
  'model_profile_invalid',
  'model_profile_unsupported',
  'model_profile_in_use',
  'model_profile_credential_not_ready',
  'model_profile_contract_unverified',
  'model_profile_bypass',
  'credential_store_failed',
  'upstream_model_required',
  'model_unsupported',
  'reasoning_effort_unsupported',
  'route_binding_not_found',
  'route_binding_conflict',
  'route_binding_busy',
  'route_binding_not_routed',
  'route_binding_incompatible',
  'route_listener_failed',
  'route_snapshot_invalid',
  'provider_discovery_cache_invalid',
  'route_not_found',
  'route_path_mismatch',
  'route_endpoint_unsupported',
  'route_protocol_mismatch',
  'route_method_not_allowed',
  'route_admission_denied',
  'route_websocket_rejected',
  'route_limit_reached',
  'request_body_too_large',
  'request_body_malformed',
  'request_encoding_unsupported',
  'responses_feature_unsupported',
  'upstream_invalid',
  'upstream_address_blocked',
  'upstream_redirect_rejected',
  'gateway_upstream_missing',
  'gateway_auth_required',
  'takeover_config_malformed',
  'takeover_config_unsupported',
  'takeover_config_unwritable',
  'takeover_conflict',
  'takeover_projection_failed',
  'takeover_backup_missing',
  'session_still_live',
  'session_liveness_unknown',
  'internal_not_wire',
  // platform, bridge, desktop
  'data_dir_unwritable',
  'data_dir_in_use',
  'file_unsafe',
  'file_failed',
  'settings_invalid',
  'port_taken',
  'procedure_unknown',
  'topic_unknown',
  'frame_malformed',
  'frame_too_large',
  'input_invalid',
  'output_invalid',
  'unauthenticated',
  'origin_refused',
  'host_refused',
  'exchange_locked',
  'sender_refused',
  'agent_unknown',
  'agent_unavailable',
  'folder_unreadable',
  'usage_invalid',
  'cancelled',
  'internal',
] as const

export type ErrorCode = (typeof RETRYABLE)[number] | (typeof PERMANENT)[number]

export const ERROR_CODES: readonly ErrorCode[] = [...RETRYABLE, ...PERMANENT]
const known: ReadonlySet<string> = new Set(ERROR_CODES)
const retryable: ReadonlySet<string> = new Set(RETRYABLE)

export function isErrorCode(text: string): text is ErrorCode {
  return known.has(text)
}

/** What crosses a boundary instead of a thrown error: the transports turn an `AppError` into this and back. */
export interface WireError {
  code: ErrorCode
  message: string
  detail?: string | undefined
  data?: unknown
  retryable: boolean
}

export interface AppErrorOptions {
  /** Small print for people who look closer: an id, a path, the agent's last line. Never a secret. */
  detail?: string
  /** Typed per code, for a caller that acts on it (`{ runId }` of an `idempotency_conflict`). */
  data?: unknown
  /** Overrides what the registry says of the code. */
  retryable?: boolean
  cause?: unknown
}

/** The one error of the product. Expected life, not a bug: an exception of any other class is a bug of ours. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly detail: string | undefined
  readonly data: unknown
  readonly retryable: boolean

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.detail = options.detail
    this.data = options.data
    this.retryable = options.retryable ?? retryable.has(code)
  }
}

/** The wire form of anything thrown. What is no `AppError` becomes `internal`: its text stays in the log. */
export function toWireError(thrown: unknown): WireError {
  if (!(thrown instanceof AppError)) {
    return {
      code: 'internal',
      message: 'Something went wrong inside Wheelhouse. The log has the details.',
      retryable: false,
    }
  }
  const { code, message, detail, data } = thrown
  return {
    code,
    message,
    ...(detail === undefined ? {} : { detail }),
    ...(data === undefined ? {} : { data }),
    retryable: thrown.retryable,
  }
}

export function fromWireError(wire: WireError): AppError {
  return new AppError(wire.code, wire.message, {
    ...(wire.detail === undefined ? {} : { detail: wire.detail }),
    ...(wire.data === undefined ? {} : { data: wire.data }),
    retryable: wire.retryable,
  })
}

/** Ends a `switch` over a union: the compiler finds the case that was forgotten. */
export function assertNever(value: never): never {
  throw new AppError('internal', 'A case was forgotten.', { detail: JSON.stringify(value) })
}
