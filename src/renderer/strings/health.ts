import type { OwnershipView, WorkerView } from '../../shared/bridge/index.ts'

const STATES: Readonly<Record<WorkerView['state'], string>> = {
  starting: 'Starting',
  live: 'Working',
  idle: 'Idle',
  releasing: 'Ending',
  held: 'Held',
}

type HeldReason = NonNullable<WorkerView['heldReason']>

const HELD_REASONS: Readonly<Record<HeldReason, string>> = {
  group_outlived_leader: 'Something that it started lives on, and did not end when it was told to.',
  identity_unknown: 'The system does not say for sure which process it is, so none was ended.',
  platform_unsupported: 'On this system Wheelhouse cannot tell whether it is gone.',
}

const OWNERS: Readonly<Record<OwnershipView['state'], string>> = {
  local: 'Runs here',
  external: 'Runs in another process',
  detached_remote: 'Goes on elsewhere',
  reserved: 'Being settled',
  orphaned: 'Its owner is gone',
  recovery_failed: 'Could not be settled yet',
  inconsistent: 'Its records do not agree',
  unknown: 'Cannot be read',
  idle: 'Idle',
}

const PURPOSES: Readonly<Record<NonNullable<OwnershipView['lease']>['purpose'], string>> = {
  admission: 'a start',
  execution: 'a run',
  recovery: 'a recovery',
  mutation: 'a change',
  fork: 'a fork',
}

export const health = {
  heading: 'Health',
  diagnostics: 'Export diagnostics',
  diagnosing: 'Collecting…',
  checks: 'This machine',
  checksText:
    'What Wheelhouse needs from this machine. “npm run -s wheelhouse -- doctor” prints it, and the agents below.',
  checking: 'Checking…',
  checkAgain: 'Check again',
  missing: 'Missing',
  status: { pass: 'Fine', warn: 'Note', fail: 'Failed' },
  workers: 'Workers',
  workersText: 'The processes of agents that Wheelhouse started.',
  noWorkers: 'No worker is running.',
  state: (state: WorkerView['state']) => STATES[state],
  heldReason: (reason: HeldReason) => HELD_REASONS[reason],
  pid: (pid: number) => `process ${pid}`,
  noPid: 'no process yet',
  since: (relative: string) => (relative === 'now' ? 'just started' : `for ${relative}`),
  noSession: 'No session',
  terminate: 'Terminate',
  settle: 'Settle',
  named: (action: string, name: string) => `${action}: ${name}`,
  terminateTitle: (name: string) => `Terminate ${name}?`,
  terminateText:
    'The process and everything it started are ended. A run that is under way ends as failed; what the agent already did to files stays.',
  stillHeld: 'It could not be proven that the process is gone: it is held.',
  settleTitle: (name: string) => `Settle ${name}?`,
  settleText:
    'Wheelhouse could not prove that this process is gone. Settling ends no process: it only takes your word that nothing of it works any more, and lets the session go on. If it still works, two agents may change the same files.',
  cancel: 'Cancel',
  ownership: 'Runs',
  ownershipText: 'Which process executes each run, and until when its lease keeps everyone else out.',
  nothingRuns: 'No run is under way.',
  owner: (state: OwnershipView['state']) => OWNERS[state],
  purpose: (purpose: NonNullable<OwnershipView['lease']>['purpose']) => PURPOSES[purpose],
  hostPid: (pid: number) => `host process ${pid}`,
  lease: (purpose: string, until: string) => `lease for ${purpose} until ${until}`,
  recoveryTry: (attempt: number) => `Recovery, try ${attempt}.`,
  nextTry: (when: string) => `Next try ${when}.`,
  recovered: 'Settled by the recovery',
  agents: 'Agents',
  agentsText: 'Which agents can take a prompt on this machine, and what the others lack.',
  log: 'Log',
  logText: 'The newest lines of the host’s log. Secrets are left out of it.',
  logRefresh: 'Refresh',
  logEmpty: 'The log is empty.',
  loading: 'Loading…',
} as const
