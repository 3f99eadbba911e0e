import { strings } from '../../strings/index.ts'

type Remedies = typeof strings.session.remedies
export type Remedy = Remedies[keyof Remedies]

const BY_CODE: Readonly<Record<string, keyof Remedies>> = {
  provider_auth_failed: 'keys',
  provider_forbidden: 'keys',
  login_required: 'agent',
  model_profile_credential_not_ready: 'keys',
  model_profile_not_found: 'keys',
  provider_quota_exhausted: 'quota',
  rate_limited: 'quota',
  usage_limit: 'quota',
  model_not_found: 'model',
  model_unsupported: 'model',
  reasoning_effort_unsupported: 'model',
  context_overflow: 'context',
  worker_not_found: 'agent',
  worker_not_executable: 'agent',
  worker_start_failed: 'agent',
  worker_start_timeout: 'agent',
  worker_unusable: 'agent',
  worker_still_alive: 'agent',
  handshake_failed: 'agent',
  handshake_timeout: 'agent',
  network_unavailable: 'network',
  provider_timeout: 'network',
  provider_unavailable: 'upstream',
  upstream_unreachable: 'network',
  upstream_timeout: 'network',
  upstream_circuit_open: 'network',
  tls_untrusted: 'network',
  owner_lost: 'owner',
  cancelled_by_user_after_owner_loss: 'owner',
  run_timed_out: 'goOn',
  run_incomplete: 'goOn',
  content_rejected: 'otherWords',
  provider_request_invalid: 'request',
  provider_request_failed: 'request',
  provider_interrupted: 'network',
  mcp_server_unavailable: 'servers',
  worker_exited: 'anew',
  worker_killed: 'anew',
  worker_protocol_error: 'anew',
  tool_failed: 'anew',
  run_failed: 'anew',
  decision_undeliverable: 'anew',
  policy_blocked: 'permissions',
  decision_timed_out: 'permissions',
  storage_full: 'room',
  event_backlog_full: 'room',
  database_busy: 'database',
  database_corrupt: 'records',
  lease_lost: 'elsewhere',
  run_queue_full: 'line',
}

/** What a person can do about a run's error; null where its message already says all. */
export function remedyOf(code: string): Remedy | null {
  const name = Object.hasOwn(BY_CODE, code) ? BY_CODE[code] : undefined
  return name === undefined ? null : strings.session.remedies[name]
}
