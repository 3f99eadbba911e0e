import type {
  GatewayClient,
  ProjectionKind,
  TakeoverDetail,
  TakeoverView,
  TakeoverWarning,
} from '../../shared/bridge/index.ts'

const STATES: Readonly<Record<TakeoverView['state'], string>> = {
  active: 'Active',
  inactive: 'Off',
  drifted: 'Drifted',
  broken: 'Broken',
}

const DETAILS: Readonly<Record<TakeoverDetail, string>> = {
  provider_line_user_changed: 'Somebody chose another Provider in the file. That choice was left as it is.',
  block_user_changed: 'Somebody edited the lines that Wheelhouse wrote.',
  marker_unclosed: 'The closing line of what Wheelhouse wrote is missing.',
  markers_missing: 'The comments that mark what Wheelhouse wrote are gone; the rest is as it was.',
  projection_missing: 'What Wheelhouse wrote is no longer in the file.',
  address_changed: 'The file names another address or key than the gateway has now.',
  config_missing: 'The file was deleted.',
  config_malformed: 'The file cannot be read as what it is. Correct it by hand, or restore the copy from before.',
  config_unreadable: 'The file cannot be read.',
  state_missing: 'The file leads to the gateway, but Wheelhouse has no record of writing that.',
  state_unreadable: 'Another version of Wheelhouse wrote the record of this.',
  half_done: 'A change was cut off in the middle.',
  original_unrecoverable: 'The old values could not be put back: their copy is gone.',
  gateway_not_listening: 'The gateway does not listen, so the agent reaches nobody.',
  table_taken: 'The file has a Provider of your own with the name that Wheelhouse would use.',
}

const WARNINGS: Readonly<Record<TakeoverWarning, string>> = {
  config_world_readable: 'Other users of this machine can read the file, and with it the key that opens the gateway.',
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

const CLIENTS: Readonly<Record<GatewayClient, string>> = { codex: 'Codex', claude: 'Claude Code' }

const KINDS: Readonly<Record<ProjectionKind, string>> = {
  base_url: 'One address: sessions stay where they are',
  provider_table: 'A Provider of its own: no login is ever sent',
  env: 'Two variables',
}

export const gateway = {
  heading: 'Gateway',
  intro:
    'One address on this machine for agents that you start yourself, in a terminal or an editor. Their requests go to the Provider you pick here, with its key added on the way.',
  listening: (address: string) => `Listening on ${address}`,
  notListening: 'Not listening: none of the agents below is led here.',
  failed: 'The gateway cannot listen on its port. End what uses it, or choose another port in Settings.',
  client: (client: GatewayClient) => CLIENTS[client],
  state: (state: TakeoverView['state']) => STATES[state],
  detail: (detail: TakeoverDetail) => DETAILS[detail],
  warning: (warning: TakeoverWarning) => WARNINGS[warning],
  kind: (kind: ProjectionKind) => KINDS[kind],
  toggle: (client: GatewayClient) => `Lead ${CLIENTS[client]} to the gateway`,
  upstream: (client: GatewayClient) => `Provider of ${CLIENTS[client]}`,
  noUpstream: 'None',
  noProvider: (client: GatewayClient) => `There is no Provider for ${CLIENTS[client]} yet. Add one first.`,
  repair: 'Repair',
  restore: 'Restore',
  named: (action: string, client: GatewayClient) => `${action}: ${CLIENTS[client]}`,
  enableTitle: (client: GatewayClient) => `Lead ${CLIENTS[client]} to the gateway?`,
  enableText: 'This is all that changes in the file. What may be a secret is not shown.',
  creates: 'The file is made.',
  how: 'How it is written',
  keepLogin: 'Stay signed in to Codex',
  keepLoginText:
    'Its own model list and plugins go on working. The login comes along with each request, and the gateway removes it.',
  line: (line: number) => `Line ${line}`,
  change: (path: string) => `Change of ${path}`,
  removed: 'Removed: ',
  added: 'Added: ',
  enable: 'Write it',
  reload: 'Look again',
  cancel: 'Cancel',
  loading: 'Reading the file…',
  repairTitle: (client: GatewayClient) => `Repair the file of ${CLIENTS[client]}?`,
  repairText:
    'What Wheelhouse writes is written again over the file as it is today; where this is off, what is left of it is removed. Everything else stays.',
  restoreTitle: (client: GatewayClient) => `Restore the file of ${CLIENTS[client]}?`,
  restoreText:
    'The exact file from before takes the place of today’s. Every edit made since is dropped from it; a copy of today’s file is kept with the data of Wheelhouse.',
  keyText: 'Only agents with the gateway’s key are served. It stands in the files below.',
  newKey: 'New key',
  newKeyTitle: 'Give the gateway a new key?',
  newKeyText:
    'The old key opens nothing from then on. The files that lead here get the new one; agents that run now have to be started again.',
  requests: 'Requests',
  requestsText:
    'The newest requests of all agents. What they said is never kept; the list is forgotten when Wheelhouse ends.',
  noRequests: 'No request was made yet.',
  requestsOff: 'Nothing is listed: the list of requests is switched off under Settings, Network.',
  columns: {
    time: 'Time',
    from: 'From',
    provider: 'Provider',
    model: 'Model',
    status: 'Status',
    firstByte: 'First byte',
    tokens: 'Tokens in / out',
  },
  byGateway: 'gateway',
  fallback: 'fallback',
  bySession: 'session',
  noStatus: 'none',
  unknown: '–',
} as const
