import type { AgentId } from '../../shared/vocabulary.ts'

const NAMES: Readonly<Record<'builtin' | 'codex' | 'claude', string>> = {
  builtin: 'Built-in agent',
  codex: 'Codex',
  claude: 'Claude Code',
}

export const agents = {
  ready: 'Ready',
  notReady: 'Not ready',
  notInstalled: 'Not installed',
  unchecked: 'Not checked yet',
  checking: 'Checking…',
  /** What a person can have looked at once more. */
  checkOf: (unchecked: boolean): string => (unchecked ? 'Check' : 'Check again'),
  /** A command that a person added goes by its own name. */
  name: (id: AgentId): string => (id === 'builtin' || id === 'codex' || id === 'claude' ? NAMES[id] : id.slice(4)),
} as const
