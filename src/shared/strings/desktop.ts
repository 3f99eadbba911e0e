/** What the desktop says outside of its windows: menu, tray, notifications and the dialogs of a bad start. */
import type { GatewayClient, TakeoverView } from '../bridge/index.ts'
import type { ErrorCode } from '../errors.ts'
import type { Actor, TerminalState } from '../vocabulary.ts'

const PRODUCT = 'Wheelhouse'

const WHERE: Readonly<Record<Actor['via'], string>> = {
  window: 'in a window',
  browser: 'in a browser',
  notification: 'by a notification',
  tray: 'in the tray',
  cli: 'in a terminal',
  acp: 'in another app',
  policy: 'by a rule',
  recovery: 'after a restart',
  agent: 'by the agent',
}

/** A cancelled run was ended by the person: nothing is said of it. */
const ENDS: Readonly<Partial<Record<TerminalState, string>>> = {
  completed: 'Finished',
  incomplete: 'Ended before it was done',
  failed: 'Failed',
  timed_out: 'Ran out of time',
}

const START_FAILURES: Readonly<Partial<Record<ErrorCode, string>>> = {
  schema_too_new: 'This data was last used by a newer Wheelhouse',
  database_corrupt: 'The database is damaged',
  data_dir_unwritable: 'The data folder cannot be used',
}

const CLIENTS: Readonly<Record<GatewayClient, string>> = { codex: 'Codex', claude: 'Claude Code' }
const TAKEOVERS: Readonly<Record<TakeoverView['state'], string>> = {
  active: '',
  inactive: '',
  drifted: ' (drifted)',
  broken: ' (broken)',
}

const TAKEOVER_NEWS: Readonly<Partial<Record<TakeoverView['state'], string>>> = {
  drifted: 'Its config file was changed and may no longer lead to the gateway',
  broken: 'It is led to a gateway that it cannot reach',
}

export const desktop = {
  product: PRODUCT,
  menu: { file: '&File', newWindow: 'New Window', view: '&View' },
  tray: {
    open: `Open ${PRODUCT}`,
    quit: 'Quit',
    running: 'Running',
    takeover: (client: GatewayClient, state: TakeoverView['state']) =>
      `Lead ${CLIENTS[client]} to the gateway${TAKEOVERS[state]}`,
    more: (count: number) => `${count} more`,
    tooltip: {
      waiting: (count: number) => `${PRODUCT}: ${count} waiting for you`,
      running: (count: number) => `${PRODUCT}: ${count} running`,
      idle: `${PRODUCT}: idle`,
    },
  },
  notifications: {
    allowOnce: 'Allow once',
    deny: 'Deny',
    asks: (title: string, question: boolean) => `${title} ${question ? 'asks you' : 'wants to go on'}`,
    edit: (path: string, more: number) => `Edit ${path}${more > 0 ? ` and ${more} more` : ''}`,
    use: (tool: string, server: string) => `Use ${tool} of ${server}`,
    noLonger: 'It is no longer waiting for an answer.',
    before: (answer: 'allowed' | 'denied' | 'answered', via: Actor['via']) =>
      `${{ allowed: 'Allowed', denied: 'Denied', answered: 'Answered' }[answer]} before, ${WHERE[via]}.`,
    notAnswered: `The answer could not be given. Open ${PRODUCT} to try again.`,
    ended: (state: TerminalState): string | null => ENDS[state] ?? null,
    takeoverOf: (client: GatewayClient) => CLIENTS[client],
    takeover: (state: TakeoverView['state']): string | null => TAKEOVER_NEWS[state] ?? null,
    held: 'Its agent could not be ended',
    moreWaiting: (count: number) => `${count} more ${count === 1 ? 'waits' : 'wait'} for you`,
    moreNews: (count: number) => `${count} more ${count === 1 ? 'run has' : 'runs have'} news`,
  },
  startFailure: {
    title: (code: ErrorCode | null): string =>
      (code === null ? undefined : START_FAILURES[code]) ?? `${PRODUCT} cannot start`,
    unknown: `Something went wrong inside ${PRODUCT}. The log in the data folder has the details.`,
    code: (code: string, detail: string | undefined) => `Code: ${code}${detail === undefined ? '' : ` (${detail})`}`,
    untouched: (dataDir: string) => `Data folder: ${dataDir}. Nothing in it was changed.`,
    openFolder: 'Open data folder',
    quit: 'Quit',
  },
  crash: {
    message: `${PRODUCT} ran into a bug and has to close`,
    detail: 'The log in the data folder has the details. What was under way is taken up at the next start.',
    close: 'Close',
  },
} as const
