import type { WorkerView } from '../../shared/bridge/index.ts'

const STATES: Readonly<Record<WorkerView['state'], string>> = {
  starting: 'Starting',
  live: 'Working',
  idle: 'Idle',
  releasing: 'Ending',
  held: 'Held',
}

export const health = {
  heading: 'Health',
  checks: 'This machine',
  checksText: 'What Wheelhouse needs from this machine. “npm run -s wheelhouse -- doctor” prints the same.',
  checking: 'Checking… an agent may take a while to answer.',
  checkAgain: 'Check again',
  status: { pass: 'Fine', warn: 'Note', fail: 'Failed' },
  workers: 'Workers',
  workersText: 'The processes of agents that Wheelhouse started.',
  noWorkers: 'No worker is running.',
  state: (state: WorkerView['state']) => STATES[state],
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
  agents: 'Agents',
  agentsText: 'Which agents can take a prompt on this machine, and what the others lack.',
  ready: 'Ready',
  notReady: 'Not ready',
  unchecked: 'Not checked yet',
  log: 'Log',
  logText: 'The newest lines of the host’s log. Secrets are left out of it.',
  logRefresh: 'Refresh',
  logEmpty: 'The log is empty.',
  loading: 'Loading…',
} as const
