/** What stands in the way of an agent's own config file leading to the gateway, said in the interface and in a terminal. */
import type { TakeoverDetail, TakeoverWarning } from '../bridge/index.ts'

const DETAILS: Readonly<Record<TakeoverDetail, string>> = {
  provider_line_user_changed:
    'Somebody chose another Provider in the file. That choice was left as it is; to lead the agent here again, repair it.',
  block_user_changed: 'Somebody edited the lines that Wheelhouse wrote. Repair writes them anew.',
  marker_unclosed: 'The closing line of what Wheelhouse wrote is missing.',
  markers_missing: 'The comments that mark what Wheelhouse wrote are gone; the rest is as it was.',
  projection_missing: 'What Wheelhouse wrote is no longer in the file.',
  address_changed: 'The file names another address or key than the gateway has now.',
  config_missing: 'The file was deleted.',
  config_malformed:
    'The file has a mistake in it, so that neither the agent nor Wheelhouse can read it. Correct it by hand.',
  config_unreadable: 'The file cannot be read.',
  state_missing: 'The file leads to the gateway, but Wheelhouse has no record of writing that.',
  state_unreadable: 'Another version of Wheelhouse wrote the record of this.',
  half_done: 'A change was cut off in the middle.',
  original_unrecoverable: 'The old values could not be put back: their copy is gone.',
  gateway_not_listening: 'The gateway does not listen, so the agent reaches nobody.',
  table_taken: 'The file has a Provider of your own with the name that Wheelhouse would use.',
}

const WARNINGS: Readonly<Record<TakeoverWarning, string>> = {
  config_world_readable:
    'Other users of this machine can read the file, and with it the key that opens the gateway. Take that from them (chmod 600).',
  profile_overrides_provider: 'A profile names a Provider of its own and goes past the gateway when it is used.',
  config_path_changed: 'The agent now looks for its file in another place.',
  other_auth_present: 'Another key of yours stands in the file. It is sent along, and removed by the gateway.',
  higher_scope_overrides:
    'Settings of higher rank name another address, which wins where they count: the machine owner’s, or those of a project that the agent was used in.',
  managed_settings_present: 'Settings of the machine’s owner are there and may win over this file.',
  system_proxy_may_capture_loopback: 'A proxy is set without an exception for 127.0.0.1: it may get these requests.',
  login_goes_to_the_port:
    'You are signed in to Codex. Its login comes along with each request and is removed here; while Wheelhouse is not running it goes to whoever holds the port.',
  threads_hide:
    'Sessions from before are not listed while this is on, and those made meanwhile cannot be resumed afterwards without Wheelhouse.',
  not_durable: 'It was written, but a power failure may still undo it.',
}

export const takeover = {
  detail: (detail: TakeoverDetail) => DETAILS[detail],
  warning: (warning: TakeoverWarning) => WARNINGS[warning],
} as const
