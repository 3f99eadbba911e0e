import type { DeliveryView, TargetView } from '../../shared/bridge/index.ts'

const KINDS: Readonly<Record<TargetView['kind'], string>> = {
  webhook: 'Webhook',
  file_drop: 'Folder',
  os_notification: 'Notification',
}

const STATES: Readonly<Record<DeliveryView['status'], string>> = {
  pending: 'On its way',
  delivered: 'Delivered',
  failed: 'Not delivered',
  uncertain: 'Perhaps delivered',
  cancelled: 'Given up',
}

const REASONS: Readonly<Record<string, string>> = {
  delivery_retries_exhausted: 'It was tried often enough.',
  file_drop_unknown: 'The folder is not set up any more.',
  file_drop_folder_missing: 'The folder is missing.',
  file_drop_name_taken: 'A file of this name is there already.',
  notification_quiet: 'It was in the hours without notifications.',
  notification_unavailable: 'This machine shows no notifications.',
  webhook_unreachable: 'The address cannot be reached.',
  webhook_address_invalid: 'The address is not allowed.',
  webhook_cut: 'The connection broke off after it was sent.',
  webhook_unknown: 'The webhook is not set up any more.',
  worker_lost: 'Wheelhouse ended while it was being sent.',
  runtime_stopping: 'Wheelhouse was ending.',
  transport_unknown: 'There is no way to send to such a place.',
  artifact_expired: 'The file was kept no longer.',
  artifact_corrupt: 'The kept copy of the file was changed.',
  artifact_not_found: 'The file is gone.',
  credential_store_unavailable: 'The address cannot be read from the keychain now.',
  deadline_exceeded: 'It took longer than 20 seconds.',
  dependency_failed: 'What comes before it was not delivered.',
  dependency_uncertain: 'What comes before it was perhaps not delivered.',
  transport_failed: 'It could not be sent.',
}

const HTTP = /^webhook_http_(\d{3})$/

export const deliveries = {
  heading: 'Deliveries',
  about: 'Answers on their way to a webhook, a folder or a notification, and what became of them.',
  places: 'Where answers go',
  placesAbout:
    'Beside this window, the answer of a run can be sent to a webhook, written into a folder or shown as a notification.',
  openList: 'Deliveries',
  settings: 'Set up places',
  noPlaces: 'Answers stay in this window. Add a place to send them on.',
  none: 'Nothing was sent anywhere yet.',
  noneHint: 'Set up a place in Settings; from the next run on its answer goes there.',
  noneOfThese: 'No delivery fits.',
  status: 'State',
  statuses: { all: 'Any state', ...STATES },
  state: (status: DeliveryView['status']) => STATES[status],
  kind: (kind: TargetView['kind']) => KINDS[kind],
  kinds: KINDS,
  to: (name: string | null, transport: string) => name ?? `${transport}, no longer set up`,
  pieces: (count: number) => `${count} to be sent`,
  attempts: (count: number) => (count === 1 ? '1 try' : `${count} tries`),
  nextAt: (when: string) => `next try ${when}`,
  /** A reason in words; one that has none is its own code. */
  reason: (code: string): string => {
    const status = HTTP.exec(code)?.[1]
    if (status !== undefined) return `The receiver answered ${status}.`
    return Object.hasOwn(REASONS, code) ? (REASONS[code] ?? code) : code
  },
  retry: 'Send again',
  retryHint: 'It may arrive twice.',
  more: 'Show more',
  add: 'Add a place',
  addTitle: 'Where should answers go?',
  editTitle: (name: string) => `Edit ${name}`,
  edit: 'Edit',
  remove: 'Remove',
  removeTitle: (name: string) => `Remove ${name}?`,
  removeText: 'Nothing more is sent there. What is on its way is given up.',
  test: 'Send a test',
  testing: 'Sending…',
  tested: 'The test arrived.',
  notTested: 'The test did not arrive.',
  named: (action: string, name: string) => `${action}: ${name}`,
  save: 'Save',
  cancel: 'Cancel',
  fieldKind: 'Kind',
  name: 'Name',
  nameMissing: 'Give it a name.',
  url: 'Address',
  urlText: 'http or https. It is kept like a key: many such addresses are one.',
  urlKept: (host: string) => `Stored: ${host}. Leave empty to keep it.`,
  urlMissing: 'Give the address that takes the answers.',
  token: 'Token',
  tokenText: 'Sent as “Authorization: Bearer …”. Empty: none.',
  tokenKept: 'One is stored. Leave empty to keep it.',
  dropToken: 'Send no token any more',
  header: 'Idempotency header',
  headerText: 'Where the receiver looks for a key, so that a second arrival counts once. Empty: none.',
  folder: 'Folder',
  folderMissing: 'Give the whole path of a folder.',
  runs: 'Which answers',
  runsOf: {
    all: 'Of every run',
    scheduled: 'Of scheduled runs',
    named: 'Only where a schedule names it',
  },
  enabled: 'In use',
  off: 'Not in use',
  plaintext: 'Not encrypted on its way',
  withToken: 'with a token',
} as const
