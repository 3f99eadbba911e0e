import type { GatewayClient, ProjectionKind, TakeoverView } from '../../shared/bridge/index.ts'
import { takeover } from '../../shared/strings/takeover.ts'

const STATES: Readonly<Record<TakeoverView['state'], string>> = {
  active: 'Active',
  inactive: 'Off',
  drifted: 'Drifted',
  broken: 'Broken',
}

const FAILURES: Readonly<Record<string, string>> = {
  route_listener_failed:
    'The gateway cannot listen on its port. End what uses it, or choose another port in Settings, then repair below.',
  file_failed: 'The gateway’s own settings cannot be read, so it does not listen. The log names the file.',
}

const CLIENTS: Readonly<Record<GatewayClient, string>> = { codex: 'Codex', claude: 'Claude Code' }

const KINDS: Readonly<Record<ProjectionKind, string>> = {
  base_url: 'One address: sessions stay where they are',
  provider_table: 'A Provider of its own: no login is ever sent',
  env: 'Two variables',
}

/** What became of an answer that began well, and was not completed. */
const ENDS: Readonly<Record<string, string>> = {
  failed: 'failed midway',
  client_aborted: 'agent hung up',
  upstream_disconnected: 'cut off',
  unknown: 'no clear end',
}

/** What a request is that asks for no answer in words. */
const ENDPOINTS: Readonly<Record<string, string>> = {
  count_tokens: 'counts tokens',
  responses_compact: 'compacts the history',
  other: 'asks no model',
}

export const gateway = {
  heading: 'Gateway',
  intro:
    'One address on this machine for agents that you start yourself, in a terminal or an editor. Their requests go to the Provider you pick here, with its key added on the way.',
  listening: (address: string) => `Listening on ${address}`,
  notListening: 'Not listening: none of the agents below is led here.',
  failed: (code: string) => FAILURES[code] ?? 'The gateway does not listen.',
  client: (client: GatewayClient) => CLIENTS[client],
  state: (state: TakeoverView['state']) => STATES[state],
  detail: takeover.detail,
  warning: takeover.warning,
  kind: (kind: ProjectionKind) => KINDS[kind],
  toggle: (client: GatewayClient) => `Lead ${CLIENTS[client]} to the gateway`,
  upstream: (client: GatewayClient) => `Provider of ${CLIENTS[client]}`,
  goesTo: 'Requests go to',
  noUpstream: 'None',
  noProvider: (client: GatewayClient) => `There is no Provider for ${CLIENTS[client]} yet.`,
  addProvider: 'Add Provider',
  wouldGoTo: (client: GatewayClient, name: string) =>
    `No Provider is picked here yet: requests of ${CLIENTS[client]} will go to ${name}, its default.`,
  wouldRefuse: (client: GatewayClient) =>
    `There is no Provider for ${CLIENTS[client]} yet. Once this is written, every request of it is refused until there is one and you pick it.`,
  wouldRefuseUnpicked: (client: GatewayClient) =>
    `No Provider is picked for ${CLIENTS[client]}. Once this is written, every request of it is refused until you pick one.`,
  led: (name: string | null) =>
    name === null ? 'led to the gateway, which has no Provider' : `led to the gateway: ${name} answers`,
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
    'The gateway listens again if it does not, and what Wheelhouse writes is written again over the file as it is today. Everything else in it stays.',
  repairRemoves:
    'What is left of the lines that Wheelhouse wrote is removed from the file. Everything else in it stays.',
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
  noRequests:
    'No request was made yet. They appear here as they come: of sessions on a Provider, and of agents that are led here.',
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
  overTime: 'Requests, tokens and times over days are drawn under Usage.',
  openUsage: 'Open Usage',
  end: (end: string) => ENDS[end] ?? end,
  endpoint: (endpoint: string) => ENDPOINTS[endpoint] ?? null,
  noStatus: 'none',
  unknown: '–',
} as const
