import type { ProjectEffect, ProjectFinding } from '../../shared/bridge/index.ts'

const KINDS: Readonly<Record<ProjectFinding['kind'], string>> = {
  settings: 'settings',
  mcp: 'MCP servers',
  instructions: 'instructions for the agent',
  extras: 'commands, agents, skills',
}
const EFFECTS: Readonly<Record<ProjectEffect['what'], string>> = {
  hooks: 'Hooks that run',
  mcp: 'MCP servers that start',
  programs: 'Programs that run',
  env: 'Variables that are set',
  permissions: 'Permissions',
  other: 'Also',
}
const UNREAD: Readonly<Record<NonNullable<ProjectFinding['unread']>, string>> = {
  leads_outside: 'a link that leads out of the project',
  too_large: 'too large to look into',
  malformed: 'cannot be read as what it should be',
  unreadable: 'cannot be read',
}

export const trust = {
  title: 'Do you trust this project?',
  text: (agent: string) =>
    `It brings something of its own for ${agent}, which may run programs on this machine. Until you trust it, ${agent} works here without.`,
  covers: 'The answer holds for everything in',
  trust: 'Trust',
  leaveOut: 'Leave it out',
  what: 'What it brings',
  whatCount: (count: number) => (count === 1 ? 'What it brings: 1 file' : `What it brings: ${count} files`),
  kind: (kind: ProjectFinding['kind']) => KINDS[kind],
  effect: (what: ProjectEffect['what']) => EFFECTS[what],
  unread: (why: NonNullable<ProjectFinding['unread']>) => UNREAD[why],
  andMore: (count: number) => `and ${count} more`,
  more: 'There is more than is listed here.',
  trusted: 'Project trusted',
  trustedHint: 'The agent reads what the project brings with it: settings, hooks, servers, instructions.',
  leftOut: 'Project settings left out',
  leftOutHint: 'The project is not trusted: its own settings, hooks, servers and instructions are not read.',
  heading: 'Trusted folders',
  headingText:
    'Whose own settings, hooks, MCP servers and instructions agents may read. A repository inside of one is asked for by itself.',
  none: 'Nothing yet. You are asked when a session works in a folder that brings something of its own.',
  isTrusted: 'Trusted',
  isNotTrusted: 'Left out',
  withdraw: 'Withdraw',
  named: (action: string, folder: string) => `${action}: ${folder}`,
  withdrawTitle: 'Withdraw this answer?',
  withdrawText:
    'From the next run on, agents leave out what the folder brings with it, and you are asked again. What was done so far stays done.',
  cancel: 'Cancel',
} as const
